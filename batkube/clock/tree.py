"""The helper that takes over the waits of a program and of all it starts: native/tree/, built where it is needed."""

import hashlib
import os
import socket
import subprocess
from pathlib import Path
from typing import NamedTuple

from batkube.clock import vdso
from batkube.clock.native.build import HELPER, HELPER_SOURCES, build_tree, compiler

PATIENCE = 5.0
"""Real seconds for the helper to answer; it takes microseconds."""


class Waits(NamedTuple):
    """What the helper tells of its processes."""

    ended: int
    """Waits that were due and were ended by this question, and timers that went off."""
    waiting: int
    """Waits with a deadline that go on, and armed timers."""
    deadline: int
    """The earliest, simulated CLOCK_MONOTONIC in nanoseconds; -1: none."""
    stops: int
    """Stops of processes handled so far."""
    births: int
    """Processes that there have been so far."""


GONE = Waits(0, 0, -1, -1, -1)


class Helper:
    """The controller's end. The helper ends with its last process, and all its processes when this is closed."""

    def __init__(self) -> None:
        self._ours, self.theirs = socket.socketpair()
        self._ours.settimeout(PATIENCE)
        self.ready, self.tells_ready = os.pipe()

    def command(self, page: str, argv: list[str]) -> list[str]:
        """The command line that runs ``argv`` under the helper. Raises OSError where that cannot be built."""
        return [str(program()), page, str(vdso.IMAGE), str(self.theirs.fileno()), str(self.tells_ready), *argv]

    @property
    def descriptors(self) -> tuple[int, int]:
        """What the command must inherit."""
        return self.theirs.fileno(), self.tells_ready

    def started(self) -> bool:
        """Wait until the program's image is in place; whether it has the clock. Once, after the command was started."""
        self.theirs.close()
        os.close(self.tells_ready)
        self.tells_ready = -1
        try:
            return os.read(self.ready, 1) == b"1"
        finally:
            os.close(self.ready)
            self.ready = -1

    def wake(self) -> Waits:
        """End the waits that are due by the clock page."""
        return self._ask(b"W")

    def tell(self) -> Waits:
        """Only ask."""
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
        """Those that it holds, also those whose parent has ended."""
        return self._answer(b"P")

    def _ask(self, question: bytes) -> Waits:
        numbers = self._answer(question)
        return Waits(*numbers) if len(numbers) == 5 else GONE

    def _answer(self, question: bytes) -> list[int]:
        """A line of numbers; nothing where the helper has ended."""
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
    """The helper's program: the package's own, or built at the first use into the user's cache.

    Raises OSError where that is not possible.
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
    """Build it anew. Raises OSError."""
    try:
        build_tree(target)
    except subprocess.CalledProcessError as error:
        said = error.stderr.strip().splitlines()
        raise OSError(f"{compiler()} cannot build it: {said[0] if said else 'it says nothing'}") from None


def built() -> bool:
    """Whether there is one that need not be built."""
    return HELPER.exists() or _cached().exists()


def missing() -> str:
    """Why there is no helper on this machine; empty where there is one or it can be built."""
    if not vdso.missing() and not built() and compiler() is None:
        return "its helper must be built, and there is no C compiler (neither $CC nor gcc nor cc)"
    return vdso.missing()


def _cached() -> Path:
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in HELPER_SOURCES)).hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "batkube" / "native" / f"tree-{digest}"
