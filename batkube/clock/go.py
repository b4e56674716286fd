"""Go programs on a clock that stands still: when they would wake up, and how to make them look at the clock.

All sleeps of the Go runtime are waits of the kernel for as long as the clock it reads lets expect (runtime/proc.go,
findRunnable). They do not fire while that clock stands; once it has moved, a thread that looks again finds them due.
"""

import ctypes
import os
import signal
import struct
from collections.abc import Iterable

from batkube.clock.threads import Thread

_EPOLL_PWAIT, _FUTEX, _TGKILL = 281, 202, 234
_FUTEX_WAIT, _FUTEX_COMMAND = 0, 0x7F
_MS = 1_000_000

_libc = ctypes.CDLL(None, use_errno=True)


def next_timer(threads: Iterable[Thread]) -> int | None:
    """Nanoseconds to the next timer of an idle Go process, as of the oracle's last look; None where there is none.

    One of its threads sits in epoll_pwait with what is left to the earliest timer, in whole milliseconds rounded down.
    The monitor thread often sleeps in a futex for the same time to the nanosecond, at most a minute.
    """
    left: int | None = None
    exact = []
    for thread in threads:
        if thread.call == _EPOLL_PWAIT:
            milliseconds = _timeout(thread)
            if milliseconds > 0 and (left is None or milliseconds * _MS < left):
                left = milliseconds * _MS
        elif thread.call == _FUTEX and int(thread.arguments[1], 16) & _FUTEX_COMMAND == _FUTEX_WAIT:
            nanoseconds = _futex_timeout(thread)
            if nanoseconds is not None:
                exact.append(nanoseconds)
    if left is None:
        return None
    for nanoseconds in exact:
        # Less than a millisecond is waited for as one millisecond.
        if left <= nanoseconds < left + _MS or (left == _MS and 0 < nanoseconds < _MS):
            return nanoseconds
    return left if left == _MS else left + _MS - 1


def poke(threads: Iterable[Thread]) -> None:
    """Make idle Go processes compute their sleeps again.

    By SIGURG to the thread that waits with a timeout: Go preempts its threads with this signal and takes it well.
    """
    for thread in threads:
        if thread.call == _EPOLL_PWAIT and _timeout(thread) > 0:
            _libc.syscall(_TGKILL, thread.pid, thread.tid, int(signal.SIGURG))


def _timeout(thread: Thread) -> int:
    """The fourth argument of epoll_pwait, an int: milliseconds, -1 for ever."""
    return ctypes.c_int(int(thread.arguments[3], 16)).value


def _futex_timeout(thread: Thread) -> int | None:
    address = int(thread.arguments[3], 16)
    if not address:
        return None
    try:
        fd = os.open(f"/proc/{thread.pid}/mem", os.O_RDONLY)
        try:
            seconds, nanoseconds = struct.unpack("=qq", os.pread(fd, 16, address))
        finally:
            os.close(fd)
    except (OSError, struct.error):
        return None
    return int(seconds) * 1_000_000_000 + int(nanoseconds)
