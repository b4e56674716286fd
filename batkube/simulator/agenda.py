"""What is to happen: entries by date."""

from collections.abc import Callable
from enum import IntEnum
from heapq import heappop, heappush
from itertools import count

Action = Callable[[], None]


class Rank(IntEnum):
    """What goes first when several things happen at one date."""

    TASK = 0
    """A parallel task ends. Batsim counts one that lasts as long as its walltime as done ..."""
    WALLTIME = 1
    DELAY = 2
    """... and a delay that does as stopped."""
    HOSTS = 3
    """Hosts go and come, and other external events."""
    SUBMISSION = 4
    CALL = 5


class Entry:
    """Something that happens at a date unless it is cancelled before."""

    __slots__ = ("action",)

    def __init__(self, action: Action) -> None:
        self.action: Action | None = action

    def cancel(self) -> None:
        """It will not happen."""
        self.action = None


class Agenda:
    """A heap of entries."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, int, Entry]] = []
        self._numbers = count()

    def add(self, date: int, rank: Rank, action: Action) -> Entry:
        """Have ``action`` called at ``date`` (nanoseconds). At one date and rank, what was added first goes first."""
        entry = Entry(action)
        heappush(self._heap, (date, rank, next(self._numbers), entry))
        return entry

    @property
    def next_date(self) -> int | None:
        """When the next thing happens; None when nothing will ever."""
        heap = self._heap
        while heap and heap[0][3].action is None:
            heappop(heap)
        return heap[0][0] if heap else None

    def pop_until(self, date: int) -> tuple[int, Action] | None:
        """Take off the next thing that happens at ``date`` or before, with its own date; None where there is none."""
        heap = self._heap
        while heap:
            due, _, _, entry = heap[0]
            action = entry.action
            if action is not None and due > date:
                return None
            heappop(heap)
            if action is not None:
                entry.action = None
                return due, action
        return None
