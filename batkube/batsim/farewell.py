"""An orderly end of Batsim when we cannot go on.

Batsim's REQ socket waits for an answer for ever: a Batsim that the user has started would hang, and one that we have
started would leave its files half written. It ends by itself, with all its files written, when every job is rejected or
killed (Batsim 4 sends SIMULATION_ENDS when nothing is left to submit, to run or to call), or when it is told to stop
(ForceSimulationStop of Batsim 5). If that takes too long, or its messages cannot be read, a broken answer makes it
abort at once.
"""

import asyncio
from enum import StrEnum

from batkube.batsim import messages as m
from batkube.batsim.endpoint import Endpoint
from batkube.batsim.errors import ProtocolError, SimulatorDied, SimulatorError

IN_ORDER_WITHIN = 10.0
"""Real seconds within which Batsim must end in order."""
CALLS_WITHIN = 3.0
"""Real seconds within which a Batsim that was there before us calls.

ZeroMQ tries to connect ten times a second, but the machine may be busy. A Batsim that is missed waits for ever.
"""


class Dismissal(StrEnum):
    """The end of Batsim, as a text for the user."""

    NOBODY = ""
    """No Batsim was there, or it had ended."""
    IN_ORDER = "Batsim was told to give up its jobs, and came to its end"
    ABORTED = "Batsim was made to abort"


class Conversation:
    """A Simulator: an Endpoint, with a table of the jobs of the Batsim that is connected, so that it can be ended."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._waiting: dict[str, None] = {}
        self._running: dict[str, None] = {}
        """The running jobs that were not told to be killed."""
        self._registering = False
        self._unanswered: m.Message | None = None
        self._called = False
        self._over = True

    @property
    def waits_for_us(self) -> bool:
        """True if Batsim waits for an answer."""
        return self._unanswered is not None

    async def receive(self) -> m.Message:
        """Return the next message, as Endpoint does."""
        try:
            message = await self.endpoint.receive()
        except SimulatorDied:
            self._over = True
            raise
        except ProtocolError:
            self._called = self._over = True
            raise
        self._called = True
        self._unanswered = message
        for event in message.events:
            self._heard(event)
        return message

    async def send(self, reply: m.Message) -> None:
        """Answer the message received last, as Endpoint does."""
        await self.endpoint.send(reply)
        ending = self._unanswered is not None and any(isinstance(e, m.SimulationEnds) for e in self._unanswered.events)
        self._unanswered = None
        self._over = ending
        for event in reply.events:
            self._said(event)

    async def close(self) -> None:
        """Close the endpoint."""
        await self.endpoint.close()

    async def dismiss(self, *, callers_within: float = 0.0) -> Dismissal:
        """End the Batsim whose simulation goes on, and all that wait for their turn.

        ``callers_within``: real seconds for which a Batsim is waited for if none has called yet.
        """
        if callers_within and not self._called:
            await self._somebody_calls(callers_within)
        try:
            async with asyncio.timeout(IN_ORDER_WITHIN):
                done = Dismissal.NOBODY
                while not self._over:
                    done = Dismissal.IN_ORDER
                    message = self._unanswered or await self.receive()
                    await self.send(self._parting_words(message))
                    await asyncio.sleep(0)  # a quick Batsim must not keep the time-out from being seen
        except SimulatorDied:
            done = Dismissal.NOBODY
        except (SimulatorError, TimeoutError):
            done = Dismissal.ABORTED
        if await self.endpoint.abort():
            done = Dismissal.ABORTED
        self._over = True
        self._unanswered = None
        return done

    async def _somebody_calls(self, within: float) -> None:
        try:
            async with asyncio.timeout(within):
                await self.receive()
        except (TimeoutError, SimulatorError):
            return

    def _parting_words(self, message: m.Message) -> m.Message:
        decisions: list[m.Event] = []
        now = message.now
        if any(isinstance(event, m.SimulationEnds) for event in message.events):
            pass
        elif (self.endpoint.protocol or "").startswith("v5"):
            decisions.append(m.ForceSimulationStop(timestamp=now))
        else:
            decisions += [
                m.RejectJob(timestamp=now, data=m.RejectJobData(job_id=job_id)) for job_id in list(self._waiting)
            ]
            if self._running:
                decisions.append(m.KillJob(timestamp=now, data=m.KillJobData(job_ids=list(self._running))))
            if self._registering:
                done = m.NotifyData(type="registration_finished")
                decisions.append(m.Notify(timestamp=now, data=done))
        return m.Message(now=message.now, events=decisions)

    def _heard(self, event: m.Event) -> None:
        match event:
            case m.SimulationBegins():
                self._over = False
                self._waiting, self._running = {}, {}
                self._registering = event.data.config.dynamic_jobs_enabled
            case m.JobSubmitted():
                self._waiting[event.data.job_id] = None
            case m.JobCompleted():
                self._running.pop(event.data.job_id, None)

    def _said(self, event: m.Event) -> None:
        match event:
            case m.ExecuteJob():
                self._waiting.pop(event.data.job_id, None)
                self._running[event.data.job_id] = None
            case m.RejectJob():
                self._waiting.pop(event.data.job_id, None)
            case m.KillJob():
                for job_id in event.data.job_ids:
                    self._running.pop(job_id, None)
            case m.Notify() if event.data.type == "registration_finished":
                self._registering = False
            case m.RegisterJob():
                self._waiting[event.data.job_id] = None


async def dismiss_callers(address: str) -> Dismissal:
    """End a Batsim that calls at ``address``, where no simulation will run. One that does not call is left alone."""
    try:
        by_hand = Conversation(Endpoint(address))
    except SimulatorError:
        return Dismissal.NOBODY
    try:
        return await by_hand.dismiss(callers_within=CALLS_WITHIN)
    finally:
        await by_hand.close()
