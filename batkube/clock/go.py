"""Go programs on a clock that stands still: when they would wake up, and how to make them look at the clock.

All sleeps of the Go runtime are waits of the kernel for as long as the clock it reads lets expect (runtime/proc.go,
findRunnable). They do not fire while that clock stands; once it has moved, a thread that looks again finds them due.
"""

import ctypes
import signal
from collections.abc import Iterable

from batkube.clock.threads import Thread

_NANOSLEEP, _FUTEX, _TGKILL, _EPOLL_PWAIT = 35, 202, 234, 281
_MS = 1_000_000

_libc = ctypes.CDLL(None, use_errno=True)


def next_timer(threads: Iterable[Thread]) -> int | None:
    """Nanoseconds that idle Go processes sleep on at least, as of the oracle's last look; None where for ever.

    One of the threads of each sits in epoll_pwait with what is left to the earliest timer: in whole milliseconds,
    rounded down, and less than two of them as one.
    """
    left = [_timeout(thread) for thread in threads if thread.call == _EPOLL_PWAIT]
    return min((max(0, ms * _MS if ms > 1 else 0) for ms in left if ms > 0), default=None)


def dozes(thread: Thread) -> bool:
    """Whether it is one that wakes up without need while the clock stands, as last looked at.

    Where less than two milliseconds are left to a timer the thread that waits for it and the runtime's monitor thread
    wait for so long of real time, find that it is not due, and wait again.
    """
    if thread.call == _EPOLL_PWAIT:
        return 0 < _timeout(thread) <= 1
    return thread.call == _NANOSLEEP or (thread.call == _FUTEX and int(thread.arguments[3], 16) != 0)


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
