"""What may still be under way between the server and the processes that are observed."""

import select
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Protocol

from batkube.clock.loopback import Loopback
from batkube.clock.tcp import Connection, End, HasFileDescriptor, SockDiag
from batkube.clock.verdict import Verdict, not_idle


class ServerSide(Protocol):
    """What must be known of the server that the observed processes talk to."""

    def busy(self) -> bool:
        """A request in work (open watches excepted), an event not yet written; but for what is held up."""

    def held_up(self) -> Sequence[HasFileDescriptor]:
        """Those of the connections that have more to write than the kernel takes."""

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
        self._settled: dict[Connection, End] = {}
        self._poll = select.poll()
        self._polled: set[int] = set()
        try:
            self._diag: SockDiag | None = SockDiag()
        except OSError:
            self._diag = None  # then only bytes that have arrived are seen
        try:
            self._loopback: Loopback | None = Loopback()
        except OSError:
            self._loopback = None
        self._settled_at = b""
        """The traffic so far when all was last found settled, by two looks."""
        self.quiet = False
        """Nothing had been sent since all was settled, when it looked last."""

    def look(self, *, again: bool = False) -> Verdict | None:
        """Why the server's side is not at rest, or None.

        ``again``: it was at rest a moment ago and the processes have slept since, so that they can have sent nothing.

        Where nothing was sent since all was settled it still is. For what a program writes is sent at once, unless what
        it wrote before waits to be acknowledged; and all that had been answered.
        """
        if self._server.busy() or self._holds_up(self._server.held_up()):
            return not_idle("server busy", "the server has a request in work or something to write")
        traffic = b""
        if self._loopback is not None:
            if self._loopback.undelivered():
                return not_idle("packets", "packets wait for the kernel to deliver them")
            traffic = self._loopback.traffic() if self._diag is not None else b""
        self.quiet = bool(traffic) and traffic == self._settled_at
        if self.quiet:
            return None
        near_ends = self._near_ends()
        # What arrives from here on is missing in the near ends' counts; what arrived before makes them readable.
        readable = self._readable(list(near_ends))
        listener = self._server.listener()
        if listener is not None and listener.fileno() in readable:
            return not_idle("to accept", "a connection waits to be accepted")
        verdict = self._unread(near_ends, readable) or self._in_flight(near_ends, again)
        # The first look does not see what the loop has just accepted.
        if again and verdict is None and len(self._settled) == len(near_ends):
            self._settled_at = traffic
        return verdict

    def close(self) -> None:
        """Let go of the files."""
        if self._diag is not None:
            self._diag.close()
        if self._loopback is not None:
            self._loopback.close()

    def _holds_up(self, sockets: Sequence[HasFileDescriptor]) -> bool:
        """Whether one of the processes has more to read than the kernel takes; what others leave does not matter."""
        if not sockets:
            return False
        if self._diag is None:
            return True
        connections = []
        for sock in sockets:
            with suppress(OSError):  # closed just now
                connections.append(Connection(sock.fileno()))
        return any(far is not None and self._is_observed(far.inode) for far in self._diag.far_ends(connections))

    def _near_ends(self) -> dict[Connection, End]:
        known: dict[HasFileDescriptor, Connection] = {}
        ends = {}
        for sock in self._server.connections():
            connection = self._known.get(sock)
            fd = sock.fileno()
            try:
                if connection is None or connection.fd != fd:
                    connection = Connection(fd)
                ends[connection] = connection.near_end()
            except OSError:
                continue  # closed just now
            known[sock] = connection
        self._known = known
        return ends

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
    def _unread(connections: Iterable[Connection], readable: set[int]) -> Verdict | None:
        for connection in connections:
            if connection.fd in readable:
                try:
                    count = connection.unread()
                except OSError:
                    continue
                if count:  # 0: the far end is closed
                    return _flying(count, "from", connection)
        return None

    def _in_flight(self, near_ends: dict[Connection, End], again: bool) -> Verdict | None:
        if self._diag is None:
            return None
        settled = self._settled if again else {}
        unsettled = [connection for connection, near in near_ends.items() if settled.get(connection) != near]
        now_settled = dict(near_ends)
        for connection, far in zip(unsettled, self._diag.far_ends(unsettled), strict=True):
            near = near_ends[connection]
            if far is not None:
                if far.sent != near.received:
                    return _flying(far.sent - near.received, "from", connection)
                unread = near.sent - far.received + far.unread
                if unread and self._is_observed(far.inode):
                    return _flying(unread, "to", connection)
                if unread:  # what others leave unread does not matter, until they are observed
                    del now_settled[connection]
        self._settled = now_settled
        return None


def _flying(count: int, which_way: str, connection: Connection) -> Verdict:
    return not_idle("in flight", f"{count} bytes are on their way {which_way} {connection.far_address()}")
