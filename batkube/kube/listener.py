"""The listening socket and its connections, inside the caller's event loop.

uvicorn's own `Server` is left out: it installs signal handlers and wakes up ten times a second, and a server
inside a simulation must do neither.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import uvicorn
from uvicorn.server import ServerState

from .connection import Answering, Connection
from .tls import TlsLayer

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
    """Serves an ASGI application on one address, and what `answering` takes by `answering`."""

    def __init__(self, app: App, answering: Answering) -> None:
        self._answering = answering
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
        self._server: asyncio.AbstractServer | None = None
        self._socket: socket.socket | None = None

    async def start(self, host: str, port: int, tls: ssl.SSLContext | None = None) -> int:
        """Listen, with TLS if it is given; returns the port. OSError where the address can't be had, its message names
        it.
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
            above = Connection(self._answering, **options)
            return above if tls is None else TlsLayer(tls, above, self._layers)

        self._server = await loop.create_server(connection, sock=sock, backlog=BACKLOG)
        self._socket = sock
        return int(sock.getsockname()[1])

    async def stop(self, patience: float = 1.0) -> None:
        """Take no more connections, let the requests in work end, close all. `patience` is in real seconds."""
        if self._server is None:
            return
        self._server.close()
        self._server = self._socket = None
        for connection in list(self._state.connections):
            connection.shutdown()
        tasks = list(self._state.tasks)
        if tasks:
            await asyncio.wait(tasks, timeout=patience)
        for transport in self.transports():
            transport.abort()
        for task in list(self._state.tasks):
            task.cancel()
        await asyncio.sleep(0)  # lets the transports close their sockets

    def hang_up(self, client: tuple[str, int]) -> bool:
        """Cut the connection of this client, with all that was not sent; False if there is none."""
        connections: set[Any] = self._state.connections
        for connection in connections:
            if connection.client == client:
                connection.transport.abort()
                return True
        return False

    @property
    def socket(self) -> socket.socket | None:
        return self._socket

    def transports(self) -> list[asyncio.Transport]:
        """Those of all open connections, in no order that means anything: with TLS, those beneath it."""
        if self._layers:
            return [layer.tcp for layer in self._layers]
        return [connection.transport for connection in self._state.connections]

    def holds_bytes(self) -> bool:
        """Bytes have arrived that no request has got."""
        return any(layer.holds_bytes for layer in self._layers)

    def held_up(self) -> dict[tuple[str, int], asyncio.Transport]:
        """Connections, by their clients, with bytes that the kernel does not take: the clients do not read."""
        connections: set[Any] = self._state.connections
        return {
            connection.client: connection.transport
            for connection in connections
            if connection.transport.get_write_buffer_size() and not connection.transport.is_closing()
        }

    def requests_in_work(self) -> int:
        """Requests whose head was read and whose answer is not complete, open streams among them."""
        connections: set[Any] = self._state.connections
        return sum(1 for connection in connections if connection.in_work)
