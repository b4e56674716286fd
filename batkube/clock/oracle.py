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
import os
import platform
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from batkube.clock.pause import FinePause
from batkube.clock.peers import socket_inodes
from batkube.clock.processes import ProcessTree
from batkube.clock.server_side import ServerLook, ServerSide
from batkube.clock.syscalls import WAITING, name
from batkube.clock.threads import OUTSIDE, RUNNING, UNTOLD, Thread, ThreadEnded
from batkube.clock.verdict import IDLE, Verdict, not_idle

__all__ = ["Counts", "IdleOracle", "ServerSide", "Verdict"]

TURNS = 5
"""Turns of the event loop between the two looks: what it has accepted is known to the server after three of them
(asyncio) or one (uvloop)."""
SHORTEST_PAUSE, LONGEST_PAUSE = 50e-6, 2e-3
"""Real seconds between two examinations."""


def unobservable() -> str:
    """Why no process of this machine can be observed; empty where they can."""
    if platform.system() != "Linux":
        return f"needs Linux, this is {platform.system()} on {platform.machine()}"
    if not os.access(f"/proc/self/task/{os.getpid()}/stat", os.R_OK):
        return "needs /proc, which is not mounted here"
    return ""


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
        self._server = ServerLook(server, self._is_observed)
        self._tree = ProcessTree()
        self._pause = FinePause()
        self._hot: Thread | None = None
        self.dozes: Callable[[Thread], bool] = lambda thread: False
        """Whether a thread, as last looked at, is in a wait that ends again and again without anything to do.

        So it is with short waits on a clock that stands (see go.dozes). Such a thread need not sleep from one look to
        the next, it only must be found so each time.
        """
        self._observed_sockets: dict[int, bool] = {}
        self._sockets_of = -1

    def add(self, pid: int) -> None:
        """Observe the process ``pid``, its threads and its descendants."""
        if pid == os.getpid():
            raise ValueError(f"process {pid} cannot observe itself")
        self._tree.add(pid)

    def adopt(self, pid: int) -> bool:
        """Observe ``pid`` as well, which one of the processes has started; whether it was not observed before.

        Descendants are found by themselves, but for those whose parent ended before it was looked at.
        """
        return self._tree.adopt(pid)

    def remove(self, pid: int) -> None:
        """Forget the process ``pid`` and its descendants."""
        self._tree.remove(pid)

    def look(self) -> Verdict:
        """One examination at once.

        A connection that the event loop has accepted in this very turn may still be unknown to the server: ``at_rest``
        leaves the loop time for that.
        """
        return self._counted(self._first_look() or self._server.look() or self._second_look() or IDLE)

    async def at_rest(self, *, timeout: float | None, meanwhile: Callable[[], None] = lambda: None) -> Verdict:
        """Wait until all is idle; then the verdict says so.

        Else it says why not: a process has ended, or ``timeout`` (real seconds) is over. The event loop goes on
        meanwhile, and ``meanwhile`` is called now and then. The longer it takes, the rarer the looks: they add an
        eighth at most.
        """
        start = time.perf_counter()
        try:
            while True:
                await asyncio.sleep(0)
                verdict = await self._examine()
                waited = time.perf_counter() - start
                if verdict.idle or verdict.gone or (timeout is not None and waited >= timeout):
                    self.counts.rests += verdict.idle
                    return verdict
                meanwhile()
                await self._pause.sleep(min(max(waited / 8, SHORTEST_PAUSE), LONGEST_PAUSE))
        finally:
            waited = time.perf_counter() - start
            self.counts.waited += waited
            self.counts.longest_wait = max(self.counts.longest_wait, waited)

    def threads(self) -> list[Thread]:
        """All threads that were looked at, as the last look found them."""
        return list(self._tree.threads())

    def processor_time(self) -> float:
        """Seconds of processor time that the processes have used; less after one of several has ended."""
        return sum(process.processor_time() for process in self._tree.processes.values())

    def untouched(self) -> bool:
        """Whether all threads have slept since the last look, which must have found rest."""
        dozing: list[Thread] = []
        return self._all_slept(dozing) is None and not dozing

    def close(self) -> None:
        """Let go of all files and sockets."""
        self._tree.close()
        self._pause.close()
        self._server.close()

    async def _examine(self) -> Verdict:
        verdict = self._first_look() or self._server.look()
        if verdict is None and not self._server.quiet:
            # Who sleeps sends no more. What the loop has accepted or read before becomes visible meanwhile.
            for _ in range(TURNS):
                await asyncio.sleep(0)
            verdict = self._server.look(again=True)
        return self._counted(verdict or self._second_look() or IDLE)

    def _counted(self, verdict: Verdict) -> Verdict:
        self.counts.looks += 1
        if not verdict.idle:
            self.counts.not_idle[verdict.kind] += 1
        return verdict

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
        seen: set[Thread] = set()
        while True:
            for thread in self._tree.threads():
                if thread not in seen:
                    seen.add(thread)
                    try:
                        verdict = self._judge(thread)
                    except ThreadEnded:
                        continue
                    if verdict is not None:
                        return verdict
            # Only now, for a thread may have started another just before it was looked at.
            if not self._tree.refresh():
                break
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
        if call != OUTSIDE:
            return not_idle("working", f"{thread} is in system call {name(call)}")
        state = thread.state()
        if state in "ZX":
            return None
        return not_idle("working", f"{thread} is in state {state}")

    def _second_look(self) -> Verdict | None:
        dozing: list[Thread] = []
        verdict = self._all_slept(dozing)
        if verdict is not None or not dozing:
            return verdict
        # Those may have run. If they are back, have sent nothing and have woken nobody, they had nothing to do.
        return self._all_doze(dozing) or self._server.look(again=True) or self._all_slept(dozing)

    def _all_slept(self, dozing: list[Thread]) -> Verdict | None:
        """Whether all threads have slept since the first look; those who doze and did not are put on the list."""
        for thread in self._tree.threads():
            if thread in dozing:
                continue
            try:
                state = thread.state()
                if state in "SZ" and thread.count_runs() == thread.runs:
                    continue
            except ThreadEnded:
                return not_idle("ended", f"{thread} ended")
            if self.dozes(thread):
                dozing.append(thread)
                continue
            self._hot = thread
            return not_idle("woken", f"{thread} ran meanwhile" if state == "S" else f"{thread} is in state {state}")
        return None

    def _all_doze(self, dozing: list[Thread]) -> Verdict | None:
        for thread in dozing:
            try:
                verdict = self._judge(thread)
                # One that was woken shows its old call until the CPU it is to run on takes note of that.
                if verdict is None and not (self.dozes(thread) and thread.state() == "S"):
                    verdict = not_idle("woken", f"{thread} ran meanwhile")
            except ThreadEnded:
                return not_idle("ended", f"{thread} ended")
            if verdict is not None:
                return verdict
        return None

    def _is_observed(self, inode: int) -> bool:
        """Whether one of the processes has the socket open, or may have."""
        if self._sockets_of != self._tree.generation:
            self._sockets_of = self._tree.generation
            self._observed_sockets.clear()
        known = self._observed_sockets.get(inode)
        if known is None:
            known = inode != 0 and any(_has_socket(pid, inode) for pid in self._tree.processes)
            self._observed_sockets[inode] = known
        return known


def _has_socket(pid: int, inode: int) -> bool:
    inodes = socket_inodes(pid)
    return inodes is None or inode in inodes


def _running(thread: Thread) -> Verdict:
    return not_idle("running", f"{thread} runs")
