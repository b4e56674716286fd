"""The notes on the bytes that come and go on a connection, taken beneath the protocol that speaks there.

With them nobody need ask the kernel about each of dozens of connections to know if anything has moved.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

from uvicorn.protocols.utils import get_remote_addr


class Traffic:
    """The open connections, and those of them that need to be looked at."""

    def __init__(self) -> None:
        self.open: dict[Wire, None] = {}
        """All of them, in the order in which they were opened."""
        self.active: set[Wire] = set()
        """The connections opened, read from or written to since the last call of `take_active`."""
        self.unsent: set[Wire] = set()
        """The connections with written bytes that may still wait for the kernel to take them."""

    def held_up(self) -> list[Wire]:
        """Return the connections with bytes that the kernel does not take: their clients do not read."""
        for wire in list(self.unsent):
            if not wire.get_write_buffer_size():
                self.unsent.discard(wire)
        return [wire for wire in self.unsent if not wire.is_closing()]

    def take_active(self) -> set[Wire]:
        """Return the open connections that were opened, read from or written to since the last call."""
        taken, self.active = self.active, set()
        return taken

    def begin(self, wire: Wire) -> None:
        """Note a connection that was opened."""
        self.open[wire] = None
        self.active.add(wire)

    def forget(self, wire: Wire) -> None:
        """Forget a connection that is closed."""
        self.open.pop(wire, None)
        self.active.discard(wire)
        self.unsent.discard(wire)


class Wire:
    """A connection's transport, as its protocol sees it."""

    def __init__(self, transport: asyncio.Transport, traffic: Traffic) -> None:
        self.moves = 0
        """A number that grows when bytes have come, and when the transport is given bytes to send, which it may send
        later.
        """
        self.answered = False
        """True if bytes were given to the transport after others had come."""
        self.client = get_remote_addr(transport)
        """The address and port of the other end."""
        self._transport = transport
        self._traffic = traffic
        sock = transport.get_extra_info("socket")
        self.fileno: Callable[[], int] = sock.fileno
        self.getsockname: Callable[[], tuple[str, int]] = sock.getsockname
        self.get_write_buffer_size = transport.get_write_buffer_size  # asked of each connection at each look
        self.is_closing = transport.is_closing
        self.getpeername: Callable[[], tuple[str, int]] = sock.getpeername

    def write(self, data: bytes) -> None:
        """Send bytes."""
        if data:
            self.moves += 1
            self.answered = True
            self._traffic.active.add(self)
            self._traffic.unsent.add(self)
            self._transport.write(data)

    def __getattr__(self, name: str) -> Any:
        if name in ("writelines", "set_protocol"):  # they would go round it
            raise AttributeError(name)
        return getattr(self._transport, name)


class WireProtocol(asyncio.Protocol):
    """The protocol between a connection's transport and its protocol."""

    def __init__(self, protocol: asyncio.Protocol, heed: Callable[[], None], traffic: Traffic) -> None:
        """Create a wire; `heed` is called whenever bytes have come."""
        self._protocol = protocol
        self._traffic = traffic
        self._heed = heed

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Show the protocol its transport."""
        self._wire = Wire(cast(asyncio.Transport, transport), self._traffic)
        self._traffic.begin(self._wire)
        self._protocol.connection_made(cast(asyncio.Transport, self._wire))

    def data_received(self, data: bytes) -> None:
        """Note that bytes have come."""
        self._wire.moves += 1
        self._wire.answered = False
        self._traffic.active.add(self._wire)
        self._protocol.data_received(data)
        self._heed()

    def eof_received(self) -> bool | None:
        """Pass the end of the stream on."""
        return self._protocol.eof_received()

    def pause_writing(self) -> None:
        """Pass the request to pause on."""
        self._protocol.pause_writing()

    def resume_writing(self) -> None:
        """Pass the request to resume on."""
        self._protocol.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection, and pass its end on."""
        self._traffic.forget(self._wire)
        self._protocol.connection_lost(exc)
