"""One thread of a process as the kernel describes it under /proc, with its files kept open.

Reading an open file again costs 0.5 to 5 microseconds, and never tells about a later thread with the same id.

A thread that was found asleep in a system call, and was not put on a CPU since, is still in that call: it cannot have
left it without running. So ``look`` reads the call only of threads that ran. (Without schedstat it reads the call each
time: `status` counts a run only when it is over.)
"""

import os
from typing import Final

from batkube.clock.syscalls import WAITING

RUNNING: Final = -2
"""The value of ``call`` instead of a system call's number: the thread is on a CPU or wants to be."""
OUTSIDE: Final = -1
"""The value of ``call`` instead of a system call's number: off the CPU, but in no system call (a page fault, a
zombie)."""
UNTOLD: Final = -3
"""The value of ``call`` instead of a system call's number: asleep, and the kernel does not tell in which call."""


class ThreadEnded(Exception):
    """The thread has ended."""


def counts_in_schedstat() -> bool:
    """Tell whether this kernel keeps a thread's number of runs where it is cheap to read (CONFIG_SCHED_INFO)."""
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
    """One thread. Two looks at it must agree on two things: how often it was put on a CPU, and that it sleeps.

    Every method raises ThreadEnded once the thread is gone.
    """

    __slots__ = ("_children", "_count", "_known", "_stat", "_syscall", "arguments", "call", "pid", "runs", "tid")

    def __init__(self, pid: int, tid: int) -> None:
        self.pid = pid
        self.tid = tid
        self.runs = b""
        """The result of `count_runs` at the last look."""
        self.call = RUNNING
        """The number of the system call it sleeps in, or RUNNING, OUTSIDE, UNTOLD; as of the last look."""
        self.arguments: list[bytes] = []
        """The call's six arguments in hexadecimal, as of the last look."""
        self._known = False
        """True if it was asleep at the last look, and ``call`` says where."""
        self._stat = self._count = self._syscall = self._children = -1
        base = f"/proc/{pid}/task/{tid}/"
        try:
            self._stat = os.open(base + "stat", os.O_RDONLY)
            # Without schedstat, the context switches in `status` tell the same at ten times the price.
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

    def look(self) -> bool:
        """Bring ``runs``, ``call`` and ``arguments`` up to date; tell whether it may have run since the last look."""
        # The count first: a run between the two readings is then seen by the next look.
        runs = self.count_runs()
        if self._known and runs == self.runs and _SCHEDSTAT:
            return False
        self.runs = runs
        self.call, self.arguments = self._read_call()
        self._known = self.call not in (RUNNING, OUTSIDE)
        return True

    def count_runs(self) -> bytes:
        """Return a value that differs from the one before if the thread was put on a CPU since."""
        try:
            text = os.pread(self._count, 4096, 0)
        except ProcessLookupError:
            raise ThreadEnded from None
        if _SCHEDSTAT:
            return text  # time on a CPU, time waiting for one, how often it got one
        return b"".join(line for line in text.splitlines() if b"_ctxt_switches" in line)

    def slept(self) -> bool:
        """Tell whether it sleeps, or has ended but is not gone, and was not put on a CPU since the last look."""
        # The state first: it may run after the count was read, and sleep again.
        return self.state() in "SZ" and self.count_runs() == self.runs

    def ran(self) -> bool:
        """Tell whether it was put on a CPU since the last look; it may also be about to be."""
        return self.count_runs() != self.runs or not (_SCHEDSTAT or self.state() in "SZ")

    def state(self) -> str:
        """Return one letter: R, S (asleep), D, T, Z ...

        Unlike the call, this shows a thread that is being woken as R.
        """
        try:
            text = os.pread(self._stat, 128, 0)
        except ProcessLookupError:
            raise ThreadEnded from None
        return chr(text[text.rindex(b")") + 2])

    def _read_call(self) -> tuple[int, list[bytes]]:
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
                    return RUNNING, []
                words = text.split()
                return int(words[0]), words[1:7]
        return {"R": RUNNING, "S": UNTOLD}.get(self.state(), OUTSIDE), []

    def children(self) -> list[int]:
        """Return the processes that this thread has started and that live; empty if the kernel does not tell."""
        if self._children < 0:
            return []
        try:
            return [int(pid) for pid in os.pread(self._children, 65536, 0).split()]
        except ProcessLookupError:
            raise ThreadEnded from None

    def close(self) -> None:
        """Close the files."""
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
