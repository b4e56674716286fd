"""The simulated clock and the processes that live by it.
A step, as the caller drives it:
    clock.set(now)                      # the processes see the new time; what is due wakes up
    ...                                 # deliver the events of this date
    verdict = await clock.wait_for_quiescence()     # the processes react; the clock stands, or is nudged on a little
    next = clock.next_deadline()        # when one of them would wake up by itself
"""

import time
from collections.abc import Callable, Iterable

from batkube.clock import go
from batkube.clock.oracle import IdleOracle
from batkube.clock.page import ClockPage
from batkube.clock.tree import Helper
from batkube.clock.verdict import Verdict, not_idle

SECOND = 1_000_000_000
GRID = 1_000_000
"""The grid of wake-ups in nanoseconds: processes are woken at whole multiples, up to a millisecond after their timer is
due."""
CYCLE, SLOWNESS = 6_180_339_887, 9_000
"""The measures of the clock's lead over the date that it is set to: 1 ns more for each SLOWNESS ns of the date in a
CYCLE.

The exact moment at which a timer is due differs from run to run by some nanoseconds: each reading of the clock adds
one, and the threads of a program read it as they please. Without the lead, a program that sleeps for a second would
find, at the same nanosecond of a later millisecond, its timer due in one run and not in another. With it, the clock
stands at another place in its millisecond than when the sleep began, and there is no doubt. The lead is at most 0.69 ms
(see ``bridge.clock_quiescence.AHEAD``). A CYCLE has no multiple near a round number of seconds, such as often lies
between two events: its length in seconds has the digits of the golden ratio.
"""

SETTLING = 50_000
"""Nanoseconds to whole multiples of which the readings since the clock was set are filled up for a process that starts:
more than there are in a reaction, as a rule."""

NUDGE_PERIOD = 0.01
"""Real seconds between two checks whether the clock must be nudged on."""
SILENCE, WORK, PATIENCE, STANDSTILL = 2.0, 20.0, 45.0, 0.01
"""The times after which processes are nudged that have neither come to rest nor shown any progress.

They are nudged after SILENCE real seconds and then WORK seconds of processor time (Python may need three to load its
modules, and kube-scheduler more to try some thousand pods again), or else after PATIENCE real seconds of which they
were on a processor for less than the share STANDSTILL. A nudge depends on real time, and so the run is not repeatable
any more: on a busy machine it must not come sooner. Their processor time is not asked for before the SILENCE is over,
because this reads a file of each process.
"""
NUDGE = 1_000_000
"""The first step of a nudge, in nanoseconds of simulated time; it doubles after each ten nudges, up to real speed.

The Go runtime retries a lost preemption, and hands the CPU to another goroutine, by its clock alone. Under a clock that
stands still it can hang for good. A program that spins until time has passed gets through as well.
"""

LIMITED_NUDGES = 100
"""The number of nudges of one reaction that stop at the next known date; they take one real second. After them a
program that still works may go beyond that date, because it may hang otherwise."""


class SimulatedClock:
    """The time of processes started with it, in simulated seconds from 0 at its making."""

    def __init__(self, epoch: float, oracle: IdleOracle) -> None:
        """``epoch``: the time of the processes' wall clock at simulated second 0, in Unix seconds.

        ``oracle`` observes the processes; the code that starts one adds it there.
        """
        self.page = ClockPage(round(epoch * SECOND))
        self.nudges = 0
        self.nudged = 0.0
        """Simulated seconds added by nudges."""
        self.jumps = 0
        """The number of times the clock was set to a later time."""
        self.uncertain_jumps = 0
        """Jumps during which a thread was awake, so that its sleep was computed a second time."""
        self._oracle = oracle
        oracle.dozes = go.dozes
        self._start = self.page.monotonic
        self._date = 0
        """The date in nanoseconds to which the clock was set or nudged."""
        self._limit: int | None = None
        self._poke_again = False
        self._helpers: list[Helper] = []
        self._punctual: list[Helper] = []
        """The helpers of programs whose waits are appointments."""
        self._births: dict[Helper, int] = {}

    def take_over(self, helper: Helper, *, punctual: bool = False) -> None:
        """End the waits of the helper's processes when they are due, from now on.

        ``punctual``: they are appointments. The helper is closed with the clock.
        """
        self._helpers.append(helper)
        if punctual:
            self._punctual.append(helper)

    def processor_time(self) -> float:
        """Return the seconds of processor time that the processes have used."""
        return self._oracle.processor_time()

    @property
    def now(self) -> float:
        """The simulated time that the processes saw last: the time set, and some nanoseconds for each reading."""
        return self._elapsed() / SECOND

    @property
    def date(self) -> float:
        """The date that the clock was last set or nudged to: no reading of it is part of that."""
        return self._date / SECOND

    def forget(self, pid: int) -> None:
        """Observe the process ``pid`` no more, which has ended."""
        self._oracle.remove(pid)
        self._births.clear()  # of the others those are observed anew whose parents have ended

    def set(self, now: float, *, limit: float | None = None) -> None:
        """Jump to ``now``, unless it is later already, and end the first wait that is due.

        ``wait_for_quiescence`` ends the others.

        ``limit`` is the next known date, if it is later: nudges stop there for a while (LIMITED_NUDGES). The processes
        should be at rest.
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
        self._wake_next()
        if not self._helpers and not self._oracle.untouched():
            # The thread may have read the old time and gone to sleep on it: compute it again at the next quiescence.
            self._poke_again = True
            self.uncertain_jumps += 1
        go.poke(self._oracle.threads())

    def settle(self) -> None:
        """Show a definite time to a process that is about to start, however often the others have read the clock.

        Many programs seed their randomness by it, to the nanosecond. The processes must be at rest.
        """
        since = self._elapsed() - _shown(self._date)
        self.page.advance(-since % SETTLING)

    async def wait_for_quiescence(
        self, *, timeout: float | None = None, progress: Callable[[], int] = lambda: 0
    ) -> Verdict:
        """Wait until the processes are at rest and no wait is due any more. ``timeout`` is in real seconds.

        Waits that a helper has taken over end one at a time, so that each process finds the others asleep, whatever
        else is due. The clock is nudged on if that seems to be needed. ``progress`` returns a number that changes when
        the processes have got something done (a request, for example).
        """
        start = time.monotonic()
        nudge = _Nudge(self, self._oracle, progress)
        monitors = go.Monitors()
        while True:
            left = None if timeout is None else start + timeout - time.monotonic()
            stops = self._tell()
            verdict = await self._oracle.wait_for_quiescence(timeout=left, meanwhile=nudge)
            if verdict.idle and self._tell() != stops:
                # A helper had work with its processes meanwhile: the end of a child may be on its way to the parent. Or
                # the helper has processes that were not looked at.
                if timeout is None or time.monotonic() < start + timeout:
                    continue
                return not_idle("held", "a process is being held by the helper that takes over waits")
            if verdict.idle and (monitors.wake(self._oracle.threads()) or self._wake_next()):
                continue
            if not (verdict.idle and self._poke_again):
                return verdict
            self._poke_again = False
            go.poke(self._oracle.threads())

    def next_deadline(self) -> float | None:
        """Return the simulated second at which a process at rest may wake up by itself; None if none will.

        The date lies on the GRID, after now. A Go program may still sleep then, because its timers are seen in whole
        milliseconds only; the next call then returns the next date.
        """
        dates = self._deadlines(self._helpers)
        left = go.next_timer(self._oracle.threads())
        if left is not None:
            dates.append(-(-(self._date + left) // GRID) * GRID + GRID)  # it was rounded down
        return self._first(dates)

    def next_appointment(self) -> float | None:
        """Return the same for the punctual programs: the simulated second at which one of them wants to wake up."""
        return self._first(self._deadlines(self._punctual))

    def _deadlines(self, helpers: Iterable[Helper]) -> list[int]:
        waits = map(Helper.tell, helpers)
        return [_date_that_shows(told.deadline - self._start) for told in waits if told.deadline >= 0]

    def _first(self, dates: Iterable[int]) -> float | None:
        first = min(dates, default=None)
        return None if first is None else max(first, (self._date // GRID + 1) * GRID) / SECOND

    def close(self) -> None:
        """Release the page. Processes whose waits were taken over are ended."""
        for helper in self._helpers:
            helper.close()
        self._helpers.clear()
        self._punctual.clear()
        self.page.close()

    def _wake_next(self) -> bool:
        """End the first wait that is due; False if none is."""
        return any(helper.wake_one().ended > 0 for helper in self._helpers)

    def _wake(self) -> None:
        for helper in self._helpers:
            helper.wake()

    def _tell(self) -> list[int]:
        """Return how many stops each helper has handled, and observe the processes that the helpers know by now."""
        stops = []
        for helper in self._helpers:
            told = helper.tell()
            if told.births != self._births.get(helper):
                self._births[helper] = told.births
                # Most processes are found as children of others, but not those whose parent ended before it was looked
                # at.
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
    """Return the time that the clock shows when it is set to a date, both in nanoseconds."""
    return date + date % CYCLE // SLOWNESS


def _date_that_shows(elapsed: int) -> int:
    """Return the first date on the GRID at which the clock shows at least so many nanoseconds."""
    date = elapsed // GRID * GRID
    return date if _shown(date) >= elapsed else date + GRID


class _Nudge:
    """Moves the clock of processes that work and get nothing done, by little at first, at last at real speed."""

    def __init__(self, clock: SimulatedClock, oracle: IdleOracle, progress: Callable[[], int]) -> None:
        self._move_on = clock._move_on
        self._processor_time = oracle.processor_time
        self._progress = progress
        self._next = time.monotonic() + NUDGE_PERIOD
        self._seen: int | None = None
        self._since = 0.0
        self._worked: float | None = None
        """The processor time in seconds that had been used when the silence was over."""
        self._still_since = self._stood = 0.0
        """The time from which a standstill counts, and the processor time that had been used then."""
        self._count = 0

    def __call__(self) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + NUDGE_PERIOD
        seen = self._progress()
        if seen != self._seen:
            self._seen, self._since, self._worked = seen, now, None
            return
        if now - self._since < SILENCE:
            return
        worked = self._processor_time()
        if self._worked is None:
            self._worked, self._still_since, self._stood = worked, self._since, worked
        if worked - self._worked >= WORK or self._stands_still(now, worked):
            step = min(NUDGE << min(self._count // 10, 20), round(NUDGE_PERIOD * SECOND))
            self._move_on(step, limited=self._count < LIMITED_NUDGES)
            self._count += 1

    def _stands_still(self, now: float, worked: float) -> bool:
        if now - self._still_since < PATIENCE:
            return False
        if worked - self._stood < STANDSTILL * PATIENCE:
            return True
        self._still_since, self._stood = now, worked
        return False
