"""The loopback device, over which programs of one machine talk, and the packets that it has not delivered yet."""

import os

_QUEUED = slice(99, 107)
"""The place of the number of queued packets, eight hexadecimal digits, in a line of /proc/net/softnet_stat. The file
has a line for each CPU, with this number since Linux 5.10."""
_NONE = (b"00000000", b"")


class Loopback:
    """Counts the packets of the loopback device. Raises OSError if the kernel does not tell."""

    def __init__(self) -> None:
        self._queues = os.open("/proc/net/softnet_stat", os.O_RDONLY)

    def undelivered(self) -> int:
        """Return how many packets wait now, on all CPUs; 0 also if this kernel does not count them.

        As a rule a packet is delivered before the call that sends it returns. On a machine so busy that the kernel
        leaves delivery to a thread of its own (ksoftirqd), it is not. No socket shows the packet meanwhile: it may ask
        for a connection.
        """
        lines = os.pread(self._queues, 1 << 16, 0).splitlines()
        return sum(int(queued, 16) for line in lines if (queued := line[_QUEUED]) not in _NONE)

    def close(self) -> None:
        """Close the file."""
        os.close(self._queues)
