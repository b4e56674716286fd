"""The clock page: memory through which processes on the simulated clock read the time.

Layout and reader: native/clock_page.h and native/vdso.c.
"""

import ctypes
import mmap
import os
import time

PAGE = 4096
SIZE = 2 * PAGE
"""The size in bytes: the clock, and the counters of its reads."""
MAGIC = 0x314B4C434B544142


class _Clock(ctypes.Structure):
    _fields_ = (
        ("magic", ctypes.c_uint64),
        ("sequence", ctypes.c_uint64),
        ("realtime_ns", ctypes.c_int64),
        ("monotonic_ns", ctypes.c_int64),
    )


class _Reads(ctypes.Structure):
    _fields_ = (("monotonic", ctypes.c_uint64), ("realtime", ctypes.c_uint64))


class ClockPage:
    """A clock that stands still unless it is set, except that each reading of it adds 1 ns.

    Readings of the wall clock and of the monotonic one are counted apart: how often a Go program reads the latter
    depends on how busy the machine is. Each time the clock is set the wall clock is led back to the other.

    So events get time stamps in the order in which they happen. Times are nanoseconds: ``realtime`` since 1970,
    ``monotonic`` as the processes' CLOCK_MONOTONIC, which starts at the host's.
    """

    def __init__(self, realtime: int) -> None:
        """``realtime``: the start of the wall clock. Raises OSError if there is no memory."""
        fd = os.memfd_create("batkube-clock", os.MFD_CLOEXEC)
        try:
            os.ftruncate(fd, SIZE)
            self._memory = mmap.mmap(fd, SIZE)
        except BaseException:
            os.close(fd)
            raise
        self._fd = fd
        self._clock = _Clock.from_buffer(self._memory)
        self._reads = _Reads.from_buffer(self._memory, PAGE)
        self._clock.realtime_ns = realtime
        # Not 0: Go refuses that, and timers of processes that started earlier must not lie in the future.
        self._clock.monotonic_ns = time.monotonic_ns()
        self._apart = realtime - self._clock.monotonic_ns
        self._clock.magic = MAGIC

    @property
    def path(self) -> str:
        """The file that processes map, valid as long as this process lives."""
        return f"/proc/{os.getpid()}/fd/{self._fd}"

    @property
    def reads(self) -> int:
        """The number of times the monotonic clock was read, and so the nanoseconds that were added to it."""
        return int(self._reads.monotonic)

    @property
    def monotonic(self) -> int:
        """CLOCK_MONOTONIC as the last reader saw it."""
        return int(self._clock.monotonic_ns) + self.reads

    @property
    def realtime(self) -> int:
        """CLOCK_REALTIME as the last reader saw it."""
        return int(self._clock.realtime_ns) + int(self._reads.realtime)

    def advance(self, nanoseconds: int) -> None:
        """Move the clock on. Raises ValueError for a step back."""
        if nanoseconds < 0:
            raise ValueError(f"the clock cannot go back by {-nanoseconds} ns")
        clock = self._clock
        in_step = self._apart + self.monotonic + nanoseconds - int(self._reads.realtime)
        # A seqlock: x86 keeps the order of stores, and each assignment here is one of 8 bytes.
        clock.sequence += 1
        clock.realtime_ns = max(clock.realtime_ns, in_step)
        clock.monotonic_ns += nanoseconds
        clock.sequence += 1

    def close(self) -> None:
        """Release this process's mapping; the observed processes keep theirs."""
        if self._fd >= 0:
            del self._clock, self._reads
            self._memory.close()
            os.close(self._fd)
            self._fd = -1
