"""The differences between two plays of one mix."""

import json
from dataclasses import asdict
from itertools import zip_longest
from pathlib import Path
from typing import Any

from tests.mixes.dialogue import same
from tests.mixes.outcome import End, Outcome

JSON = dict[str, Any]

MICROSECOND = 1.5e-6
"""Seconds: one, and what the files lose by their six decimals."""
LATE = 0.2
"""Seconds that messages may be later than what they tell of."""
_TEXTS = {"constraints"}
"""Columns with numbers in a text, which others have as well."""


def differences(one: dict[str, list[End]], other: dict[str, list[End]], *, within: float = MICROSECOND) -> list[str]:
    """Jobs that are missing, and those with another state, other hosts, or dates more than ``within`` apart."""
    found = []
    for full in sorted(one.keys() | other.keys()):
        ends, others = one.get(full, []), other.get(full, [])
        if len(ends) != len(others):
            found.append(f"{full}: {len(ends)} times, {len(others)} times")
            continue
        for end, theirs in zip(ends, others, strict=True):
            found += [f"{full}: {what}" for what in _apart(end, theirs, within)]
    return found


def own_files(outcome: Outcome, within: float = MICROSECOND) -> list[str]:
    """Tell where the simulator's own results say something else than ours.

    What clients have made may go on at the end, and has no row in ours: it is killed then, or just ends.
    """
    last = max((end.finish or 0.0 for ends in outcome.own.values() for end in ends), default=0.0) - LATE
    own = {}
    for full, ends in outcome.own.items():
        goes_on = full.startswith("pods!") and all((end.finish or 0.0) >= last for end in ends)
        if full in outcome.ends or not goes_on:
            own[full] = ends
    return differences(outcome.ends, own, within=within)


def other_lives(one: Outcome, other: Outcome) -> list[str]:
    """Tell which pods are not the same in two plays, and the first event that is not."""
    found = []
    for pod, theirs in zip_longest(one.pods, other.pods):
        ours, others = (asdict(each) if each else {} for each in (pod, theirs))
        found += [f"pod {key} {ours.get(key)}, {others.get(key)} of {ours.get('pod')}, {others.get('pod')}"
                  for key in ours | others
                  if key not in _TEXTS and not same(ours.get(key), others.get(key))]  # fmt: skip
    assert one.events
    assert other.events
    for event, their in zip_longest(*map(_told, (one.events, other.events))):
        if not same(event, their):
            return [f"event {event}, {their}", *found]
    return found


def _told(path: Path) -> list[JSON]:
    """Return the events, but for those of machines alone at the end: a real Batsim goes on to the last of them."""
    events = [json.loads(line) for line in path.read_text().splitlines()]
    while events and events[-1]["event"] in ("node_ready", "node_not_ready", "simulation_ends"):
        events.pop()
    return events


def _apart(end: End, other: End, within: float) -> list[str]:
    found = []
    if end.state != other.state:
        found.append(f"state {end.state}, {other.state}")
    if end.hosts != other.hosts:
        found.append(f"hosts {end.hosts}, {other.hosts}")
    for what, date, theirs in (("start", end.start, other.start), ("finish", end.finish, other.finish)):
        if date is None or theirs is None:
            if date is not theirs:
                found.append(f"{what} {date}, {theirs}")
        elif abs(date - theirs) > within:
            found.append(f"{what} {date:.6f}, {theirs:.6f}")
    # As much as dates may be off, at a thousand watts a host.
    slack = 1000 * len(end.hosts or ()) * within
    if end.joules is not None and other.joules is not None and abs(end.joules - other.joules) > slack:
        found.append(f"energy {end.joules} J, {other.joules} J")
    return found
