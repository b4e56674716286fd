"""The data that may still be under way between the server and the observed processes.
A far end is asked only if its near end has moved: that is, if the near end has sent or received bytes since everything
was found to have arrived and to have been read. On the other connections nothing is under way:
- To the far end: what was sent had been read then, and nothing was sent since.
- From the far end: what a program writes leaves it at once. Over the loopback device it arrives before the call
  returns, or waits where `Loopback.undelivered` sees it; `arrived`, asked last, sees what was on its way from there.
  It could wait in the far end only for an acknowledgement of what was sent before, which Linux delays (Nagle's
  algorithm). So the acknowledgement is sent, unless something else was sent, which acknowledges as well. (A program
  that forbids the kernel to send, by TCP_CORK or MSG_MORE, allows it before it waits for an answer.)
The near end, in turn, is looked at only if the server has noted that it read or wrote bytes. Besides these the kernel
counts only bytes that arrive and are not read, which `arrived` sees.
"""

import select
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import Protocol

from batkube.clock.loopback import Loopback
from batkube.clock.tcp import Connection, End, HasFileDescriptor, SockDiag
from batkube.clock.verdict import Verdict, not_idle

SHORTCUTS = 8
"""The most looks in a row that may be spared."""


class ServerSide(Protocol):
    """The server that the observed processes talk to, as far as the oracle must know it."""

    def busy(self) -> bool:
        """Tell whether a request is in work (open watches excepted) or an event not yet written, except ``held_up``."""

    def held_up(self) -> Sequence[HasFileDescriptor]:
        """Return the connections that have more to write than the kernel takes."""

    def connections(self) -> Sequence[HasFileDescriptor]:
        """Return the accepted connections that are open; for one connection the same object each time.

        A connection may have a number ``moves`` that grows whenever the server has read bytes from it or has had some
        to write. As long as ``moves`` stays the same, and the connection is not held up, the kernel need not be asked
        about it. ``answered`` then says whether the connection had something to write since it last read.
        """

    def active(self) -> Collection[HasFileDescriptor] | None:
        """Return the open connections that were opened, or whose ``moves`` have grown, since the last call.

        None if the server does not note it.
        """

    def listener(self) -> HasFileDescriptor | None:
        """Return the listening socket, on which connections may wait to be accepted."""

    def when_bytes_come(self, heed: Callable[[], None]) -> None:
        """Call ``heed`` from now on whenever bytes have come on a connection."""


class ServerLook:
    """Looks at the server and its connections.

    ``is_observed`` tells whether a socket (its inode) belongs to the processes.
    """

    def __init__(self, server: ServerSide, is_observed: Callable[[int], bool]) -> None:
        self._server = server
        self._is_observed = is_observed
        self._known: dict[HasFileDescriptor, Connection] = {}
        self._unsettled: set[HasFileDescriptor] = set()
        """Connections that may not be settled: they were looked at last, or have moved since."""
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
        self._shortcuts = 0

    def has_something_to_do(self) -> bool:
        """Tell whether the server has a request in work or something to write."""
        return self._server.busy() or bool(self._server.held_up())

    def surely_unread(self) -> Verdict | None:
        """Find bytes written to a process that cannot have read them, as no process has run since.

        None if there are none.

        This only spares a look, and is not asked often in a row: the connection may have been closed.
        """
        self._shortcuts += 1
        if self._shortcuts <= SHORTCUTS:
            active = self._server.active() or ()
            self._unsettled.update(active)
            for sock in active:
                connection = self._known.get(sock)
                if connection is not None and connection.observed and getattr(sock, "answered", False):
                    return not_idle("in flight", f"{connection.far_address()} has not read what was written")
        return None

    def look(self) -> Verdict | None:
        """Return why the server's side is not at rest, or None."""
        self._shortcuts = 0
        held_up = self._server.held_up()
        if self._server.busy() or self._holds_up(held_up):
            return not_idle("server busy", "the server has a request in work or something to write")
        moved = self._moved({sock.fileno() for sock in held_up})
        return self.on_the_way() or self._in_flight(moved)

    def on_the_way(self) -> Verdict | None:
        """Return a verdict if the kernel has packets to deliver, else None."""
        if self._loopback is not None and self._loopback.undelivered():
            return not_idle("packets", "packets wait for the kernel to deliver them")
        return None

    def arrived(self) -> Verdict | None:
        """Return a verdict if something has arrived and is not read, else None.

        Asked last as well, for late arrivals.
        """
        listener = self._server.listener()
        if listener is not None and listener.fileno() not in self._polled:
            self._poll_all()
        ready = {fd for fd, _ in self._poll.poll(0)}
        if not ready:
            return None
        if listener is not None and listener.fileno() in ready:
            return not_idle("to accept", "a connection waits to be accepted")
        for connection in self._known.values():
            if connection.fd in ready:
                try:
                    count = connection.unread()
                except OSError:
                    continue
                if count:  # 0: the far end is closed
                    return _flying(count, "from", connection)
        return None

    def far_inode(self, connection: HasFileDescriptor) -> int | None:
        """Return the inode of the socket at the other end. 0: not on this machine; None: the kernel does not tell."""
        if self._diag is None:
            return None
        try:
            (far,) = self._diag.far_ends([Connection(connection.fileno())])
        except OSError:  # closed just now
            return 0
        return 0 if far is None else far.inode

    def close(self) -> None:
        """Close the files."""
        if self._diag is not None:
            self._diag.close()
        if self._loopback is not None:
            self._loopback.close()

    def _holds_up(self, sockets: Sequence[HasFileDescriptor]) -> bool:
        """Tell whether one of the processes has more to read than the kernel takes.

        What other processes leave unread does not matter.
        """
        if not sockets:
            return False
        if self._diag is None:
            return True
        connections = []
        for sock in sockets:
            with suppress(OSError):  # closed just now
                connections.append(Connection(sock.fileno()))
        return any(far is not None and self._is_observed(far.inode) for far in self._diag.far_ends(connections))

    def _moved(self, held_up: set[int]) -> list[Connection]:
        """Return the connections that are not settled. For those in ``held_up`` the server still has bytes to write."""
        sockets: Collection[HasFileDescriptor] = self._server.connections()
        active = self._server.active()
        known = dict(self._known)
        unsettled = self._unsettled.union(active or ())
        if active is not None and len(sockets) == len(known) and unsettled <= known.keys():
            sockets = unsettled  # none was opened or closed
        else:
            known.clear()
        self._unsettled = set()
        moved = []
        for sock in sockets:
            connection = self._known.get(sock)
            moves = getattr(sock, "moves", None)
            if connection is not None and moves is not None and moves == connection.stood_at:
                known[sock] = connection
                continue
            self._unsettled.add(sock)
            known.pop(sock, None)
            fd = sock.fileno()
            try:
                if connection is None or connection.fd != fd:
                    connection = Connection(fd)
                connection.moves = None if fd in held_up else moves
                connection.answered = getattr(sock, "answered", False)
                if connection.moved():
                    moved.append(connection)
            except OSError:
                continue  # closed just now
            known[sock] = connection
        changed = known != self._known
        self._known = known
        if changed:
            self._poll_all()
        return moved

    def _poll_all(self) -> None:
        fds = {connection.fd for connection in self._known.values()}
        listener = self._server.listener()
        if listener is not None and listener.fileno() >= 0:
            fds.add(listener.fileno())
        for fd in self._polled - fds:
            self._poll.unregister(fd)
        for fd in fds - self._polled:
            self._poll.register(fd, select.POLLIN)
        self._polled = fds

    def _in_flight(self, moved: list[Connection]) -> Verdict | None:
        if self._diag is None:
            return None
        verdict = None
        for connection, far in zip(moved, self._diag.far_ends(moved), strict=True):
            verdict = verdict or self._not_settled(connection, far)
        return verdict

    def _not_settled(self, connection: Connection, far: End | None) -> Verdict | None:
        if far is not None:
            near = connection.near_end()
            if far.sent != near.received:
                return _flying(far.sent - near.received, "from", connection)
            unread = near.sent - far.received + far.unread
            connection.observed = self._is_observed(far.inode)
            if unread and connection.observed:
                return _flying(unread, "to", connection)
            if unread:
                return None  # what others leave unread does not matter, until they are observed
        connection.settle()
        return None


def _flying(count: int, which_way: str, connection: Connection) -> Verdict:
    return not_idle("in flight", f"{count} bytes are on their way {which_way} {connection.far_address()}")
