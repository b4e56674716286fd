"""A test for whether a process or thread was started on this machine."""

import os
import time

_TRUSTED_FOR = 0.5
"""Real seconds for which the last id is trusted. The kernel gives ids out in a circle of at least 32,768, and does not
come round it in so short a time."""


class Births:
    """Reads the id that was given out last in this process's pid namespace, for processes and threads alike.

    Each start in the namespace, and in the namespaces within it, takes one id. (`/proc/loadavg` has the last one:
    proc(5). Reading that file costs a microsecond; asking each thread of a program for its children costs ten and
    more.)
    """

    def __init__(self) -> None:
        self._file = -1
        self._read_at = 0.0
        self._last = b""
        self._round = 0
        # Not used if /proc is another namespace's, or if the file is an imitation, as containers have.
        try:
            if int(os.readlink("/proc/self")) != os.getpid():  # noqa: PTH115
                return
            file = os.open("/proc/loadavg", os.O_RDONLY | os.O_CLOEXEC)
        except (OSError, ValueError):
            return
        told = os.pread(file, 128, 0).split()
        if os.fstat(file).st_dev == os.stat("/proc/self/stat").st_dev and len(told) == 5 and int(told[4]) > 0:  # noqa: PTH116
            self._file = file
        else:
            os.close(file)

    def last(self) -> bytes | None:
        """Return a value that stays the same only if nothing was started since; None if that cannot be known."""
        if self._file < 0:
            return None
        now = time.monotonic()
        last = os.pread(self._file, 128, 0).rpartition(b" ")[2]
        if now - self._read_at > _TRUSTED_FOR:
            self._round += 1
        self._read_at = now
        return b"%d %s" % (self._round, last)

    def close(self) -> None:
        """Close the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
