"""Dates inside the simulator: whole picoseconds, so that no error of rounding grows.

A message between Batsim's parts takes some 15.002008 us: in whole picoseconds the error of thousands in a row would be
seen in the microseconds that Batsim prints. Integers, unlike floats, are just as exact a year later.

Dates leave the simulator as floats of seconds, to the nanosecond, that print right with the six decimals that Batsim
prints. They come in as such floats, and dates that are equal when printed count as equal.
"""

SECOND = 10**12
NANOSECOND = 1_000
_PRINTED = 1_000_000
"""Picoseconds in the last decimal that is printed."""


def picoseconds(seconds: float) -> int:
    """Return the nearest whole number of picoseconds."""
    # The whole seconds are taken apart, because a float of seconds times 1e12 has lost digits beyond a few hours.
    whole = int(seconds)
    return whole * SECOND + round((seconds - whole) * SECOND)


def seconds(date: int) -> float:
    """Return ``date`` in seconds, rounded to nanoseconds."""
    return (date + NANOSECOND // 2) // NANOSECOND / 1_000_000_000


def printed_seconds(date: int) -> float:
    """Return ``date`` in seconds as Batsim prints it, with six decimals."""
    return _printed(date) / 1_000_000


def is_later(date: int, than: int) -> bool:
    """Tell whether ``date`` prints as later: a decision with a date that we printed is no decision for later."""
    return date > than and _printed(date) > _printed(than)


def _printed(date: int) -> int:
    return (date + _PRINTED // 2) // _PRINTED
