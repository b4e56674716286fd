"""The socket at which Batsim calls: Batsim connects (ZeroMQ REQ) and asks, we bind and answer."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import zmq
from zmq.utils.monitor import parse_monitor_message

from batkube.batsim.batprotocol.codec import BatprotocolCodec
from batkube.batsim.batprotocol.handshake import is_init
from batkube.batsim.codec import Codec, JsonCodec
from batkube.batsim.errors import EndpointError, ProtocolError, SimulatorDied, SimulatorError
from batkube.batsim.messages import Message, SimulationEnds

DEFAULT_ENDPOINT = "tcp://127.0.0.1:28000"
"""The address at which Batsim calls unless its option ``-s`` names another."""
MAX_PORT = 65535
ABORTED_WITHIN = 5.0
"""Real seconds within which a Batsim that simulates comes to the next message, so that it can be made to abort."""
LINGER = 2000
"""Milliseconds for which an answer on its way may keep a closed socket open."""

NO_ANSWER = b"{}"
"""The answer that every Batsim takes for a broken message."""

Direction = Literal["batsim->edc", "edc->batsim"]
"""The sender: Batsim, or the external decision component, which is us."""
OnExchange = Callable[[Direction, bytes], None]

_WATCHED = zmq.EVENT_ACCEPTED | zmq.EVENT_DISCONNECTED | zmq.EVENT_CLOSED


@dataclass(frozen=True)
class _Request:
    """A message, with the identity of its sender."""

    identity: bytes
    connection: int
    """The number of the connection it came by; 0 for one that is closed already."""
    text: bytes


class Endpoint:
    """A Simulator: the Batsim that calls. One simulation after the other may be run through it.

    Each simulation may be of another version: its first bytes tell which protocol it speaks. With Batsim 5 the
    handshake is done here; its first message is SIMULATION_BEGINS, as in other versions.

    A second Batsim that calls during a simulation waits until that is over. A Batsim that hangs up is noticed at once,
    because the operating system tells of the closed connection.
    """

    def __init__(self, address: str = DEFAULT_ENDPOINT, *, on_exchange: OnExchange | None = None) -> None:
        """Bind to ``tcp://HOST:PORT`` (port 0 or ``*``: a free one) or ``ipc://PATH``.

        ``on_exchange`` sees all bytes of both sides, before Batsim's are read and ours are sent. Raises SimulatorError.
        """
        self.on_exchange = on_exchange
        self._codec: Codec | None = None
        """The codec of the current simulation."""
        # A ROUTER speaks REP's protocol, and tells which peer asks.
        self._socket: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.ROUTER)
        self._socket.setsockopt(zmq.LINGER, LINGER)
        self._monitor: zmq.Socket[bytes] = self._socket.get_monitor_socket(_WATCHED)
        try:
            _check_port(address)
            self._socket.bind(address)
        except zmq.ZMQError as error:
            self._close_sockets()
            hint = " (another batkube, or an earlier one?)" if error.errno == zmq.EADDRINUSE else ""
            raise EndpointError(
                f"cannot listen for Batsim at {address}: {zmq.strerror(error.errno or 0)}{hint}"
            ) from None
        self.address: str = self._socket.getsockopt_string(zmq.LAST_ENDPOINT).rstrip("\0")
        """The real endpoint, with the port that was taken."""
        self._connections: dict[int, int] = {}
        """The number of the connection that each file descriptor stands for now: descriptors are used again."""
        self._accepted = 0
        self._peer: _Request | None = None
        """The last request of the Batsim whose simulation goes on."""
        self._answered = True
        self._ending = False
        self._others: deque[_Request] = deque()
        self._unread: _Request | None = None
        """The last request that could not be read."""

    async def receive(self) -> Message:
        """Return the next message of the current simulation, or the first one of another simulation."""
        if not self._answered:
            raise SimulatorError("the last message has not been answered yet")
        try:
            message = await self._next_message()
        except ProtocolError:
            self._unread, self._peer = self._peer, None
            raise
        self._answered = False
        self._ending = any(isinstance(event, SimulationEnds) for event in message.events)
        return message

    async def _next_message(self) -> Message:
        new = self._peer is None
        request = await self._next_request()
        self._peer = request
        self._note("batsim->edc", request.text)
        if new:
            self._codec = JsonCodec()
            if is_init(request.text):
                self._codec = codec = self._greeting_codec(request.text)
                self._answer(codec.greeting)
                return await self._next_message()
        assert self._codec is not None
        return self._codec.decode(request.text)

    def _greeting_codec(self, init: bytes) -> BatprotocolCodec:
        try:
            return BatprotocolCodec(init)
        except ProtocolError:
            # Batsim ends if the answer is too short for a hello; else it would wait for ever.
            self._answer(b"")
            raise

    @property
    def protocol(self) -> str | None:
        """The protocol of the last simulation: ``v4`` (and 3), ``v5-json`` or ``v5-binary``; None before the first."""
        return self._codec.protocol if self._codec else None

    async def send(self, reply: Message) -> None:
        """Answer the message received last. Raises ProtocolError if Batsim's version does not know a decision."""
        if self._peer is None or self._answered or self._codec is None:
            raise SimulatorError("there is no message to answer")
        self._answer(self._codec.encode(reply))
        self._answered = True
        if self._ending:
            self._peer = None

    def _answer(self, content: bytes) -> None:
        assert self._peer is not None
        self._note("edc->batsim", content)
        self._socket.send_multipart([self._peer.identity, b"", content])

    def _note(self, direction: Direction, content: bytes) -> None:
        if self.on_exchange is not None:
            self.on_exchange(direction, content)

    async def abort(self) -> bool:
        """Send each Batsim that would wait for ever a broken answer, on which it ends; tell whether there was any.

        The Batsim whose simulation goes on may be about to send a message: it has ABORTED_WITHIN real seconds for that.
        """
        waiting = [self._unread, None if self._answered else self._peer]
        try:
            async with asyncio.timeout(ABORTED_WITHIN):
                if self._peer is not None and self._answered:
                    waiting.append(await self._next_request())
        except (TimeoutError, SimulatorError):
            pass
        while request := self._read():
            waiting.append(request)
        waiting = [request for request in (*waiting, *self._others) if request is not None]
        for request in waiting:
            assert request is not None
            self._socket.send_multipart([request.identity, b"", NO_ANSWER])
        self._others.clear()
        self._unread = self._peer = None
        self._answered = True
        return bool(waiting)

    async def close(self) -> None:
        """Stop listening. Messages that were sent still go out."""
        if self._socket.closed:
            return
        self._socket.unbind(self.address)
        try:
            # The port is free only when ZeroMQ's own thread has closed it.
            async with asyncio.timeout(LINGER / 1000):
                while not any(event["event"] == zmq.EVENT_CLOSED for event in self._news()):
                    await self._change()
        except TimeoutError:
            pass
        finally:
            self._close_sockets()

    def _close_sockets(self) -> None:
        self._socket.disable_monitor()
        self._socket.close()

    async def _next_request(self) -> _Request:
        if self._peer is None and self._others:
            return self._others.popleft()
        while True:
            request = await self._request_or_hangup()
            if request is None:
                assert self._peer is not None
                self._peer = None
                raise SimulatorDied(f"Batsim at {self.address}")
            if self._peer is None or request.identity == self._peer.identity:
                return request
            self._others.append(request)

    async def _request_or_hangup(self) -> _Request | None:
        """Return the next request of any Batsim; None if the one whose simulation goes on has hung up before."""
        while True:
            if request := self._read():
                return request
            self._update_connections()
            if self._peer is not None and self._peer.connection not in self._connections.values():
                # Its last request may have come in between.
                return self._read()
            await self._change()

    def _read(self) -> _Request | None:
        try:
            frames = self._socket.recv_multipart(zmq.NOBLOCK, copy=False)
        except zmq.Again:
            return None
        self._update_connections()
        if len(frames) != 3 or frames[1].bytes:
            raise ProtocolError(
                f"{len(frames)} frames came to {self.address}: expected a message of a ZeroMQ REQ socket"
            )
        connection = self._connections.get(int(frames[2].get(zmq.SRCFD)), 0)
        return _Request(frames[0].bytes, connection, frames[2].bytes)

    def _update_connections(self) -> None:
        for event in self._news():
            if event["event"] == zmq.EVENT_ACCEPTED:
                self._accepted += 1
                self._connections[event["value"]] = self._accepted
            else:
                self._connections.pop(event["value"], None)

    def _news(self) -> Iterator[dict[str, Any]]:
        """Yield the changes of connections since the last look."""
        while True:
            try:
                yield dict(parse_monitor_message(self._monitor.recv_multipart(zmq.NOBLOCK)))
            except zmq.Again:
                return

    async def _change(self) -> None:
        """Wait until there may be something to read."""
        loop = asyncio.get_running_loop()
        changed: asyncio.Future[None] = loop.create_future()

        def wake() -> None:
            if not changed.done():
                changed.set_result(None)

        sockets = (self._socket, self._monitor)
        for socket in sockets:
            loop.add_reader(socket.fileno(), wake)
        try:
            # ZeroMQ's descriptors tell of changes only, so what has come already must be asked for.
            if not any(int(socket.get(zmq.EVENTS)) & zmq.POLLIN for socket in sockets):
                await changed
        finally:
            for socket in sockets:
                loop.remove_reader(socket.fileno())


def _check_port(address: str) -> None:
    """Refuse a port that is too large: ZeroMQ takes it for another one."""
    port = address.rpartition(":")[2]
    if address.startswith("tcp://") and port.isdecimal() and int(port) > MAX_PORT:
        raise zmq.ZMQError(zmq.EINVAL)
