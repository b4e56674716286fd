"""Ports of the loopback address that nobody else takes between finding them and listening at them."""

import random
import socket
from pathlib import Path

_FIRST = 10_000
_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
_USUAL_LOWEST = 32_768
"""The lowest port that Linux gives to connections if nothing else is set; other systems begin higher."""
_TRIES = 10_000


def free_port() -> int:
    """Return a port that nobody uses, and that no other caller, in whatever process, is given as well.

    It lies below those that the kernel gives to outgoing connections: one of these would take a port that was free a
    moment ago. Raises OSError if there is none.
    """
    chance, end = random.SystemRandom(), _lowest_of_connections()
    for _ in range(_TRIES):
        port = chance.randrange(_FIRST, end)
        if _is_free(port) and _is_ours(port):
            return port
    raise OSError(f"no port from {_FIRST} to {end - 1} is free")


def _lowest_of_connections() -> int:
    try:
        lowest = int(_RANGE.read_text().split()[0])
    except (OSError, ValueError, IndexError):
        lowest = _USUAL_LOWEST
    return lowest if lowest > _FIRST + 1000 else _USUAL_LOWEST


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def _is_ours(port: int) -> bool:
    """Keep the port from other callers as long as this process lives.

    A datagram socket at the same number does that, and disturbs nobody who listens there.
    """
    mark = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        mark.bind(("127.0.0.1", port))
    except OSError:
        mark.close()
        return False
    mark.detach()
    return True
