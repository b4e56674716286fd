"""Interval sets: Batsim's text for sets of hosts, ``0-1 3`` for 0, 1 and 3."""

import re
from collections.abc import Iterable

MAX_HOST_NUMBER = 1_000_000
"""The largest host number. A larger one is taken for a mistake: a set is held host by host."""

_INTERVAL = re.compile(r"([0-9]{1,18})(?:-([0-9]{1,18}))?")


def parse_intervals(text: str) -> tuple[int, ...]:
    """Return the numbers of an interval set, ascending, each once.

    Order and overlaps are free in ``text``, as for Batsim. The empty set is the empty text. Raises ValueError.
    """
    if _is_host(text):  # as most sets are
        return (int(text),)
    numbers: set[int] = set()
    for part in text.split():
        if _is_host(part):
            numbers.add(int(part))
            continue
        match = _INTERVAL.fullmatch(part)
        if match is None:
            raise ValueError(f"{part!r} is not an interval: expected numbers and ranges such as '0-1 3'")
        first = int(match[1])
        last = int(match[2] or first)
        if last < first:
            raise ValueError(f"{part!r} is not an interval: it ends before it begins")
        if last > MAX_HOST_NUMBER:
            raise ValueError(f"{part!r} goes beyond host number {MAX_HOST_NUMBER}")
        numbers.update(range(first, last + 1))
    return tuple(sorted(numbers))


def _is_host(part: str) -> bool:
    """Tell whether the part is a single host, and surely not beyond the last number."""
    return part.isdecimal() and part.isascii() and len(part) < 7


def format_intervals(numbers: Iterable[int]) -> str:
    """Return the canonical interval set, as Batsim echoes it: ascending, joined where adjacent."""
    numbers = sorted(numbers)
    if len(numbers) == 1:
        return str(numbers[0])
    parts: list[str] = []
    first = last = -2
    for number in numbers:
        if number <= last + 1:
            last = max(last, number)
            continue
        if first >= 0:
            parts.append(_interval(first, last))
        first = last = number
    if first >= 0:
        parts.append(_interval(first, last))
    return " ".join(parts)


def _interval(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"
