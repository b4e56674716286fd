"""The activity of the server: all that is needed to tell if its clients are at rest."""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager

from ..storage.deadlines import Deadlines
from .endpoint import Endpoint, Written
from .listener import Listener
from .turns import Turns
from .wire import Wire

Wires = list[Wire]


class Activity:
    """The requests, watches and connections of the server, as `clock.server_side.ServerSide` asks for them."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._listener: Listener | None = None
        self._heed: Callable[[], None] = lambda: None

    @property
    def requests(self) -> Counter[tuple[str, str]]:
        """The number of requests that came over HTTP, by verb and storage key."""
        return self._endpoint.requests

    @property
    def agents(self) -> Collection[str]:
        """The User-Agents of the clients that have called, in order of their first requests."""
        return self._endpoint.agents

    def busy(self) -> bool:
        """Return True if something is still on its way: a request in work, an event or an answer not yet in a socket.

        Bytes that wait for a client that does not read (`held_up`) do not count.
        """
        if self._endpoint.in_work:
            return True
        listener, unwritten = self._listener, self._endpoint.unwritten()
        if listener is None:
            return bool(unwritten)
        if unwritten and not {wire.client for wire in listener.traffic.held_up()}.issuperset(unwritten):
            return True
        return listener.works(self._endpoint.streams) or listener.holds_bytes()

    def own_stream(self, client: tuple[str, int] | None) -> AbstractContextManager[asyncio.Event]:
        """Send a stream of a path of the embedder's own: like a watch it does not count as a request in work.

        The event is set when the server stops.
        """
        return self._endpoint.own_stream(client)

    def held_up(self) -> Wires:
        """Return the connections whose clients do not read, so that bytes wait to be written."""
        return self._listener.traffic.held_up() if self._listener is not None else []

    def connections(self) -> Wires:
        """Return all open connections."""
        return self._listener.wires() if self._listener is not None else []

    def active(self) -> set[Wire]:
        """Return the open connections that were opened, read from or written to since the last call."""
        return self._listener.traffic.take_active() if self._listener is not None else set()

    def watching(self, storage: str) -> set[tuple[str, int]]:
        """Return the address and port of the clients that have a watch of this kind open."""
        watchers = self._endpoint.watchers.items()
        return {client for watcher, client in watchers if client is not None and watcher.storage == storage}

    def end_watches_by(self, deadlines: Deadlines) -> None:
        """Let the `timeoutSeconds` of watches count by this clock from now on. Without a clock they count by the real
        one.
        """
        self._endpoint.deadlines = deadlines

    def when_bytes_come(self, heed: Callable[[], None]) -> None:
        """Call `heed` from now on whenever bytes have come on a connection."""
        self._heed = heed

    @property
    def on_write(self) -> list[Callable[[Written], None]]:
        """The functions that are called after each write of a client that came over HTTP."""
        return self._endpoint.on_write

    @property
    def turns(self) -> Turns:
        """The turns of the clients whose requests and events go one by one."""
        return self._endpoint.turns

    def listener(self) -> socket.socket | None:
        return self._listener.socket if self._listener is not None else None
