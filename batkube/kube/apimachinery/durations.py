"""Durations as Go reads and writes them (`time.ParseDuration`, `Duration.String`): `1h30m`, `1.5s`, `-2ms`."""

from __future__ import annotations

import re
from fractions import Fraction

from .status import quote

_UNITS = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
_MAX, _DIGITS = 2**63, 20
_NUMBER = re.compile(r"\d+\.?\d*|\.\d+", re.ASCII)
_UNIT = re.compile(r"[^.0-9]*")


class DurationError(ValueError):
    """A text that is not a duration. The message says why in Go's words."""


def nanoseconds(text: str) -> int:
    """Return the length of a duration. Raise DurationError if the text is not a duration."""
    rest = text[1:] if text[:1] in ("+", "-") else text
    if rest == "0":
        return 0
    total = Fraction(0)
    while True:
        number = _NUMBER.match(rest)
        if number is None:
            raise DurationError(f"invalid duration {quote(text)}")
        unit = _UNIT.match(rest, number.end())
        assert unit is not None  # the empty text fits as well
        if not unit[0]:
            raise DurationError(f"missing unit in duration {quote(text)}")
        if unit[0] not in _UNITS:
            raise DurationError(f"unknown unit {quote(unit[0])} in duration {quote(text)}")
        whole, _, part = number[0].partition(".")
        whole = whole.lstrip("0")
        if len(whole) <= _DIGITS:  # more would only take time to read
            total += Fraction(f"{whole or 0}.{part[:_DIGITS] or 0}") * _UNITS[unit[0]]
        if len(whole) > _DIGITS or total > _MAX:
            raise DurationError(f"invalid duration {quote(text)}")
        rest = rest[unit.end() :]
        if not rest:
            break
    return -int(total) if text.startswith("-") else int(total)


def go_duration(nanos: int) -> str:
    """Return nanoseconds as Go prints a duration: `1m30s`, `1.5s`, `2ms`."""
    if nanos == 0:
        return "0s"
    sign, nanos = ("-", -nanos) if nanos < 0 else ("", nanos)
    for unit, name in ((1, "ns"), (1_000, "µs"), (1_000_000, "ms")):
        if nanos < unit * 1000:
            return f"{sign}{_decimal(nanos, unit)}{name}"
    seconds, rest = divmod(nanos, 1_000_000_000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    result = f"{_decimal(seconds * 1_000_000_000 + rest, 1_000_000_000)}s"
    if hours or minutes:
        result = f"{minutes}m{result}"
    return f"{sign}{hours}h{result}" if hours else sign + result


def _decimal(value: int, unit: int) -> str:
    whole, rest = divmod(value, unit)
    return f"{whole}.{str(rest).zfill(len(str(unit)) - 1)}".rstrip("0").rstrip(".") if rest else str(whole)
