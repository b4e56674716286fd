"""The loopback device, over which programs of one machine talk: what was sent, and what is not yet delivered."""

import os

_QUEUED = 11
"""Column of /proc/net/softnet_stat, one line a CPU: packets in the queue (since Linux 5.10)."""
_DEVICE = b"lo:"


class Loopback:
    """Counts its packets, in the network namespace of this process. Raises OSError where the kernel does not tell."""

    def __init__(self) -> None:
        self._queues = os.open("/proc/net/softnet_stat", os.O_RDONLY)
        try:
            self._devices = os.open("/proc/net/dev", os.O_RDONLY)
        except OSError:
            os.close(self._queues)
            raise

    def undelivered(self) -> int:
        """Packets that wait now, on all CPUs; 0 also where this kernel does not count them.

        As a rule a packet is delivered before the call that sends it returns. Not so on a machine so busy that the
        kernel leaves it to a thread of its own (ksoftirqd). No socket shows it meanwhile: it may ask for a connection.
        """
        lines = os.pread(self._queues, 1 << 16, 0).splitlines()
        return sum(int(words[_QUEUED], 16) for line in lines if len(words := line.split()) > _QUEUED + 1)

    def traffic(self) -> bytes:
        """Differs from what it was before if anything was sent meanwhile; empty where there is no such device."""
        text = os.pread(self._devices, 1 << 16, 0)
        start = text.find(_DEVICE)
        return text[start : text.find(b"\n", start)] if start >= 0 else b""

    def close(self) -> None:
        """Let go of the files."""
        os.close(self._queues)
        os.close(self._devices)
