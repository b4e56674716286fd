"""The ends of watches (`timeoutSeconds`) by a clock that jumps.

The loop's clock is real. By that clock a watch of a client with simulated time would end at a wrong moment: after ten
real minutes, in the middle of any reaction, and not when the client expects it.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

FOR_SPREAD = 300.0
"""Simulated seconds; a watch with a timeout of so many or more is never ended.

client-go asks for 5 to 10 minutes (minWatchTimeout in its reflector.go) so that clients spread over several servers.
Here there is one server, and each jump of an hour would end all watches.
"""


class Deadline:
    """An event that is to happen at a date, unless it is cancelled."""

    __slots__ = ("date", "happen")

    def __init__(self, date: float, happen: Callable[[], None]) -> None:
        self.date = date
        self.happen: Callable[[], None] | None = happen

    def cancel(self) -> None:
        """Cancel the event: it does not happen."""
        self.happen = None

    def __lt__(self, other: Deadline) -> bool:
        return self.date < other.date


class Deadlines:
    """The events to come, by the clock `now` (seconds), which somebody else moves."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._heap: list[Deadline] = []

    def call_later(self, seconds: float, happen: Callable[[], None]) -> Deadline:
        """Call `happen` in the first `pass_next` after so many seconds."""
        deadline = Deadline(self._now() + seconds, happen)
        if seconds < FOR_SPREAD:
            heapq.heappush(self._heap, deadline)
        return deadline

    def next(self) -> float | None:
        """Return the earliest date."""
        while self._heap and self._heap[0].happen is None:
            heapq.heappop(self._heap)
        return self._heap[0].date if self._heap else None

    def pass_next(self) -> bool:
        """Let the first due event happen, after the clock has moved. Return False if nothing is due."""
        date = self.next()
        if date is None or date > self._now():
            return False
        happen = heapq.heappop(self._heap).happen
        assert happen is not None
        happen()
        return True
