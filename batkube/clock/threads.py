"""One thread of a process as the kernel tells about it under /proc, its files kept open.

Reading an open file again costs 1 to 5 microseconds, and never tells about a later thread with the same id.
"""

import os
from typing import Final

from batkube.clock.syscalls import WAITING

RUNNING: Final = -2
"""Instead of a system call's number: the thread is on a CPU or wants to be."""
OUTSIDE: Final = -1
"""Instead of a system call's number: off the CPU, but in no system call (a page fault, a zombie)."""
UNTOLD: Final = -3
"""Instead of a system call's number: asleep, and the kernel does not tell in which call."""


class ThreadEnded(Exception):
    """There is no such thread any more."""


def counts_in_schedstat() -> bool:
    """Whether this kernel keeps a thread's number of runs where it is cheap to read (CONFIG_SCHED_INFO)."""
    try:
        fd = os.open("/proc/self/schedstat", os.O_RDONLY)
    except OSError:
        return False
    try:
        words = os.read(fd, 100).split()
    finally:
        os.close(fd)
    return len(words) == 3 and int(words[2]) > 0


_SCHEDSTAT = counts_in_schedstat()


class Thread:
    """What two looks at a thread must agree on: how often it was put on a CPU, and that it sleeps.

    Every method raises ThreadEnded once the thread is gone.
    """

    __slots__ = ("_children", "_count", "_stat", "_syscall", "arguments", "call", "pid", "runs", "tid")

    def __init__(self, pid: int, tid: int) -> None:
        self.pid = pid
        self.tid = tid
        self.runs = -1
        """Times it was put on a CPU, as of the last look."""
        self.call = RUNNING
        """Number of the system call it sleeps in, or RUNNING, OUTSIDE, UNTOLD; as of the last look."""
        self.arguments: list[bytes] = []
        """The call's six arguments in hexadecimal, as of the last look."""
        self._stat = self._count = self._syscall = self._children = -1
        base = f"/proc/{pid}/task/{tid}/"
        try:
            self._stat = os.open(base + "stat", os.O_RDONLY)
            # Where schedstat is missing the context switches in `status` tell the same at ten times the price.
            self._count = os.open(base + ("schedstat" if _SCHEDSTAT else "status"), os.O_RDONLY)
            if WAITING is not None:
                self._syscall = _open_if_allowed(base + "syscall")
            self._children = _open_if_allowed(base + "children")
        except (FileNotFoundError, ProcessLookupError):
            self.close()
            raise ThreadEnded from None
        except BaseException:
            self.close()
            raise

    def __str__(self) -> str:
        return f"thread {self.tid} of process {self.pid}"

    def look(self) -> None:
        """Fill in ``runs``, ``call`` and ``arguments``."""
        # The count first: a run between the two readings is then seen by the next look.
        self.runs = self.count_runs()
        self.arguments = []
        if self._syscall >= 0:
            try:
                text = os.pread(self._syscall, 300, 0)
            except ProcessLookupError:
                raise ThreadEnded from None
            except PermissionError:
                os.close(self._syscall)
                self._syscall = -1
            else:
                if text.startswith(b"running"):
                    self.call = RUNNING
                else:
                    words = text.split()
                    self.call = int(words[0])
                    self.arguments = words[1:7]
                return
        self.call = {"R": RUNNING, "S": UNTOLD}.get(self.state(), OUTSIDE)

    def count_runs(self) -> int:
        """Times it was put on a CPU until now."""
        try:
            text = os.pread(self._count, 4096, 0)
        except ProcessLookupError:
            raise ThreadEnded from None
        if _SCHEDSTAT:
            return int(text.split()[2])
        return sum(int(line.split()[1]) for line in text.splitlines() if b"_ctxt_switches" in line)

    def state(self) -> str:
        """One letter: R, S (asleep), D, T, Z ... Unlike the call, this shows a thread that is being woken as R."""
        try:
            text = os.pread(self._stat, 512, 0)
        except ProcessLookupError:
            raise ThreadEnded from None
        at = text.rindex(b")") + 2
        return text[at : at + 1].decode()

    def children(self) -> list[int]:
        """Processes that this thread has started and that live. Empty where the kernel does not tell."""
        if self._children < 0:
            return []
        try:
            return [int(pid) for pid in os.pread(self._children, 65536, 0).split()]
        except ProcessLookupError:
            raise ThreadEnded from None

    def close(self) -> None:
        """Let go of the files."""
        for fd in (self._stat, self._count, self._syscall, self._children):
            if fd >= 0:
                os.close(fd)
        self._stat = self._count = self._syscall = self._children = -1


def _open_if_allowed(path: str) -> int:
    try:
        return os.open(path, os.O_RDONLY)
    except PermissionError:
        return -1
    except FileNotFoundError:
        # The thread may be gone, or the kernel may be built without this file.
        if os.path.exists(os.path.dirname(path)):  # noqa: PTH110, PTH120
            return -1
        raise
