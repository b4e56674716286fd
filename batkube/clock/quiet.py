"""The fall-back for schedulers that cannot be observed: silence is taken for quiescence."""

import asyncio
import time
from collections.abc import Callable

from batkube.clock.verdict import IDLE, Verdict, not_idle


class QuietPeriod:
    """Takes a scheduler to be at rest if ``requests``, a growing count, has not grown for ``seconds`` of real time.

    This is a guess: a scheduler that thinks for longer is taken for idle.
    """

    def __init__(self, requests: Callable[[], int], seconds: float) -> None:
        self._requests = requests
        self._seconds = seconds

    async def wait_for_quiescence(self, *, timeout: float | None) -> Verdict:
        """Wait for the silence; ``timeout`` is in real seconds."""
        start = quiet_since = time.monotonic()
        count = self._requests()
        while True:
            now = time.monotonic()
            if self._requests() != count:
                count, quiet_since = self._requests(), now
            left = quiet_since + self._seconds - now
            if left <= 0:
                return IDLE
            if timeout is not None and now - start >= timeout:
                return not_idle("requests", f"requests came less than {self._seconds:g} s ago")
            await asyncio.sleep(min(left, self._seconds / 4))
