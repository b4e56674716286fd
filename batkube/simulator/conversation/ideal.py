"""Batsim's server under the ideal control, and the decisions of the decision process, each at its date."""

from batkube.batsim.messages import Message
from batkube.simulator.controls.control import Handle
from batkube.simulator.controls.ideal import IdealControl
from batkube.simulator.conversation.decisions import Decisions
from batkube.simulator.server.server import Server
from batkube.simulator.time.clock import Clock
from batkube.simulator.time.dates import is_later, picoseconds


class IdealConversation:
    """A Conversation with ideal dates."""

    def __init__(
        self, control: IdealControl, clock: Clock, server: Server, decisions: Decisions, simulation_begins: Message
    ) -> None:
        self._simulation_begins: Message | None = simulation_begins
        self._control = control
        self._clock = clock
        self._server = server
        self._decisions = decisions
        self._said = 0.0
        """The date of the last message."""

    def next_message(self) -> Message | None:
        if self._simulation_begins is not None:
            simulation_begins, self._simulation_begins = self._simulation_begins, None
            return simulation_begins
        control, server = self._control, self._server
        while not server.outbox.events:
            if server.finished:
                return self._remember(server.end())
            date = control.next_date
            if date is None:
                return None
            control.advance(date)
        message = self._remember(server.tell())
        server.forget()
        return message

    def _remember(self, message: Message) -> Message:
        self._said = message.now
        return message

    def answer(self, reply: Message) -> None:
        # As in Batsim, an event is read before the decision of the one before is carried out.
        waiting: Handle | None = None
        for index, event in enumerate(reply.events):
            handle = self._decisions.read(index, event, reply.now)
            if waiting is not None:
                self._control.decide(waiting)
            # Each takes effect at its date, and at once if its date is in the past.
            self._wait_until(event.timestamp)
            waiting = handle
        if waiting is not None:
            self._control.decide(waiting)
        self._wait_until(reply.now)

    def _wait_until(self, timestamp: float) -> None:
        if timestamp <= self._said:
            return
        date = picoseconds(timestamp)
        if is_later(date, self._clock.now):
            self._control.advance(date)
