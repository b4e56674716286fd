"""Packets that the kernel has accepted and not yet delivered.

On the loopback device a packet is delivered before the call that sends it returns, except on a machine so busy that
the kernel leaves it to a thread of its own (ksoftirqd). No socket shows it meanwhile: it may ask for a connection.
"""

import os

_QUEUED = 11
"""Column of /proc/net/softnet_stat, one line a CPU: packets in the queue (since Linux 5.10)."""


class Backlog:
    """Counts them. Raises OSError where the kernel does not tell."""

    def __init__(self) -> None:
        self._fd = os.open("/proc/net/softnet_stat", os.O_RDONLY)

    def packets(self) -> int:
        """How many wait now, on all CPUs; 0 also where this kernel does not count them."""
        lines = os.pread(self._fd, 1 << 16, 0).splitlines()
        return sum(int(words[_QUEUED], 16) for line in lines if len(words := line.split()) > _QUEUED + 1)

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._fd)
