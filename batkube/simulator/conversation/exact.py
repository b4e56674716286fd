"""Batsim's server under the exact control, and the actor that asks the decision process."""

from collections.abc import Iterator
from functools import partial

from batkube.batsim.messages import Message
from batkube.batsim.topology import Host
from batkube.event_queue import Action
from batkube.simulator.controls.exact import ExactControl, Letter
from batkube.simulator.conversation.decisions import Decisions
from batkube.simulator.server.server import Server
from batkube.simulator.time.clock import Clock
from batkube.simulator.time.event_queue import Rank


class ExactConversation:
    """A Conversation: Batsim's server and the actor that asks the decision process."""

    def __init__(
        self,
        control: ExactControl,
        clock: Clock,
        server: Server,
        decisions: Decisions,
        master: Host | None,
        simulation_begins: Message,
    ) -> None:
        self._control = control
        self._clock = clock
        self._server = server
        self._decisions = decisions
        self._master = master
        self._ready = False
        """True if the decision process has answered, and all its decisions are carried out."""
        self._ended = False
        self._asked: Message | None = None
        self._reply = simulation_begins
        self._index = 0
        self._messages = self._play()
        self._next: Message | None = None
        self._stuck = False
        control.launch(Rank.CALL, lambda: control.request(lambda: self._ask(simulation_begins), self._receive))

    # With the decision process

    def next_message(self) -> Message | None:
        if self._next is None and not self._stuck:
            self._go_on()
        message, self._next = self._next, None
        return message

    def answer(self, reply: Message) -> None:
        self._reply = reply
        if not self._ended:
            # At once, so that a decision that cannot be taken is refused in this answer.
            self._go_on()

    def _go_on(self) -> None:
        self._next = next(self._messages, None)
        self._stuck = self._next is None

    def _play(self) -> Iterator[Message]:
        for run in self._control.rounds():
            run()
            if self._asked is not None:
                message, self._asked = self._asked, None
                yield message
                # The actor that asked goes on, in the middle of its round.
                self._index = 0
                self._read()

    # The actor that asks the decision process and brings its decisions to the server

    def _ask(self, message: Message) -> None:
        self._asked = message

    def _read(self) -> None:
        reply, control = self._reply, self._control
        while self._index < len(reply.events):
            index, event = self._index, reply.events[self._index]
            self._index += 1
            handle = self._decisions.read(index, event, reply.now)
            if handle is not None:
                self._at(event.timestamp, partial(control.send, self._master, handle, self._read))
                return
        self._at(reply.now, lambda: control.send(self._master, self._become_ready))

    def _at(self, timestamp: float, then: Action) -> None:
        wait = timestamp - self._clock.seconds
        if wait > 0:
            self._control.wait(wait, Rank.CALL, then)
        else:
            then()

    def _become_ready(self) -> None:
        self._ready = True

    # The server

    def _receive(self) -> None:
        self._control.receive(self._serve)

    def _serve(self, letter: Letter) -> Action:
        def serve() -> None:
            self._make(self._control.handle(letter.handle))

        call_back = letter.call_back
        return serve if call_back is None else lambda: self._control.call_back(self._master, call_back, serve)

    def _make(self, actors: list[Action]) -> None:
        """Let actors begin, one in each round; then decide on the server's next step."""
        if actors:
            self._control.request(actors.pop(0), lambda: self._make(actors))
        elif self._ready:
            # Batsim looks into the mailbox when it has found it.
            self._control.request(self._speak)
        else:
            self._receive()

    def _speak(self) -> None:
        """Ask the decision process if there is something to say, and no message waits to be handled."""
        if not self._control.mailbox and (message := self._message()) is not None:
            self._ready = False
            # Jobs are forgotten after the first event of the reply has been read.
            self._control.request(lambda: self._ask(message), self._forget)
        else:
            self._receive()

    def _message(self) -> Message | None:
        if self._server.outbox.events:
            return self._server.tell()
        if self._server.finished and not self._ended:
            self._ended = True
            return self._server.end()
        return None

    def _forget(self) -> None:
        self._server.forget()
        self._receive()
