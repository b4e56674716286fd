"""The idle oracle: has a scheduler come to rest?
A scheduler is at rest if all its threads sleep at the same moment and nothing is under way that could wake them, except
timers. Two looks decide it:
1. Each thread: how often was it put on a CPU, and in which system call does it sleep? The call must be one that waits.
2. Between the looks: has the server anything to do (a request in work, a connection to accept, an event to write)?
   On each connection, has each end read all that the other has sent?
3. Each thread again: is it still asleep, and was it not once on a CPU since?
If so, each thread slept over an interval, and all these intervals share the moment in between. No settling time is
needed.
Nothing is read again that cannot have changed: the call of a thread that did not run (`threads`), the threads if none
was started and none has ended (`processes`), the far ends of connections whose near ends have not moved
(`server_side`).
"""

import asyncio
import os
import platform
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field

from batkube.clock.idle_cpu import IdleCpu, only_cpu
from batkube.clock.observed_processes import ProcessTree
from batkube.clock.pause import FinePause
from batkube.clock.server_side import ServerLook, ServerSide
from batkube.clock.socket_owners import SocketOwners
from batkube.clock.syscalls import WAITING, name
from batkube.clock.tcp import HasFileDescriptor
from batkube.clock.threads import OUTSIDE, RUNNING, UNTOLD, Thread, ThreadEnded
from batkube.clock.verdict import IDLE, Verdict, not_idle

__all__ = ["Counts", "IdleOracle", "ServerSide", "Verdict"]

TURNS, UVLOOP_TURNS = 5, 2
"""Turns of the event loop between the two looks. The server knows of what the loop has accepted after three turns
(asyncio) or one (uvloop)."""
SENDING_TURNS = 5
"""The most turns of the event loop until the server has sent what it has for the processes. Asked before that, their
CPU would be idle."""
SHORTEST_PAUSE, LONGEST_PAUSE = 50e-6, 2e-3
"""The limits of the pause between two examinations, in real seconds."""
TOLD_PAUSE = 1e-3
"""The shortest pause, in real seconds, if an IdleCpu tells when their CPU is idle: it keeps silent only on a
busy CPU."""
SHARE = 0.5
"""The part of the time waited so far that the next pause lasts: the longer it takes, the rarer the looks."""


def unobservable() -> str:
    """Say why no process of this machine can be observed; empty if processes can."""
    if platform.system() != "Linux":
        return f"needs Linux, this is {platform.system()} on {platform.machine()}"
    if not os.access(f"/proc/self/task/{os.getpid()}/stat", os.R_OK):
        return "needs /proc, which is not mounted here"
    return ""


@dataclass
class Counts:
    """Counts of what the oracle did, for the records of a run. Times are real seconds."""

    looks: int = 0
    established: int = 0
    """The number of times quiescence was established."""
    not_idle: Counter[str] = field(default_factory=Counter)
    """Examinations that did not end in quiescence, by kind of reason."""
    waited: float = 0.0
    """Time spent waiting for quiescence."""
    longest_wait: float = 0.0


class IdleOracle:
    """Observes processes of this machine that talk to ``server``, without tracing or changing them."""

    def __init__(self, server: ServerSide) -> None:
        self.counts = Counts()
        self._server = ServerLook(server, self._is_observed)
        server.when_bytes_come(self._heed)
        self._tree = ProcessTree()
        self._socket_owners = SocketOwners(self._tree)
        self._pause = FinePause()
        self._hot: Thread | None = None
        self._ran = True
        """True if one of the threads may have run since they were found at rest."""
        self.dozes: Callable[[Thread], bool] = lambda thread: False
        """Tells whether a thread, as last looked at, is in a wait that ends again and again without anything to do.

        Short waits are like this on a clock that stands (see go.dozes). Such a thread need not sleep from one look to
        the next; it only must be found in such a wait each time.
        """
        self._since = 0.0
        """The last time the processes were given something to do, or have sent something (time.monotonic)."""
        self._idle_cpu: IdleCpu | None = None

    def add(self, pid: int) -> None:
        """Observe the process ``pid``, its threads and its descendants."""
        if pid == os.getpid():
            raise ValueError(f"process {pid} cannot observe itself")
        self._tree.add(pid)
        cpu = only_cpu(pid)
        if cpu is not None and self._idle_cpu is None:
            with suppress(OSError):  # then they are looked at again and again
                self._idle_cpu = IdleCpu(cpu, self._pause.end)

    def adopt(self, pid: int) -> bool:
        """Observe ``pid`` as well, which one of the processes has started; tell whether it was not observed before.

        Descendants are found without this, except those whose parent ended before it was looked at.
        """
        return self._tree.adopt(pid)

    def remove(self, pid: int) -> None:
        """Forget the process ``pid`` and its descendants."""
        self._tree.remove(pid)

    def place_of(self, connection: HasFileDescriptor) -> int | None:
        """Return the id of the observed process at the other end; None if it is not an observed one."""
        while self._tree.refresh():
            pass
        inode = self._server.far_inode(connection)
        return min(self._tree.processes, default=None) if inode is None else self._socket_owners.owner(inode)

    def look(self) -> Verdict:
        """Examine the processes once, without waiting.

        The server may not know yet of a connection that the event loop has accepted in this very turn.
        ``wait_for_quiescence`` leaves the loop time for that.
        """
        return self._counted(self._first_look() or self._server.look() or self._second_look())

    async def wait_for_quiescence(
        self, *, timeout: float | None, meanwhile: Callable[[], None] = lambda: None
    ) -> Verdict:
        """Wait until all is idle; the verdict then says so.

        Else the verdict says why not: a process has ended, or ``timeout`` (real seconds) is over. The event loop goes
        on meanwhile, and ``meanwhile`` is called after each examination that did not find quiescence.
        """
        loop = asyncio.get_running_loop()
        turns = UVLOOP_TURNS if type(loop).__module__ == "uvloop" else TURNS
        start = self._since = time.monotonic()
        shortest = SHORTEST_PAUSE if self._idle_cpu is None else TOLD_PAUSE
        for _ in range(SENDING_TURNS):
            if not self._server.has_something_to_do():
                break
            await asyncio.sleep(0)
        pause = shortest  # first of all: what was given something to do needs a moment to begin
        try:
            while True:
                if self._idle_cpu is not None:
                    self._idle_cpu.ask(loop)
                await self._pause.sleep(pause, loop)
                verdict = await self._examine(turns)
                now = time.monotonic()
                if verdict.idle or verdict.gone or (timeout is not None and now - start >= timeout):
                    self.counts.established += verdict.idle
                    return verdict
                meanwhile()
                pause = min(max((now - self._since) * SHARE, shortest), LONGEST_PAUSE)
        finally:
            waited = time.monotonic() - start
            self.counts.waited += waited
            self.counts.longest_wait = max(self.counts.longest_wait, waited)

    def threads(self) -> list[Thread]:
        """Return all threads that were looked at, as the last look found them."""
        return list(self._tree.threads())

    def processor_time(self) -> float:
        """Return the seconds of processor time that the processes have used; less after one of several has ended."""
        return sum(process.processor_time() for process in self._tree.processes.values())

    def untouched(self) -> bool:
        """Tell whether no thread was put on a CPU since the last look, which must have found quiescence."""
        try:
            return not any(thread.ran() for thread in self._tree.threads())
        except ThreadEnded:
            return False

    def close(self) -> None:
        """Close all files and sockets."""
        self._tree.close()
        if self._idle_cpu is not None:
            self._idle_cpu.close()
        self._pause.close()
        self._server.close()

    async def _examine(self, turns: int) -> Verdict:
        verdict = self._first_look()
        if verdict is None and not self._ran:
            verdict = self._server.surely_unread()
        verdict = verdict or self._server.arrived() or self._server.on_the_way()
        if verdict is not None:
            return self._counted(verdict)
        # A process that sleeps sends no more, and the loop finds nothing more to accept. The loop may accept
        # connections one by one, and the last one would be unknown. What it has accepted or read before becomes visible
        # in these turns.
        for _ in range(turns):
            await asyncio.sleep(0)
        return self._counted(self._server.look() or self._second_look())

    def _heed(self) -> None:
        """Look soon: a request has come, or part of one, and as a rule its sender is soon at rest."""
        self._since = time.monotonic()
        if self._idle_cpu is None:
            self._pause.shorten(SHORTEST_PAUSE)

    def _counted(self, verdict: Verdict | None) -> Verdict:
        verdict = verdict or self._server.arrived() or IDLE
        self.counts.looks += 1
        if verdict.idle:
            self._tree.completed()
            self._ran = False
        else:
            self.counts.not_idle[verdict.kind] += 1
        return verdict

    def _first_look(self) -> Verdict | None:
        """Return why the processes are not at rest, or None."""
        verdict = self._still_busy() or self._judge_all(self._tree.threads())
        # Only now, because a thread may have started another just before it was looked at.
        if verdict is not None or self._tree.complete():
            return verdict
        return self._look_for_others()

    def _still_busy(self) -> Verdict | None:
        """Ask the thread first that ran last or was to run: as a rule it still runs, and asking one is cheap."""
        hot, self._hot = self._hot, None
        if hot is not None and hot in self._tree.threads():
            with suppress(ThreadEnded):
                if hot.state() == "R":
                    self._hot = hot
                    return not_idle("running", f"{hot} runs")
        return None

    def _look_for_others(self) -> Verdict | None:
        seen = set(self._tree.threads())
        while self._tree.refresh():
            threads = self._tree.threads()
            verdict = self._judge_all([thread for thread in threads if thread not in seen])
            if verdict is not None:
                return verdict
            seen.update(threads)
        ended = self._tree.ended_roots()
        if ended:
            return Verdict(False, f"process {ended[0]} has ended", "gone", gone=True)
        return None

    def _judge_all(self, threads: Iterable[Thread]) -> Verdict | None:
        for thread in threads:
            verdict = self._judge(thread)
            if verdict is not None:
                return verdict
        return None

    def _judge(self, thread: Thread) -> Verdict | None:
        """Look at a thread; return why it is not at rest, or None."""
        try:
            self._ran |= thread.look()
            call = thread.call
            if call == RUNNING:
                self._hot = thread
                return not_idle("running", f"{thread} runs")
            if call == UNTOLD or (call >= 0 and (WAITING is None or call in WAITING)):
                return None
            if call != OUTSIDE:
                return not_idle("working", f"{thread} is in system call {name(call)}")
            state = thread.state()
        except ThreadEnded:
            state = "X"
        if state in "ZX":
            self._tree.incomplete()
            return None
        return not_idle("working", f"{thread} is in state {state}")

    def _second_look(self) -> Verdict | None:
        dozing: list[Thread] = []
        verdict = self._all_slept(dozing)
        if verdict is not None or not dozing:
            return verdict
        # The dozing threads may have run. If they are back, have sent nothing and have woken nobody, they had nothing
        # to do.
        return self._all_doze(dozing) or self._server.look() or self._all_slept(dozing)

    def _all_slept(self, dozing: list[Thread]) -> Verdict | None:
        """Return None if all threads have slept since the first look. Threads that doze and have not go on the list."""
        for thread in self._tree.threads():
            try:
                if thread in dozing or thread.slept():
                    continue
                state = thread.state()
            except ThreadEnded:
                self._tree.incomplete()
                return not_idle("ended", f"{thread} ended")
            if self.dozes(thread):
                dozing.append(thread)
                continue
            self._hot = thread
            return not_idle("woken", f"{thread} ran meanwhile" if state == "S" else f"{thread} is in state {state}")
        return None

    def _all_doze(self, dozing: list[Thread]) -> Verdict | None:
        for thread in dozing:
            verdict = self._judge(thread)
            if verdict is not None:
                return verdict
            try:
                # A thread that was woken shows its old call until the CPU that it is to run on takes note of that.
                back = self.dozes(thread) and thread.state() == "S"
            except ThreadEnded:
                back = False
            if not back:
                return not_idle("woken", f"{thread} ran meanwhile")
        # While they slept nobody looked whether they had started anything.
        if not self._tree.complete() and self._tree.refresh():
            return not_idle("woken", "a thread was started meanwhile")
        return None

    def _is_observed(self, inode: int) -> bool:
        """Tell whether one of the processes has the socket open, or may have."""
        return inode != 0 and self._socket_owners.owner(inode) is not None
