"""Dates inside the simulator: whole nanoseconds, so that no error of rounding grows.

They leave as floats of seconds that print right with the six decimals Batsim prints; they come in as such floats, and
what is equal when printed counts as equal.
"""

SECOND = 1_000_000_000
_PRINTED = 1_000
"""Nanoseconds in the last decimal that is printed."""


def nanoseconds(seconds: float) -> int:
    """The nearest whole number of nanoseconds."""
    # Apart, because a float of seconds times 1e9 has lost digits beyond three months.
    whole = int(seconds)
    return whole * SECOND + round((seconds - whole) * SECOND)


def seconds(date: int) -> float:
    """The float nearest to ``date`` nanoseconds."""
    return date / SECOND


def is_later(date: int, than: int) -> bool:
    """Whether ``date`` prints as later: a decision dated with what we printed is not a decision for later."""
    return date > than and _printed(date) > _printed(than)


def _printed(date: int) -> int:
    return (date + _PRINTED // 2) // _PRINTED
