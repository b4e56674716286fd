"""Pauses finer than the event loop's own, which counts in milliseconds."""

import asyncio
import ctypes
import os
import struct
import time

_CLOCK_MONOTONIC = 1
_NONBLOCK_CLOEXEC = os.O_NONBLOCK | os.O_CLOEXEC
_EARLY = 20e-6
"""The real seconds by which a sleep may be shorter than asked for: less than it takes to set the timer again."""
_libc = ctypes.CDLL(None, use_errno=True)


class FinePause:
    """``await pause.sleep(50e-6)``: the loop serves others meanwhile and uses no CPU. One sleeper at a time.

    Uses a timerfd (Linux), which stays registered in the loop; elsewhere ``asyncio.sleep``.
    """

    def __init__(self) -> None:
        self._fd = -1
        self._loop: asyncio.AbstractEventLoop | None = None
        self._over: asyncio.Future[None] | None = None
        self._until = 0.0  # the sleep lasts until then; the timer goes off at its own date, if it is set
        self._goes_off: float | None = None
        if hasattr(_libc, "timerfd_create"):
            self._fd = _libc.timerfd_create(_CLOCK_MONOTONIC, _NONBLOCK_CLOEXEC)

    async def sleep(self, seconds: float, loop: asyncio.AbstractEventLoop) -> None:
        """Return after ``seconds`` of real time, give or take some 50 microseconds; ``loop`` is the running one."""
        if self._fd < 0:
            await asyncio.sleep(seconds)
            return
        if loop is not self._loop:
            self._leave()
            loop.add_reader(self._fd, self._expired)
            self._loop = loop
        self._over = loop.create_future()
        self._until = time.monotonic() + seconds
        # Setting the timer is expensive. A timer that was set for a sleep that has been ended will do: it is set anew
        # when it goes off.
        if self._goes_off is None or self._goes_off > self._until:
            self._set(seconds)
        try:
            await self._over
        finally:
            self._over = None

    def shorten(self, seconds: float) -> None:
        """Let the current sleep end in ``seconds`` of real time, if it would take longer."""
        until = time.monotonic() + seconds
        if self._over is not None and until < self._until:
            self._until = until
            if self._goes_off is None or self._goes_off > until:
                self._set(seconds)

    def end(self) -> None:
        """Let the current sleep end now."""
        if self._over is not None and not self._over.done():
            self._over.set_result(None)

    def close(self) -> None:
        """Close the timer."""
        if self._fd >= 0:
            self._leave()
            os.close(self._fd)
            self._fd = -1

    def _set(self, seconds: float) -> None:
        self._goes_off = time.monotonic() + seconds
        # struct itimerspec: no repetition; 0 would disarm
        value = struct.pack("qqqq", 0, 0, *divmod(max(1, int(seconds * 1e9)), 1_000_000_000))
        if _libc.timerfd_settime(self._fd, 0, value, None):
            raise OSError(ctypes.get_errno(), "timerfd_settime")

    def _expired(self) -> None:
        try:
            os.read(self._fd, 8)
        except BlockingIOError:
            return  # set anew since
        self._goes_off = None
        if self._over is None or self._over.done():
            return
        left = self._until - time.monotonic()
        if left > _EARLY:
            self._set(left)
        else:
            self.end()

    def _leave(self) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.remove_reader(self._fd)
        self._loop = None
