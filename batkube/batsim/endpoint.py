"""The socket at which Batsim calls: Batsim connects (ZeroMQ REQ) and asks, we bind and answer."""

import asyncio
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import zmq
from zmq.utils.monitor import parse_monitor_message

from batkube.batsim.codec import decode, encode
from batkube.batsim.errors import ProtocolError, SimulatorDied, SimulatorError
from batkube.batsim.messages import Message, SimulationEnds

DEFAULT_ENDPOINT = "tcp://127.0.0.1:28000"
"""Where Batsim calls unless its option ``-s`` says otherwise."""
MAX_PORT = 65535
LINGER = 2000
"""Milliseconds for which an answer on its way may keep a closed socket open."""

_WATCHED = zmq.EVENT_ACCEPTED | zmq.EVENT_DISCONNECTED | zmq.EVENT_CLOSED


@dataclass(frozen=True)
class _Request:
    """A message with the way back to its sender."""

    identity: bytes
    connection: int
    """Number of the connection it came by; 0 for one that is closed already."""
    text: bytes


class Endpoint:
    """A Simulator: whichever Batsim calls. One simulation after the other may be run through it.

    A second Batsim that calls during a simulation waits until that is over. A Batsim that hangs up is noticed at once,
    since the operating system tells of the closed connection.
    """

    def __init__(self, address: str = DEFAULT_ENDPOINT) -> None:
        """Bind to ``tcp://HOST:PORT`` (port 0 or ``*``: a free one) or ``ipc://PATH``. Raises SimulatorError."""
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
            raise SimulatorError(
                f"cannot listen for Batsim at {address}: {zmq.strerror(error.errno or 0)}{hint}"
            ) from None
        self.address: str = self._socket.getsockopt_string(zmq.LAST_ENDPOINT).rstrip("\0")
        """The real endpoint, with the port taken."""
        self._connections: dict[int, int] = {}
        """File descriptor to the number of the connection it stands for now: descriptors are used again."""
        self._accepted = 0
        self._peer: _Request | None = None
        """The last request of the Batsim whose simulation is under way."""
        self._answered = True
        self._ending = False
        self._others: deque[_Request] = deque()

    async def receive(self) -> Message:
        """The next message of the simulation under way, or the first of another one."""
        if not self._answered:
            raise SimulatorError("the last message has not been answered yet")
        request = await self._next_request()
        self._peer = request
        try:
            message = decode(request.text)
        except ProtocolError:
            self._peer = None
            raise
        self._answered = False
        self._ending = any(isinstance(event, SimulationEnds) for event in message.events)
        return message

    async def send(self, reply: Message) -> None:
        """Answer the message received last."""
        if self._peer is None or self._answered:
            raise SimulatorError("there is no message to answer")
        self._socket.send_multipart([self._peer.identity, b"", encode(reply)])
        self._answered = True
        if self._ending:
            self._peer = None

    async def close(self) -> None:
        """Stop listening. What was sent still goes out."""
        if self._socket.closed:
            return
        self._socket.unbind(self.address)
        try:
            # The port is free only when ZeroMQ's own thread has seen to it.
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
        """The next request of anybody; None when the peer of the simulation under way has hung up before."""
        while True:
            if request := self._read():
                return request
            self._update_connections()
            if self._peer is not None and self._peer.connection not in self._connections.values():
                # What it said last may have come in between.
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
        """What has become of connections since the last look."""
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
            # ZeroMQ's descriptors tell of changes alone, so what has come already must be asked for.
            if not any(int(socket.get(zmq.EVENTS)) & zmq.POLLIN for socket in sockets):
                await changed
        finally:
            for socket in sockets:
                loop.remove_reader(socket.fileno())


def _check_port(address: str) -> None:
    """ZeroMQ takes a port that is too large for another one."""
    port = address.rpartition(":")[2]
    if address.startswith("tcp://") and port.isdecimal() and int(port) > MAX_PORT:
        raise zmq.ZMQError(zmq.EINVAL)
