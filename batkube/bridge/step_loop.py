"""The step loop: Batsim stands still while the cluster is brought up to date and the scheduler reacts."""

import asyncio
from collections.abc import Callable

from batkube.batsim.messages import Message
from batkube.batsim.simulator import Simulator
from batkube.bridge.decision_time import ZERO
from batkube.bridge.errors import Stuck
from batkube.bridge.jobs import Job
from batkube.bridge.rest import POLL, Rest
from batkube.bridge.simulation import Simulation
from batkube.bridge.timers import LAST_STOPS, SOONEST, TimerPolicy
from batkube.clock.pace import Pace
from batkube.settings import OnDeadlock, StepSettings

EXPLAINED_JOBS = 5
"""How many waiting jobs are explained one by one when a run is stuck."""

TAKE_EVERY, TAKE_SELDOM = 0.01, 0.5
"""Real seconds between two looks at what was done at a pace: while pods wait, and while only users may do something."""


class StepLoop:
    """Runs one simulation to its end, each message at the date that ``pace`` has for it.

    ``on_step`` is called after each message with the simulation up to date, for whoever shows progress.
    """

    def __init__(
        self,
        simulator: Simulator,
        simulation: Simulation,
        rest: Rest,
        settings: StepSettings,
        on_step: Callable[[], None] = lambda: None,
        pace: Pace | None = None,
    ) -> None:
        self._pace = pace or Pace()
        self._simulator = simulator
        self._simulation = simulation
        self._rest = rest
        self._settings = settings
        self._on_step = on_step
        self._timers = TimerPolicy(settings.timers, settings.timer_window)
        self._changed = 0.0
        self._last_stops = 0
        """Stops at timers since then that only the lack of anything else to come was a reason for."""
        self._active = 0.0
        """When something happened last, by ``Pace.unpaused``."""

    async def run(self, first: Message | None = None) -> None:
        """Until Batsim says that the simulation ends. ``first``: a message received already.

        Raises RunFailed (the scheduler does not come to rest, nothing can happen any more, a promise is broken),
        InputError, and the simulator's own errors.
        """
        simulation, pace = self._simulation, self._pace
        pace.begin()
        try:
            await self._rest.start()
            while not simulation.over:
                message = first or await self._simulator.receive()
                first = None
                await pace.until(message.now)
                await self._rest.advance(message.now)
                if await simulation.apply(message, self._one_by_one):
                    self._note_change()
                    self._active = pace.unpaused()
                self._on_step()
                if pace.factor is not None and not self._rest.knows_timers:
                    self._take(pace.factor)
                elif not simulation.over:
                    await self._decide()
                await self._simulator.send(simulation.reply())
        finally:
            pace.end()

    async def _one_by_one(self) -> None:
        """Let the scheduler take note of one event before it is told the next of the same date.

        Which of two pods it tries first is else a race within it: whether it has heard of the second, of a higher
        priority, when it takes the first out of its queue.
        """
        if not self._rest.knows_timers:
            return
        if self._simulation.reactions.decision_time == ZERO:
            await self._react()
        else:  # one reaction to all events of a date
            await self._rest.wait()

    def _take(self, factor: float) -> None:
        """Take what was done by now, and wait for nothing: at a pace a scheduler on the real clock takes its time.

        Batsim is asked to stop soon again, where what is done until then gets its date.
        """
        simulation, pace = self._simulation, self._pace
        if simulation.over:
            return
        simulation.reactions.at_pace = True
        if simulation.settle():
            self._active = pace.unpaused()
        served = bool(self._served_and_waiting())
        if simulation.control.waiting() and not simulation.expects_events:
            idle = pace.unpaused() - self._active
            if idle > self._settings.patience or not served:
                if not (simulation.gangs.give_way() or simulation.gangs.resume()):
                    self._stuck()
                self._active = pace.unpaused()
        if simulation.unfinished:
            wait = factor * (TAKE_EVERY if served else TAKE_SELDOM)
            simulation.call_later(simulation.time.now + max(wait, SOONEST))

    async def _decide(self) -> None:
        """Let the scheduler react until it rests and nothing is left to do at this date."""
        await self._react()
        self._stop_at_timers()
        while self._simulation.control.waiting() and not self._simulation.expects_more:
            if not (await self._stirs() or self._simulation.gangs.give_way() or self._simulation.gangs.resume()):
                if self._last_stops < LAST_STOPS and self._stop_at_timers(at_last=True):
                    self._last_stops += 1
                    continue
                self._stuck()
            await self._react()
            self._stop_at_timers()

    async def _react(self) -> None:
        await self._reaction()
        while self._simulation.settle():
            self._note_change()
            await self._reaction()

    async def _reaction(self) -> None:
        """What the scheduler was told of makes it work until it rests. Time moves on by what that lasted."""
        simulation = self._simulation
        simulation.reactions.begin()
        rested = await self._rest.wait()
        if simulation.reactions.end(rested, acted=simulation.acted):
            await self._rest.advance(simulation.time.now)

    def _stop_at_timers(self, *, at_last: bool = False) -> bool:
        """Let Batsim call when the scheduler would wake up by itself, where that may change something; True if so.

        ``at_last``: nothing else will ever happen.
        """
        simulation = self._simulation
        if not (self._rest.knows_timers and simulation.unfinished):
            return False
        stop = self._timers.next_stop(
            now=simulation.time.now,
            changed=self._changed,
            deadline=self._rest.next_timer(),
            waiting=bool(self._served_and_waiting()),
            more_to_come=simulation.expects_more,
            at_last=at_last,
        )
        if stop is not None:
            simulation.call_later(stop)
        return stop is not None

    def _note_change(self) -> None:
        self._changed, self._last_stops = self._simulation.time.now, 0

    def _served_and_waiting(self) -> list[Job]:
        unserved = {job_id for jobs in self._simulation.unserved.values() for job_id in jobs}
        waiting = self._simulation.control.waiting()
        return [job for job in waiting if job.id not in unserved and len(job.nodes) < len(job.pods)]

    async def _stirs(self) -> bool:
        """Whether the scheduler, though at rest, does something with the pods by itself before our patience ends."""
        if self._rest.knows_timers or not self._served_and_waiting():
            return False
        end = self._pace.unpaused() + self._settings.patience
        while (left := end - self._pace.unpaused()) > 0:
            try:
                await asyncio.wait_for(self._simulation.stirred(), max(left, POLL))
            except TimeoutError:
                continue  # unless it was paused meanwhile, which does not count
            return True
        return False

    def _stuck(self) -> None:
        jobs = self._simulation.control.waiting()
        if self._settings.on_deadlock is OnDeadlock.FAIL:
            raise Stuck(self._explain(jobs))
        # Those that the scheduler has spoken of stand in the way of the others (first in, first out); if it has spoken
        # of none, none of them will ever be placed.
        blamed = [job for job in jobs if self._simulation.is_refused(job)]
        for job in blamed or jobs:
            self._simulation.control.reject(job, f"nothing can happen any more; {self._simulation.explain(job)}")

    def _explain(self, jobs: list[Job]) -> str:
        lines = [self._simulation.explain(job) for job in jobs[:EXPLAINED_JOBS]]
        if len(jobs) > EXPLAINED_JOBS:
            lines.append(f"and {len(jobs) - EXPLAINED_JOBS} more")
        return f"nothing can happen any more, and {len(jobs)} jobs wait:\n  " + "\n  ".join(lines)
