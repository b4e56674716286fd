"""A queue of what is to happen, by date: the simulator's, and the bridge's for the stages of pods.

Dates are of any unit. The queue knows no clock: whoever lets time go on takes off what is due.
"""

from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from typing import Generic, TypeVar

Action = Callable[[], object]


class Entry:
    """Something that happens at a date unless it is cancelled before."""

    __slots__ = ("action",)

    def __init__(self, action: Action) -> None:
        self.action: Action | None = action
        """The function to call; None if it was called, or will not be."""

    def cancel(self) -> None:
        """Cancel it: it will not happen."""
        self.action = None


Date = TypeVar("Date", int, float)
E = TypeVar("E", bound=Entry)


class EventQueue(Generic[Date, E]):
    """A heap of entries. At one date and rank, what was added first goes first."""

    def __init__(self) -> None:
        self._heap: list[tuple[Date, int, int, int, E]] = []
        """The entries with their dates, ranks, tickets and numbers."""
        self._numbers = count()

    def ticket(self) -> int:
        """Return the place of this call in the order of what happens at one date."""
        return next(self._numbers)

    def push(self, date: Date, entry: E, rank: int = 0, ticket: int | None = None) -> None:
        """Put an entry in; ``ticket`` gives one that is put off its old place."""
        number = next(self._numbers)
        heappush(self._heap, (date, rank, number if ticket is None else ticket, number, entry))

    @property
    def first(self) -> E | None:
        """The entry that happens next; None if nothing ever will."""
        heap = self._heap
        while heap and heap[0][4].action is None:
            heappop(heap)
        return heap[0][4] if heap else None

    @property
    def next_date(self) -> Date | None:
        """The date when the next thing happens; None if nothing ever will."""
        heap = self._heap
        while heap and heap[0][4].action is None:
            heappop(heap)
        return heap[0][0] if heap else None

    def pop_until(self, date: Date) -> tuple[Date, Action] | None:
        """Take off the next thing that happens at ``date`` or before, with its own date; None if there is none."""
        heap = self._heap
        while heap:
            due, _, _, _, entry = heap[0]
            action = entry.action
            if action is not None and due > date:
                return None
            heappop(heap)
            if action is not None:
                entry.action = None
                return due, action
        return None
