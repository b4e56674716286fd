"""The keys that a controller is to look at, now or later: client-go's queue (delays, retries) on simulated time."""

import heapq
import math
from collections.abc import Hashable
from typing import Protocol

MOST_AWAITED = 10
"""The retries of a key in a row that the simulation goes on for."""


class Clock(Protocol):
    """The simulated time: seconds since the simulation began."""

    @property
    def now(self) -> float: ...

    @property
    def epoch(self) -> float: ...

    def rfc3339(self, date: float | None = None) -> str: ...


class WorkQueue:
    """Keeps each key once. Keys that are due come in the order in which they were added.

    ``first_retry``, ``last_retry``: the seconds after which a key is tried again whose ``sync`` failed, doubled each
    time.
    """

    def __init__(self, clock: Clock, first_retry: float, last_retry: float) -> None:
        self._clock = clock
        self._first_retry, self._last_retry = first_retry, last_retry
        self._ready: dict[Hashable, None] = {}
        self._later: dict[Hashable, tuple[float, bool]] = {}
        """The date of each key that is put off, and whether the simulation goes on for it."""
        self._dates: list[tuple[float, int, Hashable]] = []
        self._awaited: list[tuple[float, int, Hashable]] = []
        """The heaps of these dates: of all, and of those that the simulation goes on for."""
        self._added = 0
        self._failures: dict[Hashable, int] = {}

    def add(self, key: Hashable) -> None:
        """Have the key looked at as soon as all is told."""
        self._ready[key] = None

    def add_after(self, key: Hashable, seconds: float, *, awaited: bool = True) -> None:
        """Have the key looked at in so many simulated seconds, or sooner if it is put off for less already.

        ``awaited``: the simulation is not over before.
        """
        if seconds <= 0:
            self.add(key)
            return
        date = round(self._clock.now + seconds, 6)
        before = self._later.get(key)
        if before is not None:
            awaited = awaited or before[1]
            if (min(date, before[0]), awaited) == before:
                return
            date = min(date, before[0])
        self._later[key] = (date, awaited)
        self._added += 1
        heapq.heappush(self._dates, (date, self._added, key))
        if awaited:
            heapq.heappush(self._awaited, (date, self._added, key))

    def add_at_next(self, key: Hashable, period: float) -> None:
        """Have the key looked at at the next of the dates that are a period apart from the beginning on."""
        now = self._clock.now
        self.add_after(key, math.floor(now / period + 1) * period - now)

    def discard(self, key: Hashable) -> None:
        """Have the key not looked at later: nothing is left to do."""
        self._later.pop(key, None)

    def retry(self, key: Hashable) -> None:
        """Have the key looked at again, as it could not be brought to where it should be.

        The simulation goes on for a few retries, and not for ever.
        """
        failures = self._failures[key] = self._failures.get(key, 0) + 1
        length = self._first_retry * 2.0 ** min(failures - 1, 60)
        self.add_after(key, min(length, self._last_retry), awaited=failures <= MOST_AWAITED)

    def forget(self, key: Hashable) -> None:
        """Note that all went well: the next retry is a first one."""
        self._failures.pop(key, None)

    def take(self) -> Hashable | None:
        """Return the next key to look at now, if there is one."""
        while (date := self.next_date) is not None and date <= self._clock.now:
            _, _, key = heapq.heappop(self._dates)
            del self._later[key]
            self._ready[key] = None
        if not self._ready:
            return None
        key = next(iter(self._ready))
        del self._ready[key]
        return key

    @property
    def next_date(self) -> float | None:
        """The date at which the next key is due that is put off."""
        return self._first(self._dates)

    @property
    def awaited_date(self) -> float | None:
        """The same, of the keys that the simulation goes on for."""
        return self._first(self._awaited)

    def _first(self, heap: list[tuple[float, int, Hashable]]) -> float | None:
        while heap:
            date, _, key = heap[0]
            if (planned := self._later.get(key)) is not None and planned[0] == date:
                return date
            heapq.heappop(heap)
        return None
