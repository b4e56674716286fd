"""The random bytes that a program is given at its start, which follow from a seed."""

import hashlib
import struct

from batkube.clock.ptrace import HeldProcess

_AT_RANDOM = 25


def helper_seed(seed: int | None) -> str:
    """Return the seed as the helper of tree mode is told it; empty for None: all stays random."""
    return "" if seed is None else _digest(seed, "tree", 8).hex()


def install(process: HeldProcess, seed: int) -> None:
    """Overwrite the sixteen random bytes that the kernel has given the process.

    Go seeds maps, ``select`` and ``math/rand`` from them; C libraries their stack protector.
    """
    entry = process.auxiliary(_AT_RANDOM)
    if entry is not None:
        (address,) = struct.unpack("<Q", process.read(entry, 8))
        process.write(address, _digest(seed, "program", 16))


def _digest(seed: int, purpose: str, size: int) -> bytes:
    return hashlib.blake2b(str(seed).encode(), digest_size=size, person=purpose.encode()).digest()
