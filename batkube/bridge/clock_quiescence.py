"""The quiescence of a scheduler that lives on the simulated clock: it is observed, and its timers are known."""

import asyncio
import math
from time import monotonic

from batkube.bridge.errors import RunFailed
from batkube.bridge.quiescence import has_asked_for_pods, not_quiescent
from batkube.bridge.step_settings import StepSettings
from batkube.bridge.work_limit import wait_within
from batkube.clock.oracle import IdleOracle
from batkube.clock.simulated import SimulatedClock
from batkube.clock.verdict import Verdict, not_idle
from batkube.kube.server import ApiServer
from batkube.kube.storage.deadlines import Deadlines
from batkube.results.run import QuiescenceCounts
from batkube.schedulers.process import SchedulerError
from batkube.schedulers.programs import ProgramFailed, Programs

LEAD = 60.37
"""Simulated seconds that a scheduler has for starting up, before the simulation begins at 0.

It is not a whole number: a scheduler may count its ticks (each second, for example) from its start, and events are
often dated at whole seconds.
"""
AHEAD = 0.00025
"""Simulated seconds by which the scheduler's wall clock is ahead of the simulation.

Other ticks come at whole seconds of the wall clock, plus the nanoseconds that readings of the clock have added. With
this lead they are due when an event of that second comes, and not a moment later while the scheduler reacts. Together
with the lead of ``clock.simulated.CYCLE`` it is less than a millisecond.
"""
ENDLESS = not_idle("endless", "it goes on to send requests though nothing happens")
LOOK_EVERY = 0.01
"""Real seconds between two looks at a process that has ended, and whose exit code is not known yet."""
STARTUP_SILENCE = 2.0
"""Simulated seconds without a request after which a scheduler has started up."""


def scheduler_clock(epoch: float, oracle: IdleOracle) -> SimulatedClock:
    """Return the clock for a scheduler in a simulation that begins at ``epoch`` (Unix seconds)."""
    return SimulatedClock(epoch - LEAD + AHEAD, oracle)


class QuiescenceOnSimulatedClock:
    """The quiescence of the processes that were started on ``clock``, which shows LEAD at simulated second 0.

    ``programs``: those beside the scheduler, which may end, and be started again. ``alone``: no scheduler is on it.
    """

    knows_timers = True
    one_by_one = True
    keeps_appointments = False

    def __init__(
        self,
        server: ApiServer,
        settings: StepSettings,
        clock: SimulatedClock,
        programs: Programs | None = None,
        *,
        alone: bool = False,
    ) -> None:
        self.counts = QuiescenceCounts()
        self._server = server
        self._settings = settings
        self._clock = clock
        self._programs = programs
        self._alone = alone
        self._watches = Deadlines(lambda: clock.now)
        """The dates at which watches end that the scheduler has asked for."""
        server.end_watches_by(self._watches)
        self._inputs_when_quiescent: tuple[int, ...] | None = None
        """The value of ``_inputs`` when the scheduler last came to rest."""

    def close(self) -> None:
        """Do nothing: the clock belongs to the code that started the processes."""

    async def start(self) -> None:
        """Start the programs, and follow all timers until the scheduler has asked for pods, and then all are silent.

        Each program starts while all others rest, a moment after the one before it: what it does at first does not
        depend on how far they are by then.
        """
        if not self._alone:
            await self._wait_for_quiescence()
        while await self._start_next():
            await self._wait_for_quiescence()
        requests, silent_since = 0, 0.0
        while True:
            await self._wait_for_quiescence()
            if self._server.requests.total() != requests:
                requests, silent_since = self._server.requests.total(), self._clock.now
            asked = self._alone or has_asked_for_pods(self._server)
            deadline = self._next_deadline()
            if asked and (deadline is None or deadline > min(silent_since + STARTUP_SILENCE, LEAD)):
                break
            if deadline is None:
                raise RunFailed("the scheduler has not asked for pods, and waits for something that will not come")
            if deadline > LEAD:
                raise RunFailed(f"the scheduler has not asked for pods within {LEAD:g} s of its own time")
            self._clock.set(deadline)
            await self._start_due()
        await self.advance(0.0)

    async def advance(self, now: float) -> None:
        """Move the scheduler's clock to ``now``: timers that are due fire, before the events of this date are told."""
        self._clock.set(LEAD + now)
        await self._wait_for_quiescence()
        while await self._start_due():
            await self._wait_for_quiescence()

    async def wait(self) -> float:
        """Return when the scheduler is at rest: the present."""
        await self._wait_for_quiescence()
        self.counts.observed += 1
        return monotonic()

    async def came_back(self) -> bool:
        """Return False: the code that waits for the scheduler's process reports its end."""
        return False

    def next_timer(self) -> float | None:
        """Return the simulated second at which the scheduler would wake up by itself."""
        deadline = self._next_deadline()
        return None if deadline is None else round(deadline - LEAD, 6)

    def next_appointment(self) -> float | None:
        """Return the simulated second for which a program beside the scheduler has asked: its start, its waking up."""
        date = earliest(self._starts(), self._clock.next_appointment())
        return None if date is None else round(date - LEAD, 6)

    def _next_deadline(self) -> float | None:
        return earliest(self._clock.next_deadline(), self._watches.next(), self._starts())

    def _starts(self) -> float | None:
        return self._programs.next_date if self._programs is not None else None

    def _inputs(self) -> tuple[int, ...]:
        """Return a value that changes if the scheduler was given something: an event, an answer, a jump of its clock.

        A sleeping scheduler that is given nothing sleeps on. Requests and events that wait for their turn have not been
        given yet. If no client takes turns, each change of an object is an event.
        """
        server, turns = self._server, self._server.turns
        given = (turns.let_through,) if turns.in_use else (server.store.revision, server.requests.total())
        started = sum(program.starts for program in self._programs.programs) if self._programs is not None else 0
        return *given, self._clock.jumps, started

    async def _wait_for_quiescence(self) -> None:
        """Give the scheduler all that waits for it, one by one, each while it rests."""
        turns = self._server.turns
        silent_since, fewest = monotonic(), math.inf
        quiescent = self._inputs() == self._inputs_when_quiescent and not self._server.busy()
        while True:
            events = turns.events
            if not quiescent:
                await self._observe()
            quiescent = False
            if not (self._watches.pass_next() or turns.next()):
                break
            now = monotonic()
            if turns.events != events:
                silent_since, fewest = now, math.inf
            elif turns.waiting < fewest:  # thousands that were sent at once may take minutes on a busy machine
                silent_since, fewest = now, turns.waiting
            elif now - silent_since > self._settings.quiescence_timeout:
                raise not_quiescent(self.counts, ENDLESS, self._settings.quiescence_timeout)
        self._inputs_when_quiescent = self._inputs()

    async def _observe(self) -> None:
        """Return when the scheduler is at rest, and all programs beside it. Raises RunFailed."""
        limit = self._settings.quiescence_timeout
        while True:
            verdict = await wait_within(limit, self._wait, self._clock.processor_time)
            self.counts.nudges = self._clock.nudges
            if not verdict.gone:
                break
            if not await self._take_note():
                # Either the helper that holds the process has to hear of its end before we do, or it is the scheduler,
                # and the code that waits for its process reports that, with exit code and last words.
                await asyncio.sleep(LOOK_EVERY)
        if not verdict.idle:
            raise not_quiescent(self.counts, verdict, limit)

    async def _wait(self, seconds: float) -> Verdict:
        return await self._clock.wait_for_quiescence(timeout=seconds, progress=self._server.requests.total)

    async def _take_note(self) -> bool:
        """Note programs that have ended; False if none has. Raises RunFailed where one of them is needed."""
        try:
            return self._programs is not None and await self._programs.take_note()
        except (ProgramFailed, SchedulerError) as error:
            raise RunFailed(str(error)) from None

    async def _start_next(self) -> bool:
        """Start the next program that has no date; False if there is none. Raises RunFailed."""
        try:
            return self._programs is not None and await self._programs.start_next()
        except SchedulerError as error:
            raise RunFailed(str(error)) from None

    async def _start_due(self) -> bool:
        """Start the programs whose date has come; False if there are none. Raises RunFailed."""
        try:
            return self._programs is not None and await self._programs.start_due()
        except SchedulerError as error:
            raise RunFailed(str(error)) from None


def earliest(*dates: float | None) -> float | None:
    """Return the earliest of these dates; None where there is none."""
    return min((date for date in dates if date is not None), default=None)
