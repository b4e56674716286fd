"""The simulated clock and the processes that live by it.

A step, as the caller drives it:

    clock.set(now)                      # the processes see the new time; what is due wakes up
    ...                                 # deliver the events of this date
    verdict = await clock.at_rest()     # the processes react; the clock stands, or is nudged on a little
    next = clock.next_deadline()        # when one of them would wake up by itself
"""

import time
from collections.abc import Callable

from batkube.clock import go
from batkube.clock.oracle import IdleOracle
from batkube.clock.page import ClockPage
from batkube.clock.tree import Helper
from batkube.clock.verdict import Verdict, not_idle

SECOND = 1_000_000_000
GRID = 1_000_000
"""Nanoseconds: processes are woken at whole multiples, up to a millisecond after a timer of theirs is due."""
CYCLE, SLOWNESS = 6_180_339_887, 9_000
"""The clock is ahead of the date that it is set to, by a nanosecond more for each SLOWNESS of them in a CYCLE.

When exactly a timer is due differs from run to run by some nanoseconds, for each reading of the clock adds one and a
program's threads read it as they please. A program that sleeps for a second would find, at the same nanosecond of a
later millisecond, its timer due in one run and not in another. Set to another place in its millisecond than when the
sleep began, the clock leaves no doubt. At most 0.69 ms in all (see ``bridge.clock_rest.AHEAD``); a CYCLE of some golden
seconds has no multiple near a round number of seconds, such as lie between two events.
"""

NUDGE_PERIOD = 0.01
"""Real seconds between two looks at whether the clock must be nudged on."""
WORK, PATIENCE = 10.0, 45.0
"""Processes are nudged only when they have not come to rest, nor shown any progress, for so long.

Seconds of processor time (Python may need three to load its modules), or else real seconds. A nudge depends on real
time, and so the run is not repeatable any more.
"""
NUDGE = 1_000_000
"""Nanoseconds of simulated time, at first; twice as much after each ten, up to real speed.

The Go runtime retries a lost preemption, and hands the CPU to another goroutine, by its clock alone: under one that
stands still it can hang for good. A program that spins until time has passed gets through as well.
"""

LIMITED_NUDGES = 100
"""So many nudges of one reaction stop at the next known date: a second. A program that works on then gets its way, for
it may hang otherwise."""


class SimulatedClock:
    """The time of processes started with it. Simulated seconds, from 0 at its making."""

    def __init__(self, epoch: float, oracle: IdleOracle) -> None:
        """``epoch``: what the processes' wall clock shows at simulated second 0, in Unix seconds.

        ``oracle`` observes them; who starts one adds it there.
        """
        self.page = ClockPage(round(epoch * SECOND))
        self.nudges = 0
        self.nudged = 0.0
        """Simulated seconds added by nudges."""
        self.jumps = 0
        """How often it was set to a later time."""
        self.uncertain_jumps = 0
        """Jumps during which a thread was awake: its sleep was computed a second time."""
        self._oracle = oracle
        oracle.dozes = go.dozes
        self._start = self.page.monotonic
        self._date = 0
        """What it was set to, or nudged to, in nanoseconds."""
        self._limit: int | None = None
        self._poke_again = False
        self._helpers: list[Helper] = []
        self._births: dict[Helper, int] = {}

    def take_over(self, helper: Helper) -> None:
        """From now on end the waits of the helper's processes when they are due. It is closed with the clock."""
        self._helpers.append(helper)

    @property
    def now(self) -> float:
        """The simulated time that the processes saw last: what was set, and some nanoseconds for each reading."""
        return self._elapsed() / SECOND

    def set(self, now: float, *, limit: float | None = None) -> None:
        """Jump to ``now``, unless it is later already, and wake what is due.

        ``limit`` is the next date that is known, if it is later: nudges stop there for a while (LIMITED_NUDGES). The
        processes should be at rest.
        """
        self._limit = None if limit is None or limit <= now else round(limit * SECOND)
        date = round(now * SECOND)
        if date <= self._date:
            return
        self._date = date
        step = _shown(date) - self._elapsed()
        if step <= 0:
            return
        self.page.advance(step)
        self.jumps += 1
        self._wake()
        if not self._helpers and not self._oracle.untouched():
            # It may have read the old time and gone to sleep on it: compute its sleep again at the next rest.
            self._poke_again = True
            self.uncertain_jumps += 1
        go.poke(self._oracle.threads())

    async def at_rest(self, *, timeout: float | None = None, progress: Callable[[], int] = lambda: 0) -> Verdict:
        """As the oracle's; the clock is nudged on where that seems to be needed. ``timeout`` is in real seconds.

        ``progress`` is a number that changes when the processes have got something done (a request, say).
        """
        start = time.monotonic()
        nudge = _Nudge(self, self._oracle, progress)
        while True:
            left = None if timeout is None else start + timeout - time.monotonic()
            stops = self._tell()
            verdict = await self._oracle.at_rest(timeout=left, meanwhile=nudge)
            if verdict.idle and self._tell() != stops:
                # A helper had to do with its processes meanwhile: the end of a child may be on its way to the parent.
                # Or it has processes that were not looked at.
                if timeout is None or time.monotonic() < start + timeout:
                    continue
                return not_idle("held", "a process is being held by the helper that takes over waits")
            if not (verdict.idle and self._poke_again):
                return verdict
            self._poke_again = False
            go.poke(self._oracle.threads())

    def next_deadline(self) -> float | None:
        """The simulated second at which a process may wake up by itself; None: none will. For processes at rest.

        It lies on the GRID, after now. A Go program may still sleep then, for its timers are seen in whole
        milliseconds only; then the next one is told.
        """
        due = [waits.deadline - self._start for waits in map(Helper.tell, self._helpers) if waits.deadline >= 0]
        dates = [_date_that_shows(elapsed) for elapsed in due]
        left = go.next_timer(self._oracle.threads())
        if left is not None:
            dates.append(-(-(self._date + left) // GRID) * GRID + GRID)  # it was rounded down
        if not dates:
            return None
        return max(min(dates), (self._date // GRID + 1) * GRID) / SECOND

    def close(self) -> None:
        """Let go of the page; processes whose waits were taken over are ended."""
        for helper in self._helpers:
            helper.close()
        self._helpers.clear()
        self.page.close()

    def _wake(self) -> None:
        for helper in self._helpers:
            helper.wake()

    def _tell(self) -> list[int]:
        """How many stops each helper has handled. Processes that it has come to know are observed from now on."""
        stops = []
        for helper in self._helpers:
            told = helper.tell()
            if told.births != self._births.get(helper):
                self._births[helper] = told.births
                # Most are found as children of others; not those whose parent ended before it was looked at.
                for pid in helper.processes():
                    self._oracle.adopt(pid)
            stops.append(told.stops + told.births)
        return stops

    def _elapsed(self) -> int:
        return self.page.monotonic - self._start

    def _move_on(self, step: int, *, limited: bool) -> None:
        if limited and self._limit is not None:
            step = min(step, self._limit - self._elapsed())
        if step > 0:
            self.page.advance(step)
            self._date += step
            self._wake()
            self.nudges += 1
            self.nudged += step / SECOND


def _shown(date: int) -> int:
    """What the clock shows when it is set to a date, both in nanoseconds."""
    return date + date % CYCLE // SLOWNESS


def _date_that_shows(elapsed: int) -> int:
    """The first date on the GRID at which the clock shows at least so many nanoseconds."""
    date = elapsed // GRID * GRID
    return date if _shown(date) >= elapsed else date + GRID


class _Nudge:
    """Moves the clock of processes that keep working and get nothing done, first by little, at last at real speed."""

    def __init__(self, clock: SimulatedClock, oracle: IdleOracle, progress: Callable[[], int]) -> None:
        self._move_on = clock._move_on
        self._processor_time = oracle.processor_time
        self._progress = progress
        self._next = time.monotonic() + NUDGE_PERIOD
        self._seen: int | None = None
        self._since = self._worked = 0.0
        self._count = 0

    def __call__(self) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + NUDGE_PERIOD
        seen, worked = self._progress(), self._processor_time()
        if seen != self._seen:
            self._seen, self._since, self._worked = seen, now, worked
        elif worked - self._worked >= WORK or now - self._since >= PATIENCE:
            step = min(NUDGE << min(self._count // 10, 20), round(NUDGE_PERIOD * SECOND))
            self._move_on(step, limited=self._count < LIMITED_NUDGES)
            self._count += 1
