"""Pauses finer than the event loop's own, which counts in milliseconds."""

import asyncio
import ctypes
import os
import struct

_CLOCK_MONOTONIC = 1
_NONBLOCK_CLOEXEC = os.O_NONBLOCK | os.O_CLOEXEC
_libc = ctypes.CDLL(None, use_errno=True)


class FinePause:
    """``await pause.sleep(50e-6)``: the loop serves others meanwhile and uses no CPU. One sleeper at a time.

    Uses a timerfd (Linux); elsewhere ``asyncio.sleep``.
    """

    def __init__(self) -> None:
        self._fd = -1
        if hasattr(_libc, "timerfd_create"):
            self._fd = _libc.timerfd_create(_CLOCK_MONOTONIC, _NONBLOCK_CLOEXEC)

    async def sleep(self, seconds: float) -> None:
        """Return after ``seconds`` of real time, give or take some 50 microseconds."""
        if self._fd < 0:
            await asyncio.sleep(seconds)
            return
        nanoseconds = max(1, int(seconds * 1e9))
        loop = asyncio.get_running_loop()
        over = loop.create_future()
        loop.add_reader(self._fd, self._expired, over)
        try:
            self._set(nanoseconds)
            await over
        finally:
            loop.remove_reader(self._fd)
            self._set(0)

    def close(self) -> None:
        """Let go of the timer."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _set(self, nanoseconds: int) -> None:
        # struct itimerspec: no repetition; 0 disarms, and takes back an expiry that nobody has read
        value = struct.pack("qqqq", 0, 0, *divmod(nanoseconds, 1_000_000_000))
        if _libc.timerfd_settime(self._fd, 0, value, None):
            raise OSError(ctypes.get_errno(), "timerfd_settime")

    @staticmethod
    def _expired(over: asyncio.Future[None]) -> None:
        if not over.done():
            over.set_result(None)
