"""Go programs on a clock that stands still: when they would wake up, and how to make them look at the clock.

Every sleep of the Go runtime is a wait in the kernel, as long as the clock that the runtime reads lets it expect
(runtime/proc.go, findRunnable). The runtime's timers do not fire while that clock stands. Once the clock has moved, a
thread that looks again finds them due.
"""

import ctypes
import signal
from collections.abc import Collection, Iterable

from batkube.clock.threads import Thread

_NANOSLEEP, _FUTEX, _RESTART_SYSCALL, _TGKILL, _EPOLL_PWAIT = 35, 202, 219, 234, 281
_NAPS = {_NANOSLEEP, _RESTART_SYSCALL}
"""The numbers of the calls that sleep. The second one follows a signal that was meant for another thread."""
_OF_THE_RUNTIME = {*_NAPS, _FUTEX, _EPOLL_PWAIT}
"""The numbers of the calls in which threads wait that are not about to run anything."""
_WAKINGS = 3
_MS = 1_000_000

_libc = ctypes.CDLL(None, use_errno=True)


def next_timer(threads: Iterable[Thread]) -> int | None:
    """Return for how many nanoseconds at least idle Go processes sleep, as of the oracle's last look; None if for ever.

    One thread of each process sits in epoll_pwait. Its time-out is the time left to the earliest timer in whole
    milliseconds, rounded down; less than two milliseconds count as one.
    """
    left = [_timeout(thread) for thread in threads if thread.call == _EPOLL_PWAIT]
    return min((max(0, ms * _MS if ms > 1 else 0) for ms in left if ms > 0), default=None)


def dozes(thread: Thread) -> bool:
    """Tell whether the thread, as last looked at, wakes up without need while the clock stands.

    If less than two milliseconds are left to a timer, the thread that waits for the timer and the runtime's monitor
    thread wait for that long in real time, find that the timer is not due, and wait again.
    """
    if thread.call == _EPOLL_PWAIT:
        return 0 < _timeout(thread) <= 1
    return thread.call == _NANOSLEEP or (thread.call == _FUTEX and int(thread.arguments[3], 16) != 0)


def poke(threads: Iterable[Thread]) -> None:
    """Make idle Go processes compute their sleeps again.

    Sends SIGURG to each thread that waits with a timeout. Go preempts its threads with this signal, so it does no harm.
    """
    for thread in threads:
        if thread.call == _EPOLL_PWAIT and _timeout(thread) > 0:
            _libc.syscall(_TGKILL, thread.pid, thread.tid, int(signal.SIGURG))


class Monitors:
    """The monitor threads of Go processes, which find processes that are not at rest though all their threads sleep.

    A thread that waits in a system call of the program's own (for a child or a pipe, for example) may keep other
    threads from running. They run when the monitor has seen the thread in that call twice. The monitor looks between
    naps (retake in runtime/proc.go), and these are long here (steady.TIMER_SLACK). If no thread can run, the monitor
    goes to sleep for good, in another call.
    """

    def __init__(self) -> None:
        self._runs: list[bytes] = []
        self._wakings = 0

    def wake(self, threads: Collection[Thread]) -> bool:
        """Wake the monitors that nap where that may matter, and tell whether there were any.

        The threads must be as the oracle's last look found them. Returns False, too, when waking has changed nothing
        three times.
        """
        in_calls = {thread.pid for thread in threads if thread.call not in _OF_THE_RUNTIME}
        naps = [thread for thread in threads if thread.call in _NAPS and thread.pid in in_calls]
        runs = [thread.runs for thread in threads if thread not in naps]
        self._wakings = self._wakings + 1 if runs == self._runs else 0
        self._runs = runs
        if self._wakings > _WAKINGS:
            return False
        for thread in naps:
            _libc.syscall(_TGKILL, thread.pid, thread.tid, int(signal.SIGURG))
        return bool(naps)


def _timeout(thread: Thread) -> int:
    """Return the fourth argument of epoll_pwait, an int: milliseconds; -1 for ever."""
    return ctypes.c_int(int(thread.arguments[3], 16)).value
