"""The differences between two plays of one mix."""

from tests.mixes.outcome import End, Outcome

MICROSECOND = 1.5e-6
"""Seconds: one, and what the files lose by their six decimals."""


LATE = 0.2
"""Seconds that messages may be later than what they tell of."""


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
    """Tell where the simulator's own results say something else than ours."""
    return differences(outcome.ends, outcome.own, within=within)


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
