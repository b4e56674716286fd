"""A watch over jobs that wait: for how long they have been the same."""


class Vigil:
    """The time, in simulated seconds, for which the same jobs wait and nothing else goes on."""

    def __init__(self) -> None:
        self._waiting: tuple[str, ...] = ()
        self._since = 0.0

    def length(self, waiting: tuple[str, ...], now: float, *, begins: bool = False) -> float:
        """Return how long these jobs have waited, by when this was asked. ``begins``: they begin now."""
        if begins or waiting != self._waiting:
            self._waiting, self._since = waiting, now
        return now - self._since
