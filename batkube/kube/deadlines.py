"""Ends of watches by a clock that jumps (`timeoutSeconds`).

On the loop's clock, which is real, a watch of a client on a simulated one would end out of turn: after ten real
minutes, in the middle of no matter which reaction, and not when the client expects it.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

FOR_SPREAD = 300.0
"""Simulated seconds from which on no watch is ended. client-go asks for 5 to 10 minutes (minWatchTimeout in its
reflector.go) so that clients spread over several servers; here is one, and each jump of an hour would end all watches.
"""


class Deadline:
    """Something that is to happen at a date, unless it is cancelled."""

    __slots__ = ("date", "happen")

    def __init__(self, date: float, happen: Callable[[], None]) -> None:
        self.date = date
        self.happen: Callable[[], None] | None = happen

    def cancel(self) -> None:
        """It is not to happen."""
        self.happen = None

    def __lt__(self, other: Deadline) -> bool:
        return self.date < other.date


class Deadlines:
    """Those that are to come, by the clock `now` (seconds), which somebody else moves."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._heap: list[Deadline] = []

    def call_later(self, seconds: float, happen: Callable[[], None]) -> Deadline:
        """Let `happen` be called by the first `pass_due` that finds `seconds` over."""
        deadline = Deadline(self._now() + seconds, happen)
        if seconds < FOR_SPREAD:
            heapq.heappush(self._heap, deadline)
        return deadline

    def next(self) -> float | None:
        """The earliest date."""
        while self._heap and self._heap[0].happen is None:
            heapq.heappop(self._heap)
        return self._heap[0].date if self._heap else None

    def pass_due(self) -> None:
        """The clock has moved: let happen what is due, in order of its dates."""
        while (date := self.next()) is not None and date <= self._now():
            happen = heapq.heappop(self._heap).happen
            assert happen is not None
            happen()
