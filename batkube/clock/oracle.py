"""The idle oracle: has a scheduler come to rest?

It has when all its threads sleep at one same moment and nothing is under way that could wake them, timers excepted.
Two looks decide it:

1. Each thread: how often was it put on a CPU, and in which system call does it sleep? The call must be one that waits.
2. Between the looks: has the server anything to do (a request in work, a connection to accept, an event to write)?
   On each connection, has each end read all that the other has sent?
3. Each thread again: still asleep, and not once on a CPU since?

If so, each thread slept over an interval, and all these intervals share the moment in between. No settling time is
needed.
"""

import asyncio
import select
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from batkube.clock.pause import FinePause
from batkube.clock.peers import socket_inodes
from batkube.clock.processes import ProcessTree
from batkube.clock.syscalls import WAITING
from batkube.clock.tcp import Connection, End, HasFileDescriptor, SockDiag
from batkube.clock.threads import OUTSIDE, RUNNING, UNTOLD, Thread, ThreadEnded

TURNS = 5
"""Turns of the event loop between the two looks. A connection that the loop has accepted is known to the server after
three (asyncio) or one (uvloop)."""
SHORTEST_PAUSE, LONGEST_PAUSE = 50e-6, 2e-3
"""Real seconds between two examinations."""


class ServerSide(Protocol):
    """What must be known of the server that the observed processes talk to."""

    def busy(self) -> bool:
        """A request in work (open watches excepted), an event not yet written, bytes not yet handed to the kernel."""

    def connections(self) -> Sequence[HasFileDescriptor]:
        """The accepted connections that are open."""

    def listener(self) -> HasFileDescriptor | None:
        """The listening socket: connections may wait there to be accepted."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an examination found."""

    idle: bool
    reason: str = ""
    """Why not idle, for a person."""
    kind: str = "idle"
    """The reason's kind, for counting: ``running``, ``working``, ``woken``, ``in flight``, ``server busy`` ..."""
    gone: bool = False
    """A process named to the oracle has ended."""


IDLE = Verdict(True)


@dataclass
class Counts:
    """What the oracle did, for the records of a run. Times are real seconds."""

    looks: int = 0
    rests: int = 0
    """How often rest was established."""
    not_idle: Counter[str] = field(default_factory=Counter)
    """Examinations that did not end in rest, by kind of reason."""
    waited: float = 0.0
    """Spent waiting for rest."""
    longest_wait: float = 0.0


class IdleOracle:
    """Observes processes of this machine that talk to ``server``, without tracing or changing them."""

    def __init__(self, server: ServerSide) -> None:
        self.counts = Counts()
        self._server = server
        self._tree = ProcessTree()
        self._pause = FinePause()
        self._hot: Thread | None = None
        self._balanced: dict[tuple[int, bytes], tuple[int, int]] = {}
        self._theirs: dict[int, bool] = {}
        self._generation = -1
        try:
            self._diag: SockDiag | None = SockDiag()
        except OSError:
            self._diag = None

    def add(self, pid: int) -> None:
        """Observe the process ``pid``, its threads and its descendants."""
        self._tree.add(pid)

    def remove(self, pid: int) -> None:
        """Forget the process ``pid``."""
        self._tree.remove(pid)

    def look(self) -> Verdict:
        """One examination at once.

        A connection that the event loop has accepted in this very turn may still be unknown to the server: ``at_rest``
        leaves the loop time for that.
        """
        self.counts.looks += 1
        verdict = self._first_look() or self._server_side(known=False) or self._second_look() or IDLE
        return self._counted(verdict)

    async def at_rest(self, *, timeout: float | None) -> Verdict:
        """Wait until all is idle; then the verdict says so.

        Else it says why not: a process has ended, or ``timeout`` (real seconds) is over. The event loop goes on
        meanwhile. The longer it takes, the rarer the looks: they add an eighth at most.
        """
        start = time.perf_counter()
        try:
            while True:
                await asyncio.sleep(0)
                verdict = await self._examine()
                waited = time.perf_counter() - start
                if verdict.idle:
                    self.counts.rests += 1
                    return verdict
                if verdict.gone:
                    return verdict
                if timeout is not None and waited >= timeout:
                    return verdict
                await self._pause.sleep(min(max(waited / 8, SHORTEST_PAUSE), LONGEST_PAUSE))
        finally:
            waited = time.perf_counter() - start
            self.counts.waited += waited
            self.counts.longest_wait = max(self.counts.longest_wait, waited)

    def close(self) -> None:
        """Let go of all files and sockets."""
        self._tree.close()
        self._pause.close()
        if self._diag is not None:
            self._diag.close()

    async def _examine(self) -> Verdict:
        self.counts.looks += 1
        verdict = self._first_look() or self._server_side(known=False)
        if verdict is None:
            # Who is asleep has nothing more to send. What the loop has accepted or read meanwhile becomes visible.
            for _ in range(TURNS):
                await asyncio.sleep(0)
            verdict = self._server_side(known=True) or self._second_look() or IDLE
        return self._counted(verdict)

    def _counted(self, verdict: Verdict) -> Verdict:
        if not verdict.idle:
            self.counts.not_idle[verdict.kind] += 1
        return verdict

    # -- the threads

    def _first_look(self) -> Verdict | None:
        """Why the processes are not at rest, or None."""
        if self._hot is not None:  # who ran last still runs, as a rule
            try:
                self._hot.look()
                if self._hot.call == RUNNING:
                    return _running(self._hot)
            except (ThreadEnded, OSError):
                pass
            self._hot = None
        seen: set[int] = set()
        again = True
        while again:
            for thread in self._tree.threads():
                if id(thread) not in seen:
                    seen.add(id(thread))
                    try:
                        verdict = self._judge(thread)
                    except ThreadEnded:
                        continue
                    if verdict is not None:
                        return verdict
            # Only now, for a thread may have started another just before it was looked at.
            again = self._tree.refresh()
        ended = self._tree.ended_roots()
        if ended:
            return Verdict(False, f"process {ended[0]} has ended", "gone", gone=True)
        return None

    def _judge(self, thread: Thread) -> Verdict | None:
        thread.look()
        call = thread.call
        if call == RUNNING:
            self._hot = thread
            return _running(thread)
        if call == UNTOLD or (WAITING is not None and call in WAITING):
            return None
        if call == OUTSIDE:
            state = thread.state()
            if state in "ZX":
                return None
            return Verdict(False, f"thread {thread.tid} of process {thread.pid} is in state {state}", "working")
        return Verdict(False, f"thread {thread.tid} of process {thread.pid} is in system call {call}", "working")

    def _second_look(self) -> Verdict | None:
        for thread in self._tree.threads():
            try:
                state = thread.state()
                if state != "S" and state != "Z":
                    self._hot = thread
                    what = "woke up" if state == "R" else f"is in state {state}"
                    return Verdict(False, f"thread {thread.tid} of process {thread.pid} {what}", "woken")
                if thread.count_runs() != thread.runs:
                    self._hot = thread
                    return Verdict(False, f"thread {thread.tid} of process {thread.pid} ran meanwhile", "woken")
            except ThreadEnded:
                return Verdict(False, f"thread {thread.tid} of process {thread.pid} ended", "ended")
        return None

    # -- the server and the connections

    def _server_side(self, *, known: bool) -> Verdict | None:
        """Why the server's side is not at rest, or None.

        ``known``: it was a moment ago, and the processes have slept since.
        """
        if self._server.busy():
            return Verdict(False, "the server has a request in work or something to write", "server busy")
        listener = self._server.listener()
        if listener is not None and listener.fileno() >= 0:
            poll = select.poll()
            poll.register(listener.fileno(), select.POLLIN)
            if poll.poll(0):
                return Verdict(False, "a connection waits to be accepted", "to accept")
        return self._in_flight(known=known)

    def _in_flight(self, *, known: bool) -> Verdict | None:
        if not known:
            self._balanced.clear()
        open_ones: list[tuple[Connection, End]] = []
        for sock in self._server.connections():
            fd = sock.fileno()
            if fd < 0:
                continue
            try:
                connection = Connection(fd)
                near = connection.near()
            except OSError:
                continue  # closed just now
            if near.unread:
                return _flying(near.unread, "from", connection)
            if self._balanced.get((fd, connection.remote)) != (near.sent, near.read):
                open_ones.append((connection, near))
        if self._diag is None:
            return None
        ends = self._diag.far_ends([connection for connection, _ in open_ones])
        for (connection, near), far in zip(open_ones, ends, strict=True):
            if far is not None:
                if far.sent != near.read:
                    return _flying(far.sent - near.read, "from", connection)
                if near.sent != far.read and self._is_observed(far.inode):
                    return _flying(near.sent - far.read, "to", connection)
            self._balanced[connection.fd, connection.remote] = (near.sent, near.read)
        return None

    def _is_observed(self, inode: int) -> bool:
        """Whether one of the observed processes has the socket. What others leave unread does not matter."""
        if self._generation != self._tree.generation:
            self._generation = self._tree.generation
            self._theirs.clear()
        if inode not in self._theirs:
            self._theirs[inode] = inode != 0 and any(_has_socket(pid, inode) for pid in self._tree.processes)
        return self._theirs[inode]


def _has_socket(pid: int, inode: int) -> bool:
    inodes = socket_inodes(pid)
    return inodes is None or inode in inodes


def _running(thread: Thread) -> Verdict:
    return Verdict(False, f"thread {thread.tid} of process {thread.pid} runs", "running")


def _flying(count: int, which_way: str, connection: Connection) -> Verdict:
    return Verdict(False, f"{count} bytes are on their way {which_way} {connection.name()}", "in flight")
