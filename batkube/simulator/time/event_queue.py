"""The coming happenings of a simulation, by date, and how SimGrid counts down to them in steps."""

from collections.abc import Iterable
from enum import IntEnum
from functools import partial, reduce
from heapq import heappop, heappush
from operator import mul, sub

from batkube.event_queue import Action, Entry, EventQueue
from batkube.simulator.time.dates import NANOSECOND

KEPT_STEPS = 100_000
"""The number of steps of an exact simulation above which those that are no longer needed are looked for."""
LEAST_DURATION = 1e-9
LEAST_WORK = 1e-14
"""The least duration in seconds, and the least part of a whole work, that SimGrid does not take for nothing."""


class Rank(IntEnum):
    """The order of what happens at one date, in ideal simulations."""

    TASK = 0
    """A parallel task ends. Batsim counts one that lasts as long as its walltime as done."""
    WALLTIME = 1
    DELAY = 2
    """A delay ends. Batsim counts one that lasts as long as its walltime as stopped."""
    HOSTS = 3
    """Hosts go and come back, and other external events."""
    SUBMISSION = 4
    CALL = 5


class Happening(Entry):
    """An entry that counts down what is left until it, as SimGrid does."""

    __slots__ = ("left", "since", "speed")

    def __init__(self, action: Action, left: float, speed: float, since: int) -> None:
        super().__init__(action)
        self.left = left
        """Seconds, or work that is done at ``speed``, that were left after the number of steps in ``since``."""
        self.speed = speed
        self.since = since


class _Steps:
    """The seconds that time went on in each step of an exact simulation, as far as they may still be asked for.

    They are in a list, because an array makes a float of each number each time it is read, which takes three times as
    long.
    """

    def __init__(self) -> None:
        self._kept: list[float] = []
        self._forgotten = 0
        self._enough = KEPT_STEPS
        self.count = 0
        """The number of steps so far, forgotten ones included."""

    def add(self, step: float) -> None:
        self._kept.append(step)
        self.count += 1

    def since(self, number: int) -> list[float]:
        """Return the steps after the first ``number``."""
        return self._kept[number - self._forgotten :]

    @property
    def too_many(self) -> bool:
        return len(self._kept) > self._enough

    def forget(self, number: int) -> None:
        """Forget the first ``number`` steps, which will not be asked for any more."""
        del self._kept[: number - self._forgotten]
        self._forgotten = number
        self._enough = KEPT_STEPS + 2 * len(self._kept)


class SimulatedEvents(EventQueue[int, Happening]):
    """The queue of a simulation, with dates in picoseconds."""

    def __init__(self) -> None:
        super().__init__()
        self._steps = _Steps()

    def add(
        self,
        date: int,
        rank: Rank,
        action: Action,
        *,
        ticket: int | None = None,
        left: float = 0.0,
        speed: float = 0.0,
    ) -> Happening:
        """Let ``action`` be called at ``date`` (picoseconds).

        At one date and rank, what was added first goes first; ``ticket`` gives an entry that is put off its old place.
        In exact simulations ``left`` is how many seconds that is ahead, or how much work, done at ``speed``.
        """
        entry = Happening(action, left, speed, self._steps.count)
        self.push(date, entry, rank, ticket)
        return entry

    def work_left(self, entry: Happening) -> float:
        """Return what is left of a work, or of a duration, as SimGrid counts it down step by step."""
        if entry.since == self._steps.count:
            return entry.left
        steps: Iterable[float] = self._steps.since(entry.since)
        if entry.speed:
            steps = map(partial(mul, entry.speed), steps)
        return reduce(sub, steps, entry.left)

    def step(self) -> tuple[int, float, list[Happening]] | None:
        """Take off what happens next: its date, how far that is to SimGrid's last bit, and all that happens with it.

        The entries are in order of the tickets. A duration is over if less than a nanosecond of it is left, a work if
        next to nothing of it is left (``surf/precision``, ``maxmin/precision``). Returns None if nothing will ever
        happen.
        """
        date = self.next_date
        if date is None:
            return None
        heap, steps = self._heap, self._steps
        if steps.too_many:
            steps.forget(min(item[4].since for item in heap))
        near = []
        if len(heap) == 1 or min(heap[1:3])[0] > date + NANOSECOND:
            # In most cases nothing else is near, and there is nothing to compare.
            entry = heappop(heap)[4]
            left = self.work_left(entry)
            step = max(0.0, left / entry.speed if entry.speed else left)
            steps.add(step)
            return date, step, [entry]
        while heap and heap[0][0] <= date + NANOSECOND:
            item = heappop(heap)
            entry = item[4]
            if entry.action is not None:
                left = self.work_left(entry)
                near.append((item[2], left, left / entry.speed if entry.speed else left, item))
        step = max(0.0, min(time for _, _, time, _ in near))
        steps.add(step)
        due = []
        for ticket, left, time, item in near:
            entry = item[4]
            least = LEAST_WORK if entry.speed else LEAST_DURATION
            if time <= step or left - (entry.speed or 1.0) * step < least:
                due.append((ticket, entry))
            else:
                heappush(heap, item)
        if len(due) > 1:
            due.sort(key=lambda found: found[0])
        return date, step, [entry for _, entry in due]
