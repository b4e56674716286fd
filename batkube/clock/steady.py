"""Fix the choices that the kernel makes anew in each run: in the child, before its program starts.

A choice that may not be fixed here (containers may forbid it) stays as it is.
"""

import ctypes
import os
import sys
from contextlib import suppress

_ADDR_NO_RANDOMIZE, _ASK = 0x0040000, 0xFFFFFFFF
_PR_SET_TIMERSLACK = 29
TIMER_SLACK = 1_000_000_000
"""Nanoseconds by which the kernel may end a wait late.

The monitor thread of the Go runtime hands on the turn of a goroutine that it finds in the same system call twice. By
default it looks every 20 microseconds of real time. With this slack it looks once in a second, and when it matters
(go.Monitors). Waits that follow the simulated clock are not affected: they end because they are woken.
"""

_libc = ctypes.CDLL(None, use_errno=True)


def steady() -> None:
    """Give this process and all that it starts the same addresses, one CPU, and threads that run until they wait.

    On one CPU, with a policy under which woken threads do not interrupt running ones (SCHED_BATCH), the threads of a
    program take turns instead of racing. It is no guarantee: other processes that want the CPU still interrupt them.
    """
    if (personality := getattr(_libc, "personality", None)) is not None:  # Linux has it
        personality(personality(_ASK) | _ADDR_NO_RANDOMIZE)
    if (prctl := getattr(_libc, "prctl", None)) is not None:
        prctl(_PR_SET_TIMERSLACK, TIMER_SLACK)
    if sys.platform == "linux":
        with suppress(OSError):
            os.sched_setaffinity(0, {_one_of(os.sched_getaffinity(0))})
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def _one_of(processors: set[int]) -> int:
    """Return one of the processors, another one for each process: parallel runs should not share one."""
    return sorted(processors)[os.getpid() % len(processors)]
