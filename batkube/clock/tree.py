"""The helper that takes over the waits of a program and of all it starts: native/tree/, built at its first use."""

import hashlib
import os
import socket
import subprocess
from pathlib import Path
from typing import NamedTuple

from batkube.clock import randomness, vdso
from batkube.clock.native.build import HELPER, HELPER_SOURCES, build_tree, compiler

PATIENCE = 60.0
"""Real seconds within which the helper must answer; it takes microseconds, but the machine may be busy."""


class Waits(NamedTuple):
    """The helper's answer about its processes."""

    ended: int
    """Waits that were due and were ended by this question, and timers that went off."""
    waiting: int
    """Waits with a deadline that go on, and armed timers."""
    deadline: int
    """The earliest deadline, in nanoseconds of the simulated CLOCK_MONOTONIC; -1: none."""
    stops: int
    """Stops of processes handled so far."""
    births: int
    """Processes that there have been so far."""


GONE = Waits(0, 0, -1, -1, -1)


class Helper:
    """The controller's end of the helper.

    The helper ends with its last process, and all its processes end when this is closed.
    """

    def __init__(self) -> None:
        self._ours, self.theirs = socket.socketpair()
        self._ours.settimeout(PATIENCE)
        self.ready, self.tells_ready = os.pipe()

    def command(self, page: str, argv: list[str], seed: int | None) -> list[str]:
        """Return the command line that runs ``argv`` under the helper. Raises OSError if the helper cannot be built."""
        descriptors = [str(self.theirs.fileno()), str(self.tells_ready)]
        return [str(program()), page, str(vdso.IMAGE), *descriptors, randomness.helper_seed(seed), *argv]

    @property
    def descriptors(self) -> tuple[int, int]:
        """The file descriptors that the command must inherit."""
        return self.theirs.fileno(), self.tells_ready

    def started(self) -> bool:
        """Wait until the program's image is in place; tell whether it has the clock.

        Called once, after the command was started.
        """
        self.theirs.close()
        os.close(self.tells_ready)
        self.tells_ready = -1
        try:
            return os.read(self.ready, 1) == b"1"
        finally:
            os.close(self.ready)
            self.ready = -1

    def wake(self) -> Waits:
        """End all waits that are due by the clock page, at once."""
        return self._ask(b"W")

    def wake_one(self) -> Waits:
        """End the first of the waits that are due, or let the first of the timers go off; ``ended`` is 0 if none is.

        If more is still due, ``deadline`` is in the past. The order is that of the deadlines. Among deadlines less than
        0.1 ms apart the one goes first whose process, then thread, comes first in the tree of all that the program has
        started (parents before children, older ones before younger ones). The order does not depend on real time.
        """
        return self._ask(b"O")

    def tell(self) -> Waits:
        """Ask, and end nothing."""
        return self._ask(b"Q")

    def close(self) -> None:
        """End all its processes."""
        self._ours.close()
        self.theirs.close()
        for fd in (self.ready, self.tells_ready):
            if fd >= 0:
                os.close(fd)
        self.ready = self.tells_ready = -1

    def processes(self) -> list[int]:
        """Return the processes that the helper holds, including those whose parent has ended."""
        return self._answer(b"P")

    def _ask(self, question: bytes) -> Waits:
        numbers = self._answer(question)
        return Waits(*numbers) if len(numbers) == 5 else GONE

    def _answer(self, question: bytes) -> list[int]:
        """Return the helper's line of numbers; empty if the helper has ended."""
        try:
            self._ours.sendall(question)
            line = self._ours.recv(65536)
            while line and not line.endswith(b"\n"):
                more = self._ours.recv(65536)
                line = line + more if more else b""
        except OSError:
            return []
        return [int(word) for word in line.split()]


def program() -> Path:
    """Return the helper's program: the package's own, or the one built at the first use into the user's cache.

    Raises OSError if that is not possible.
    """
    reason = missing()
    if reason:
        raise OSError(reason)
    if HELPER.exists():
        return HELPER
    cached = _cached()
    if not cached.exists():
        cached.parent.mkdir(parents=True, exist_ok=True)
        new = cached.with_suffix(f".{os.getpid()}")
        build(new)
        new.replace(cached)
    return cached


def build(target: Path) -> None:
    """Build the helper anew. Raises OSError."""
    try:
        build_tree(target)
    except subprocess.CalledProcessError as error:
        said = error.stderr.strip().splitlines()
        raise OSError(f"{compiler()} cannot build it: {said[0] if said else 'it says nothing'}") from None


def built() -> bool:
    """Tell whether there is a helper that need not be built."""
    return HELPER.exists() or _cached().exists()


def missing() -> str:
    """Say why there is no helper on this machine; empty if there is one or it can be built."""
    if not vdso.missing() and not built() and compiler() is None:
        return "its helper must be built, and there is no C compiler (neither $CC nor gcc nor cc)"
    return vdso.missing()


def _cached() -> Path:
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in HELPER_SOURCES)).hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "batkube" / "native" / f"tree-{digest}"
