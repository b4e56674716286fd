"""A server that gives orders to a long-polling client and knows when the client should be done with one."""

import asyncio
import json
import socket
import ssl
import time
from collections.abc import Callable
from typing import Any, cast

from batkube.kube.http.tls import TlsLayer


class OrderServer:
    """The oracle's ServerSide, and the truth to compare the oracle with.

    GET /wait is answered with the next order; POST /answer brings one of its results. With ``tls`` over HTTPS.
    """

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self._layers: set[TlsLayer] = set()
        self.answers: list[dict[str, Any]] = []
        self.waiting: _Connection | None = None
        self.open: dict[_Connection, None] = {}
        self.last_byte = 0.0
        """``time.perf_counter()`` when the last byte came in."""
        self.heard = 0
        """The number of times that bytes came in."""
        self.heed: Callable[[], None] = lambda: None
        self._server: asyncio.Server | None = None

    async def start(self) -> str:
        """Listen on a free port; the URL."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._connection, "127.0.0.1", 0)
        scheme = "http" if self._tls is None else "https"
        return f"{scheme}://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def stop(self) -> None:
        """Close everything."""
        assert self._server is not None
        self._server.close()
        for transport in self._transports():
            transport.abort()
        await asyncio.sleep(0)

    def order(self, **order: object) -> None:
        """Give the waiting client something to do."""
        assert self.waiting is not None
        self.answers.clear()
        connection, self.waiting = self.waiting, None
        connection.reply(json.dumps(order).encode())

    def done(self, posts: int) -> bool:
        """Tell whether the client has done all it was told and waits for more."""
        return len(self.answers) == posts and self.waiting is not None

    # -- ServerSide

    def busy(self) -> bool:
        return any(layer.holds_bytes for layer in self._layers)

    def when_bytes_come(self, heed: Callable[[], None]) -> None:
        self.heed = heed

    def held_up(self) -> list[socket.socket]:
        held_up = [transport for transport in self._transports() if transport.get_write_buffer_size()]
        return [transport.get_extra_info("socket") for transport in held_up]

    def connections(self) -> list[socket.socket]:
        return [transport.get_extra_info("socket") for transport in self._transports()]

    def active(self) -> None:
        return None

    def listener(self) -> socket.socket | None:
        assert self._server is not None
        return self._server.sockets[0]

    def _connection(self) -> asyncio.Protocol:
        connection = _Connection(self)
        return connection if self._tls is None else TlsLayer(self._tls, connection, self._layers)

    def _transports(self) -> list[asyncio.Transport]:
        if self._tls is None:
            return [connection.transport for connection in self.open]
        return [layer.tcp for layer in self._layers]


class _Connection(asyncio.Protocol):
    """As much of HTTP/1.1 as the clients speak; what else comes is treated as a long poll without an answer."""

    transport: asyncio.Transport

    def __init__(self, server: OrderServer) -> None:
        self._server = server
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self._server.open[self] = None

    def connection_lost(self, exc: Exception | None) -> None:
        del self._server.open[self]
        if self._server.waiting is self:
            self._server.waiting = None

    def data_received(self, data: bytes) -> None:
        self._server.last_byte = time.perf_counter()
        self._server.heard += 1
        self._server.heed()
        self._received += data
        while True:
            head, found, rest = self._received.partition(b"\r\n\r\n")
            lengths = [
                line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")
            ]
            length = int(lengths[0]) if lengths else 0
            if not found or len(rest) < length:
                return
            self._received = rest[length:]
            if head.startswith(b"GET /wait"):
                self._server.waiting = self
            else:
                self._server.answers.append(json.loads(rest[:length] or b"{}"))
                self.reply(b"{}")

    def reply(self, body: bytes) -> None:
        self.transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
