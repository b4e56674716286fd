"""The system calls in which a thread waits for something to happen, by architecture.

A thread asleep in one of these does nothing by itself until it is woken: by bytes, another thread, a signal or a timer.
A thread asleep in any other call (write, connect, fsync ...) is in the middle of its work.
"""

import platform

X86_64 = {
    0: "read", 7: "poll", 19: "readv", 23: "select", 34: "pause", 35: "nanosleep", 43: "accept", 45: "recvfrom",
    47: "recvmsg", 61: "wait4", 65: "semop", 70: "msgrcv", 73: "flock", 128: "rt_sigtimedwait", 130: "rt_sigsuspend",
    202: "futex", 219: "restart_syscall", 220: "semtimedop", 230: "clock_nanosleep", 232: "epoll_wait",
    243: "mq_timedreceive", 247: "waitid", 270: "pselect6", 271: "ppoll", 281: "epoll_pwait", 288: "accept4",
    299: "recvmmsg", 441: "epoll_pwait2", 449: "futex_waitv", 455: "futex_wait",
}  # fmt: skip

# The numbers that newer architectures share: asm-generic/unistd.h.
GENERIC = {
    22: "epoll_pwait", 32: "flock", 63: "read", 65: "readv", 72: "pselect6", 73: "ppoll", 95: "waitid", 98: "futex",
    101: "nanosleep", 115: "clock_nanosleep", 128: "restart_syscall", 133: "rt_sigsuspend", 137: "rt_sigtimedwait",
    183: "mq_timedreceive", 188: "msgrcv", 192: "semtimedop", 193: "semop", 202: "accept", 207: "recvfrom",
    212: "recvmsg", 242: "accept4", 243: "recvmmsg", 260: "wait4", 441: "epoll_pwait2", 449: "futex_waitv",
    455: "futex_wait",
}  # fmt: skip

_BY_MACHINE = {"x86_64": X86_64, "aarch64": GENERIC, "riscv64": GENERIC}

WAITING: dict[int, str] | None = _BY_MACHINE.get(platform.machine())
"""The system calls of this machine in which a thread waits; None if its call numbers are not known."""

# Where a program that does not come to rest may be found instead, to say so by name.
_WORKING = {
    "x86_64": {
        1: "write", 20: "writev", 42: "connect", 44: "sendto", 46: "sendmsg", 56: "clone", 58: "vfork", 59: "execve",
        74: "fsync", 75: "fdatasync", 257: "openat", 435: "clone3",
    },
}  # fmt: skip


def name(call: int) -> str:
    """Return the system call's name on this machine, or its number if it is not known here."""
    return (WAITING or {}).get(call) or _WORKING.get(platform.machine(), {}).get(call) or str(call)
