"""The pace of simulated time: so many simulated seconds a real one, or as fast as it goes; paused, or step by step.

Whoever simulates asks ``until`` before each date is told. The pace can be changed at any time by somebody else.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Literal

LONGEST_WAIT = 86_400.0
"""Real seconds: no event loop need count farther."""


class Pace:
    """Simulated time follows real time from the first date that is asked for on.

    ``factor``: simulated seconds a real second; None: as fast as it goes.
    """

    def __init__(
        self, factor: float | None = None, *, paused: bool = False, real: Callable[[], float] = time.monotonic
    ) -> None:
        self.factor = factor
        self.paused = paused
        self.told: float | None = None
        """The date that was let through last; None before the first."""
        self.next: float | None = None
        """The date that waits to be told; None while the last is being dealt with."""
        self.state: Literal["waiting", "under way", "over"] = "waiting"
        """Of the simulation: one is waited for, goes on (it may be paused), or was the last."""
        self.behind = 0.0
        """By how many real seconds the last date was late."""
        self.most_behind = 0.0
        """The most that any was."""
        self.on_change: list[Callable[[], None]] = []
        """Called when the pace was changed, paused or resumed, and when a paused simulation has come to its stop."""
        self._real = real
        self._anchor: tuple[float, float] | None = None
        """A real moment, and the simulated date that it stands for."""
        self._steps = 0
        self._lost = 0.0
        """Real seconds that were spent paused."""
        self._paused_at = real() if paused else None
        self._news = asyncio.Event()

    def now(self) -> float:
        """The simulated date that is due by now. While paused, and at full speed, it stands."""
        if self._anchor is None:
            return self.told or 0.0
        moment, date = self._anchor
        return date if self.paused or self.factor is None else date + self.factor * (self._real() - moment)

    def unpaused(self) -> float:
        """Real seconds, those spent paused not counted: for time-outs that a pause must not trip."""
        moment = self._real() if self._paused_at is None else self._paused_at
        return moment - self._lost

    def begin(self) -> None:
        """Another simulation begins: its first date is due at once."""
        self.told = self.next = self._anchor = None
        self._steps, self.behind, self.most_behind, self.state = 0, 0.0, 0.0, "under way"
        self._changed()

    def end(self) -> None:
        """The simulation is over: nobody need wait for a step of it."""
        self.next = None
        self.state = "over"
        self._changed()

    # Whoever simulates

    async def until(self, date: float) -> None:
        """Return when ``date`` is due. At a pace others get to work in any case."""
        self.next = date
        if self._anchor is None:
            self._anchor = (self._real(), date)
        if self.paused and not self._steps:
            self._changed()
        while (left := self._left(date)) is None or left > 0:
            await self._change(None if left is None else min(left, LONGEST_WAIT))
        self.next = None
        if self._steps and self.paused:
            self._steps -= 1
        self.told = date
        if self.paused or self.factor is None:
            self._anchor = (self._real(), date)
        else:
            self.behind = max((self.now() - date) / self.factor, 0.0)
            self.most_behind = max(self.most_behind, self.behind)
            await asyncio.sleep(0)

    def _left(self, date: float) -> float | None:
        """Real seconds until ``date``; None: until somebody says so."""
        if self.paused:
            return 0.0 if self._steps else None
        return 0.0 if self.factor is None else (date - self.now()) / self.factor

    # Whoever is in control

    def set(self, factor: float | None) -> None:
        """From now on so many simulated seconds a real one; None: as fast as it goes. Raises ValueError."""
        if factor is not None and not 0 < factor < float("inf"):
            raise ValueError(f"a pace is a positive number of simulated seconds a real second, not {factor:g}")
        self._settle()
        self.factor = factor
        self._changed()

    def pause(self) -> None:
        """Tell nothing more until ``resume``; what is being dealt with comes to its end."""
        if not self.paused:
            self._settle()
            self.paused, self._paused_at = True, self._real()
            self._changed()

    def resume(self) -> None:
        """Go on, from the date at which it was paused."""
        if self._paused_at is not None:
            self._lost += self._real() - self._paused_at
            self._settle()
            self.paused, self._paused_at, self._steps = False, None, 0
            self._changed()

    def step(self) -> None:
        """While paused: let one date through. Said again before that has been dealt with: one more."""
        self._steps += 1
        self._changed()

    @property
    def stepping(self) -> bool:
        """Whether a step was asked for and has not been dealt with yet."""
        return self.paused and self.state == "under way" and (self._steps > 0 or self.next is None)

    def _settle(self) -> None:
        """Let the pace start anew from here: what is not dealt with yet is not made up for at another pace."""
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
