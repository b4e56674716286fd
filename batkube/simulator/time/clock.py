"""The present of a simulation."""


class Clock:
    """The present."""

    __slots__ = ("now", "seconds")

    def __init__(self) -> None:
        self.now = 0
        """The present in picoseconds."""
        self.seconds = 0.0
        """SimGrid's clock in seconds, in exact simulations: a sum of steps, with all errors of rounding."""
