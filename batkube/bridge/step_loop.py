"""The step loop: Batsim stands still while the cluster is brought up to date and the scheduler reacts."""

import asyncio
from collections.abc import Callable

from batkube.batsim.messages import Message, SimulationEnds
from batkube.batsim.simulator import Simulator
from batkube.bridge.deadlock import give_up
from batkube.bridge.decision_time import ZERO
from batkube.bridge.decisions import SOONEST
from batkube.bridge.quiescence import POLL, Quiescence
from batkube.bridge.simulation import Simulation
from batkube.bridge.step_settings import OnDeadlock, StepSettings
from batkube.bridge.timers import FLUSH, FLUSH_PERIOD, LAST_APPOINTMENTS, LAST_STOPS, TimerPolicy
from batkube.bridge.vigil import Vigil
from batkube.clock.pace import Pace

LOOK_EVERY = 0.05
"""Real seconds between two looks at actions of users, at a pace with a scheduler on the simulated clock."""
TAKE_EVERY, TAKE_SELDOM = 0.01, 0.5
"""Real seconds between two looks at actions at a pace: while pods wait, and while only users may act."""


class StepLoop:
    """Runs one simulation to its end, each message at the date that ``pace`` has for it.

    ``on_step`` is called after each message with the simulation up to date, to show progress. ``retries_on_events``:
    the scheduler has tried all that it can place when it rests, so that its timers let it place no pod where none could
    be placed.
    """

    def __init__(
        self,
        simulator: Simulator,
        simulation: Simulation,
        quiescence: Quiescence,
        settings: StepSettings,
        on_step: Callable[[], None] = lambda: None,
        pace: Pace | None = None,
        *,
        retries_on_events: bool = False,
    ) -> None:
        self._pace = pace or Pace()
        self._simulator = simulator
        self._simulation = simulation
        self._quiescence = quiescence
        self._settings = settings
        self._on_step = on_step
        self._retries_on_events = retries_on_events
        self._timers = TimerPolicy(settings.timers, settings.timer_window)
        self._changed = 0.0
        self._last_stops = 0
        """The number of stops at timers since then that were made only because nothing else was to come."""
        self._vigil = Vigil()
        """The watch over jobs that wait while nothing is to come that anybody waits for."""
        self._vain_stops, self._vain_stop = 0, 0.0
        """The number of stops at timers since they have waited for too long, and the date of the last."""
        self._active = 0.0
        """The moment at which something happened last, by ``Pace.unpaused``."""

    async def run(self, first: Message | None = None) -> None:
        """Run until Batsim says that the simulation ends. ``first``: a message received already.

        Raises RunFailed (the scheduler does not come to rest, nothing can happen any more, a guarantee is broken),
        InputError, and the simulator's own errors.
        """
        simulation, pace, decisions = self._simulation, self._pace, self._simulation.decisions
        done, looked_since = 0, None
        pace.begin()
        try:
            await self._quiescence.start()
            while not simulation.over:
                message = first or await self._simulator.receive()
                first = None
                look = decisions.is_look(message)
                await pace.until(message.now, look=look)
                if look and simulation.revision == done:
                    decisions.told(message.now)
                    looked_since = simulation.time.now if looked_since is None else looked_since
                    self._look_again(message.now)
                    await self._simulator.send(simulation.reply())
                    continue
                if looked_since is not None and all(isinstance(event, SimulationEnds) for event in message.events):
                    message = _told_at(message, looked_since)  # it ended then, and has only waited for the look
                looked_since = None
                simulation.foretell(message)
                await self._quiescence.advance(message.now)
                if await simulation.apply(message, self._one_by_one):
                    self._note_change()
                    self._active = pace.unpaused()
                self._on_step()
                if pace.factor is not None and not self._quiescence.knows_timers:
                    if simulation.unfinished and await self._quiescence.came_back():
                        pace.set(pace.factor)  # the time without a scheduler is not made up for
                    self._take(pace.factor)
                elif not simulation.over:
                    await self._decide()
                    self._look_again(simulation.time.now)
                done = simulation.revision
                await self._simulator.send(simulation.reply())
        finally:
            pace.end()

    def _look_again(self, now: float) -> None:
        """Let Batsim call soon, at a pace: actions of users take effect then, and not only at the next event."""
        if self._pace.factor is not None and self._simulation.unfinished:
            self._simulation.decisions.look_at(now + max(self._pace.factor * LOOK_EVERY, SOONEST))

    async def _one_by_one(self) -> None:
        """Let the scheduler handle one event before it is told the next of the same date.

        Otherwise the pod that it tries first of two depends on a race within it: whether it has heard of the second, of
        a higher priority, when it takes the first out of its queue.
        """
        if not self._quiescence.one_by_one:
            return
        if self._simulation.reactions.decision_time == ZERO:
            await self._react()
        else:  # one reaction to all events of a date
            await self._quiescence.wait()

    def _take(self, factor: float) -> None:
        """Take what was done by now, and wait for nothing: at a pace, a scheduler on the real clock takes its time.

        Batsim is asked to stop again soon, so that later actions get the date of that stop.
        """
        simulation, pace = self._simulation, self._pace
        if simulation.over:
            return
        simulation.reactions.at_pace = True
        if simulation.settle():
            self._active = pace.unpaused()
        served = simulation.control.any_unplaced
        if simulation.control.any_waiting and not simulation.expects_events:
            idle = pace.unpaused() - self._active
            if idle > self._settings.patience or not served:
                if not (
                    simulation.gangs.give_way()
                    or simulation.gangs.resume(at_last=True)
                    or simulation.clients.give_up_placing()
                ):
                    self._give_up()
                self._active = pace.unpaused()
        if simulation.unfinished:
            wait = factor * (TAKE_EVERY if served else TAKE_SELDOM)
            simulation.decisions.call_later(simulation.time.now + max(wait, SOONEST))

    def _give_up(self) -> None:
        simulation = self._simulation
        lenient = self._settings.on_deadlock is OnDeadlock.REJECT or simulation.registration.until > 0
        if lenient and simulation.clients.give_up_starting():
            return
        give_up(simulation.control, simulation.submissions.unserved, self._settings.on_deadlock)

    async def _decide(self) -> None:
        """Let the scheduler react until it rests and nothing is left to do at this date."""
        await self._react()
        self._stop_at_timers()
        simulation = self._simulation
        while simulation.control.any_waiting and (not simulation.expects_more or self._waits_in_vain()):
            if not (await self._stirs() or simulation.gangs.give_way() or simulation.gangs.resume(at_last=True)):
                if self._last_stops < LAST_STOPS and self._stop_at_timers(at_last=True):
                    self._last_stops += 1
                    continue
                if not (await self._quiescence.came_back() or simulation.clients.give_up_placing()):
                    self._give_up()
            await self._react()
            self._stop_at_timers()

    def _waits_in_vain(self) -> bool:
        """Tell whether the same jobs have waited for as long as a scheduler takes to try them again by itself.

        Servers that are started again and again, which nobody waits for, would keep a simulation going for ever. As a
        scheduler may look only once an hour, some of its timers are followed first.
        """
        simulation = self._simulation
        waiting = () if simulation.expects_events else simulation.control.awaited
        asked_for = self._quiescence.next_appointment() is not None
        waited = self._vigil.length(waiting, simulation.time.now, begins=asked_for)
        if not waiting or waited <= FLUSH + FLUSH_PERIOD + self._settings.timer_window:
            self._vain_stops = 0
            return False
        if simulation.time.now >= self._vain_stop:
            self._vain_stops += 1
            self._vain_stop = self._quiescence.next_timer() or 0.0
        return self._vain_stops > LAST_STOPS or not self._stop_at_timers(at_last=True)

    async def _react(self) -> None:
        await self._reaction()
        while self._simulation.settle():
            self._note_change()
            await self._reaction()

    async def _reaction(self) -> None:
        """Wait until the scheduler, which was told something, rests. Move time on by what that lasted."""
        simulation = self._simulation
        simulation.reactions.begin()
        quiescent_since = await self._quiescence.wait()
        if simulation.reactions.end(quiescent_since, acted=simulation.acted):
            await self._quiescence.advance(simulation.time.now)

    def _stop_at_timers(self, *, at_last: bool = False) -> bool:
        """Let Batsim call when the scheduler would wake up by itself, if that may change something; True if so.

        ``at_last``: nothing else will ever happen.
        """
        simulation = self._simulation
        if not (self._quiescence.knows_timers and (simulation.unfinished or simulation.waits_for_scheduler)):
            return False
        kept = self._keep_appointment(self._quiescence.next_appointment())
        stop = self._timers.next_stop(
            now=simulation.time.now,
            changed=self._changed,
            deadline=self._quiescence.next_timer(),
            waiting=simulation.waits_for_scheduler,
            more_to_come=simulation.expects_more,
            until=simulation.registration.until,
            in_vain=self._retries_on_events and self._no_room_until_an_event(),
            at_last=at_last,
        )
        if stop is not None:
            simulation.decisions.call_later(stop)
        return kept or stop is not None

    def _no_room_until_an_event(self) -> bool:
        """Tell whether no pod can be placed before something happens: exclusive hosts, all taken.

        False soon after a binding was refused: the scheduler may try that pod again within its back-off, and the pod
        that it tries first when there is room depends on when it did.
        """
        simulation, cluster = self._simulation, self._simulation.cluster
        tried_again = simulation.time.now <= cluster.last_refusal + self._settings.timer_window
        return simulation.expects_events and cluster.occupancy.full and not tried_again

    def _keep_appointment(self, date: float | None) -> bool:
        """Let Batsim call when somebody has asked for it; False if nobody has, or too often in vain."""
        simulation = self._simulation
        if date is None:
            return False
        if not simulation.expects_events:
            self._last_stops += 1
            if self._last_stops > LAST_APPOINTMENTS:
                return False
        simulation.decisions.call_later(max(date, simulation.time.now + SOONEST))
        return True

    def _note_change(self) -> None:
        self._changed, self._last_stops = self._simulation.time.now, 0

    async def _stirs(self) -> bool:
        """Tell whether the scheduler, though at rest, acts on the pods by itself before our patience ends."""
        if self._quiescence.knows_timers or not self._simulation.control.any_unplaced:
            return False
        end = self._pace.unpaused() + self._settings.patience
        while (left := end - self._pace.unpaused()) > 0:
            try:
                await asyncio.wait_for(self._simulation.wait_for_change(), max(left, POLL))
            except TimeoutError:
                continue  # unless it was paused meanwhile, which does not count
            return True
        return False


def _told_at(message: Message, date: float) -> Message:
    """Return the message as if it had been sent at ``date``."""
    return Message(now=date, events=[event.model_copy(update={"timestamp": date}) for event in message.events])
