"""Rest of a scheduler that lives on the simulated clock: it is observed, and its timers are known."""

import asyncio
import time

from batkube.bridge.errors import RunFailed
from batkube.bridge.rest import has_asked_for_pods, not_at_rest
from batkube.clock.oracle import IdleOracle
from batkube.clock.simulated import SimulatedClock
from batkube.kube.deadlines import Deadlines
from batkube.kube.server import ApiServer
from batkube.results.manifest import Rest as RestCounts
from batkube.settings import StepSettings

LEAD = 60.37
"""Simulated seconds that a scheduler has for starting up, before the simulation begins at 0.

No whole number: a scheduler may count its ticks (each second, say) from its start, and events are often dated at whole
seconds.
"""
AHEAD = 0.00025
"""Simulated seconds by which its wall clock is ahead of the simulation.

Other ticks come at whole seconds of the wall clock, and the nanoseconds that its readings of it have taken. So they are
due when an event of that second comes, and not a moment later, while the scheduler reacts. With what
``clock.simulated.CYCLE`` adds it is less than a millisecond.
"""
STARTUP_SILENCE = 2.0
"""Simulated seconds without a request after which a scheduler has started up."""


def scheduler_clock(epoch: float, oracle: IdleOracle) -> SimulatedClock:
    """The clock for a scheduler in a simulation that begins at ``epoch`` (Unix seconds)."""
    return SimulatedClock(epoch - LEAD + AHEAD, oracle)


class RestOnSimulatedClock:
    """Rest of the processes that were started on ``clock``, which shows LEAD at simulated second 0."""

    knows_timers = True

    def __init__(self, server: ApiServer, settings: StepSettings, clock: SimulatedClock) -> None:
        self.counts = RestCounts()
        self._server = server
        self._settings = settings
        self._clock = clock
        self._watches = Deadlines(lambda: clock.now)
        """When watches end that the scheduler has asked for."""
        server.end_watches_by(self._watches)
        self._rested: tuple[int, int, int] | None = None
        """What there had been to stir it when it last came to rest."""

    def close(self) -> None:
        """The clock belongs to whoever started the processes."""

    async def start(self) -> None:
        """Follow the scheduler's timers until it has asked for pods and says nothing more for a moment of its time."""
        requests, silent_since = 0, 0.0
        while True:
            await self._at_rest()
            if self._server.requests.total() != requests:
                requests, silent_since = self._server.requests.total(), self._clock.now
            asked = has_asked_for_pods(self._server)
            deadline = self._next_deadline()
            if asked and (deadline is None or deadline > min(silent_since + STARTUP_SILENCE, LEAD)):
                break
            if deadline is None:
                raise RunFailed("the scheduler has not asked for pods, and waits for something that will not come")
            if deadline > LEAD:
                raise RunFailed(f"the scheduler has not asked for pods within {LEAD:g} s of its own time")
            self._clock.set(deadline)
        await self.advance(0.0)

    async def advance(self, now: float) -> None:
        """It is ``now``: timers that are due fire, before the events of this date are told."""
        self._clock.set(LEAD + now)
        await self._at_rest()

    async def wait(self) -> float:
        """Return when the scheduler is at rest: now."""
        await self._at_rest()
        self.counts.observed += 1
        return time.monotonic()

    def next_timer(self) -> float | None:
        """The simulated second at which it would wake up by itself."""
        deadline = self._next_deadline()
        return None if deadline is None else round(deadline - LEAD, 6)

    def _next_deadline(self) -> float | None:
        dates = [date for date in (self._clock.next_deadline(), self._watches.next()) if date is not None]
        return min(dates, default=None)

    def _stirring(self) -> tuple[int, int, int]:
        """Changes if the scheduler was given something since: a change of an object, an answer, a jump of its clock.

        Asleep, and without any of these, it sleeps on.
        """
        return self._server.store.revision, self._server.requests.total(), self._clock.jumps

    async def _at_rest(self) -> None:
        while True:
            due = self._watches.next()
            if (due is None or due > self._clock.now) and self._stirring() == self._rested and not self._server.busy():
                return
            self._watches.pass_due()
            verdict = await self._clock.at_rest(
                timeout=self._settings.rest_timeout, progress=self._server.requests.total
            )
            self.counts.nudges = self._clock.nudges
            if verdict.gone:
                # Its end is told by whoever waits for the process, with exit code and last words.
                await asyncio.Event().wait()
            if not verdict.idle:
                raise not_at_rest(self.counts, verdict, self._settings.rest_timeout)
            self._rested = self._stirring()
