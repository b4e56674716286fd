"""The pace of simulated time: simulated seconds per real second, or as fast as possible; paused, or step by step.

The simulation calls ``until`` before each date is told. Others can change the pace at any time.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Literal

LONGEST_WAIT = 86_400.0
"""The longest single wait, in real seconds: no event loop need count farther."""


class Pace:
    """Makes simulated time follow real time, from the first date that is asked for.

    ``factor``: simulated seconds per real second; None: as fast as possible.
    """

    def __init__(
        self, factor: float | None = None, *, paused: bool = False, real: Callable[[], float] = time.monotonic
    ) -> None:
        self.factor = factor
        self.paused = paused
        self.told: float | None = None
        """The date that was let through last; None before the first."""
        self.next: float | None = None
        """The date that waits to be told; None while the last one is being handled."""
        self.state: Literal["waiting", "under way", "over"] = "waiting"
        """The state of the simulation: one is waited for, goes on (it may be paused), or was the last."""
        self.behind = 0.0
        """The real seconds by which the last date was late."""
        self.most_behind = 0.0
        """The largest ``behind`` so far, in real seconds."""
        self.on_change: list[Callable[[], None]] = []
        """Functions to call when the pace was changed, paused or resumed, and when a paused simulation has come to its
        stop."""
        self._real = real
        self._anchor: tuple[float, float] | None = None
        """A real moment, and the simulated date that it stands for."""
        self._steps = 0
        self._lost = 0.0
        """Real seconds that were spent paused."""
        self._paused_at = real() if paused else None
        self._news = asyncio.Event()

    def now(self) -> float:
        """Return the simulated date that is due by now. It stands still while paused, and at full speed."""
        if self._anchor is None:
            return self.told or 0.0
        moment, date = self._anchor
        return date if self.paused or self.factor is None else date + self.factor * (self._real() - moment)

    def unpaused(self) -> float:
        """Return real seconds without those spent paused, for time-outs that a pause must not trigger."""
        moment = self._real() if self._paused_at is None else self._paused_at
        return moment - self._lost

    def begin(self) -> None:
        """Begin another simulation: its first date is due at once."""
        self.told = self.next = self._anchor = None
        self._steps, self.behind, self.most_behind, self.state = 0, 0.0, 0.0, "under way"
        self._changed()

    def end(self) -> None:
        """End the simulation: nobody need wait for a step of it."""
        self.next = None
        self.state = "over"
        self._changed()

    # For the simulation

    async def until(self, date: float, *, look: bool = False) -> None:
        """Return when ``date`` is due. Other tasks of the loop get to run in any case.

        ``look``: nothing happens at this date, and it does not count as a step.
        """
        self.next = date
        if self._anchor is None:
            self._anchor = (self._real(), date)
        if self.paused and not self._steps:
            self._changed()
        while (left := self._left(date)) is None or left > 0:
            await self._change(None if left is None else min(left, LONGEST_WAIT))
        self.next = None
        if self._steps and self.paused and not look:
            self._steps -= 1
        self.told = date
        if self.paused or self.factor is None:
            self._anchor = (self._real(), date)
        else:
            self.behind = max((self.now() - date) / self.factor, 0.0)
            self.most_behind = max(self.most_behind, self.behind)
            await asyncio.sleep(0)

    def _left(self, date: float) -> float | None:
        """Return the real seconds until ``date``; None: until the pace is changed."""
        if self.paused:
            return 0.0 if self._steps else None
        return 0.0 if self.factor is None else (date - self.now()) / self.factor

    # For those who control the pace

    def set(self, factor: float | None) -> None:
        """Let so many simulated seconds pass per real second from now on; None: as fast as possible.

        Raises ValueError.
        """
        if factor is not None and not 0 < factor < float("inf"):
            raise ValueError(f"a pace is a positive number of simulated seconds a real second, not {factor:g}")
        self._settle()
        self.factor = factor
        self._changed()

    def pause(self) -> None:
        """Tell no further date until ``resume``. The date that is being handled comes to its end."""
        if not self.paused:
            self._settle()
            self.paused, self._paused_at = True, self._real()
            self._changed()

    def resume(self) -> None:
        """Go on from the date at which it was paused."""
        if self._paused_at is not None:
            self._lost += self._real() - self._paused_at
            self._settle()
            self.paused, self._paused_at, self._steps = False, None, 0
            self._changed()

    def step(self) -> None:
        """Let one date through while paused. Each call before that date has been handled lets one more through."""
        self._steps += 1
        self._changed()

    @property
    def stepping(self) -> bool:
        """True if a step was asked for and has not been handled yet."""
        return self.paused and self.state == "under way" and (self._steps > 0 or self.next is None)

    def _settle(self) -> None:
        """Let the pace start anew from here: time that is not handled yet is not made up for at another pace."""
        if self._anchor is not None:
            date = self.now()
            limit = self.next if self.next is not None else self.told
            self._anchor = (self._real(), date if limit is None else min(date, limit))

    def _changed(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()
        for told in self.on_change:
            told()

    async def _change(self, timeout: float | None) -> None:
        """Wait until something changes, at most ``timeout`` real seconds."""
        try:
            async with asyncio.timeout(timeout):
                await self._news.wait()
        except TimeoutError:
            pass
