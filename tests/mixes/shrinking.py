"""Make a mix smaller, as long as it shows the same fault."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from tests.mixes.mix import Mix

Part = TypeVar("Part")
Outage = tuple[dict[str, Any], dict[str, Any]]
"""A host goes, and comes back."""


def shrunk(mix: Mix, shows: Callable[[Mix], bool], tries: int = 150) -> Mix:
    """The smallest mix found for which ``shows`` holds, with at most about ``tries`` plays."""
    left = tries

    def holds(smaller: Mix) -> bool:
        nonlocal left
        left -= 1
        return left > 0 and shows(smaller)

    for plainer in (
        replace(mix, startup=None),
        replace(mix, decision_time=0.0),
        replace(mix, timers="window"),
        replace(mix, sharing=False),
        replace(mix, energy=False),
        replace(mix, outages=None),
        replace(mix, startup=None, decision_time=0.0, timers="window", sharing=False, energy=False),
    ):
        if holds(plainer):
            mix = plainer
    while mix.life and left > 0:
        smaller = next((each for life in mix.life.parts() if holds(each := replace(mix, life=life))), None)
        if smaller is None:
            break
        mix = smaller
    jobs = _fewest(list(mix.jobs), lambda ids: holds(mix.only(set(ids))))
    mix = mix.only(set(jobs))
    if mix.outages:
        mix = _with(mix, _fewest(_pairs(mix), lambda kept: holds(_with(mix, kept))))
    return mix


def _pairs(mix: Mix) -> list[Outage]:
    """Each outage with the return from it, for one without the other would be another mix."""
    ordered = sorted(mix.outages or (), key=lambda event: event["timestamp"])
    pairs = []
    for index, event in enumerate(ordered):
        if event["type"] == "machine_unavailable":
            back = next(later for later in ordered[index + 1 :] if later["resources"] == event["resources"])
            pairs.append((event, back))
    return pairs


def _with(mix: Mix, pairs: Sequence[Outage]) -> Mix:
    return replace(mix, outages=tuple(event for pair in pairs for event in pair))


def _fewest(parts: list[Part], holds: Callable[[list[Part]], bool]) -> list[Part]:
    """A smaller list for which ``holds``: halves are left out, then quarters, down to single parts."""
    size = max(1, len(parts) // 2)
    while True:
        start = 0
        while start < len(parts):
            rest = parts[:start] + parts[start + size :]
            if rest and holds(rest):
                parts = rest
            else:
                start += size
        if size == 1:
            return parts
        size //= 2
