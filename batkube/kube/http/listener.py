"""The listening socket and its connections, inside the caller's event loop.

uvicorn's own `Server` is left out: it installs signal handlers and wakes up ten times a second, and a server
inside a simulation must do neither.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Container, MutableMapping
from typing import Any

import uvicorn
from uvicorn.server import ServerState

from .connection import Answering, Connection
from .tls import TlsLayer
from .wire import Traffic, Wire, WireProtocol

BACKLOG = 2048  # schedulers open dozens of connections at once
# Real seconds: never. Clients drop idle connections, Go's after 90 seconds of their own clock, which may be hours of
# ours; the server must not be the first to do so. Of clients that are gone without a word the kernel tells.
KEEP_ALIVE = 10 * 365 * 86_400

App = Callable[
    [
        MutableMapping[str, Any],
        Callable[[], Awaitable[MutableMapping[str, Any]]],
        Callable[[MutableMapping[str, Any]], Awaitable[None]],
    ],
    Awaitable[None],
]


class Listener:
    """The listener of an ASGI application on one address. Requests that `answering` takes go to `answering`."""

    def __init__(self, app: App, answering: Answering, heed: Callable[[], None] = lambda: None) -> None:
        """Create a listener; `heed` is called whenever bytes have come on a connection."""
        self._answering = answering
        self._heed = heed
        self._config = uvicorn.Config(
            app,
            log_config=None,
            log_level="critical",  # what goes wrong in a request is logged by the application
            access_log=False,
            interface="asgi3",
            lifespan="off",
            ws="none",
            proxy_headers=False,
            server_header=False,
            date_header=False,
            timeout_keep_alive=KEEP_ALIVE,
        )
        self._config.load()
        self._state = ServerState()
        self._layers: set[TlsLayer] = set()  # of all open connections, where there is TLS
        self._begun: set[Connection] = set()  # of these a request has come whose answer may not be complete
        self.traffic = Traffic()
        self._server: asyncio.AbstractServer | None = None
        self._socket: socket.socket | None = None

    async def start(self, host: str, port: int, tls: ssl.SSLContext | None = None) -> int:
        """Listen, with TLS if it is given. Return the port. Raise OSError, with the address in its message, if it is
        taken.
        """
        loop = asyncio.get_running_loop()
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        # asyncio turns Nagle's algorithm off only where the protocol is named; with it on, answers wait for 40 ms.
        sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)  # inherited by the connections
        try:
            sock.bind((host, port))
        except OSError as error:
            sock.close()
            raise OSError(error.errno, f"cannot listen on {host}:{port}: {error.strerror or error}") from None
        options = {"config": self._config, "server_state": self._state, "app_state": {}, "_loop": loop}

        def connection() -> asyncio.Protocol:
            above = Connection(self._answering, self._begun, **options)
            below = above if tls is None else TlsLayer(tls, above, self._layers)
            return WireProtocol(below, self._heed, self.traffic)

        self._server = await loop.create_server(connection, sock=sock, backlog=BACKLOG)
        self._socket = sock
        return int(sock.getsockname()[1])

    async def stop(self, patience: float = 1.0) -> None:
        """Take no more connections, let the requests in work end, and close all connections. `patience` is in real
        seconds.
        """
        if self._server is None:
            return
        self._server.close()
        self._server = self._socket = None
        for connection in list(self._state.connections):
            connection.shutdown()
        tasks = list(self._state.tasks)
        if tasks:
            await asyncio.wait(tasks, timeout=patience)
        for wire in self.wires():
            wire.abort()
        for task in list(self._state.tasks):
            task.cancel()
        await asyncio.sleep(0)  # lets the transports close their sockets

    def hang_up(self, client: tuple[str, int]) -> bool:
        """Cut the connection of this client, with all unsent bytes. Return False if there is none."""
        connections: set[Any] = self._state.connections
        for connection in connections:
            if connection.client == client:
                connection.transport.abort()
                return True
        return False

    @property
    def socket(self) -> socket.socket | None:
        return self._socket

    def wires(self) -> list[Wire]:
        """Return the transports of all open connections; with TLS those beneath it."""
        return list(self.traffic.open)

    def holds_bytes(self) -> bool:
        """Return True if bytes have arrived that no request has got."""
        return any(layer.holds_bytes for layer in self._layers)

    def works(self, streams: Container[tuple[str, int] | None]) -> bool:
        """Return True if there are requests whose head was read and whose answer is not complete.

        Open streams and requests that wait for their turn do not count. `streams` are the clients with open streams.
        """
        for connection in list(self._begun):
            if connection.waits_for_its_turn:
                continue
            if connection.in_work and connection.client not in streams:
                return True
            self._begun.discard(connection)
        return False
