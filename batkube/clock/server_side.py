"""What may still be under way between the server and the processes that are observed."""

import select
from collections.abc import Callable, Sequence
from typing import Protocol

from batkube.clock.tcp import Connection, HasFileDescriptor, SockDiag
from batkube.clock.verdict import Verdict, not_idle


class ServerSide(Protocol):
    """What must be known of the server that the observed processes talk to."""

    def busy(self) -> bool:
        """A request in work (open watches excepted), an event not yet written, bytes not yet handed to the kernel."""

    def connections(self) -> Sequence[HasFileDescriptor]:
        """The accepted connections that are open; for one connection the same object each time."""

    def listener(self) -> HasFileDescriptor | None:
        """The listening socket, where connections may wait to be accepted."""


class ServerLook:
    """Looks at the server and its connections.

    ``is_observed`` tells whether a socket (its inode) belongs to the processes.
    """

    def __init__(self, server: ServerSide, is_observed: Callable[[int], bool]) -> None:
        self._server = server
        self._is_observed = is_observed
        self._known: dict[HasFileDescriptor, Connection] = {}
        self._settled: dict[Connection, tuple[int, int]] = {}
        self._poll = select.poll()
        self._polled: set[int] = set()
        try:
            self._diag: SockDiag | None = SockDiag()
        except OSError:
            self._diag = None  # then only bytes that have arrived are seen

    def look(self, *, again: bool = False) -> Verdict | None:
        """Why the server's side is not at rest, or None.

        ``again``: it was at rest a moment ago and the processes have slept since, so that they can have sent nothing.
        """
        if self._server.busy():
            return not_idle("server busy", "the server has a request in work or something to write")
        connections = self._connections()
        readable = self._readable(connections)
        listener = self._server.listener()
        if listener is not None and listener.fileno() in readable:
            return not_idle("to accept", "a connection waits to be accepted")
        return self._unread(connections, readable) or self._in_flight(connections, again)

    def close(self) -> None:
        """Let go of the socket."""
        if self._diag is not None:
            self._diag.close()

    def _connections(self) -> list[Connection]:
        known: dict[HasFileDescriptor, Connection] = {}
        for sock in self._server.connections():
            connection = self._known.get(sock)
            fd = sock.fileno()
            if connection is None or connection.fd != fd:
                try:
                    connection = Connection(fd)
                except OSError:
                    continue  # closed just now
            known[sock] = connection
        self._known = known
        return list(known.values())

    def _readable(self, connections: list[Connection]) -> set[int]:
        wanted = {connection.fd for connection in connections}
        listener = self._server.listener()
        if listener is not None and listener.fileno() >= 0:
            wanted.add(listener.fileno())
        if wanted != self._polled:
            for fd in self._polled - wanted:
                self._poll.unregister(fd)
            for fd in wanted - self._polled:
                self._poll.register(fd, select.POLLIN)
            self._polled = wanted
        return {fd for fd, _ in self._poll.poll(0)}

    @staticmethod
    def _unread(connections: list[Connection], readable: set[int]) -> Verdict | None:
        for connection in connections:
            if connection.fd in readable:
                try:
                    count = connection.unread()
                except OSError:
                    continue
                if count:  # 0: the far end is closed
                    return _flying(count, "from", connection)
        return None

    def _in_flight(self, connections: list[Connection], again: bool) -> Verdict | None:
        if not again:
            self._settled.clear()
        unsettled = []
        for connection in connections:
            try:
                near = connection.near_end()
            except OSError:
                continue
            if self._settled.get(connection) != (near.sent, near.received):
                unsettled.append((connection, near))
        if self._diag is None:
            return None
        ends = self._diag.far_ends([connection for connection, _ in unsettled])
        for (connection, near), far in zip(unsettled, ends, strict=True):
            if far is not None:
                if far.sent != near.received:
                    return _flying(far.sent - near.received, "from", connection)
                unread = near.sent - far.received + far.unread
                if unread and self._is_observed(far.inode):  # what others leave unread does not matter
                    return _flying(unread, "to", connection)
            self._settled[connection] = (near.sent, near.received)
        return None


def _flying(count: int, which_way: str, connection: Connection) -> Verdict:
    return not_idle("in flight", f"{count} bytes are on their way {which_way} {connection.far_address()}")
