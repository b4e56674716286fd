"""The deeds of the bridge at later dates: each is a stop of the simulation."""

from collections.abc import Callable

from batkube.bridge.decisions import SOONEST
from batkube.bridge.time import whole_microseconds
from batkube.event_queue import Action, Entry, EventQueue


class _Planned(Entry):
    """A planned action; ``holds`` tells whether it is still to happen."""

    __slots__ = ("holds",)

    def __init__(self, action: Action, holds: Callable[[], bool]) -> None:
        super().__init__(action)
        self.holds = holds


class Plan:
    """The planned actions, by date."""

    def __init__(self) -> None:
        self._queue = EventQueue[float, _Planned]()
        self.used = False
        """True if anything was ever planned."""

    def add(self, date: float, act: Action, holds: Callable[[], bool]) -> None:
        # Rounded as Batsim will name it when it calls, so that nothing is due just after the call for it.
        self.used = True
        self._queue.push(whole_microseconds(date), _Planned(act, holds))

    def next_stop(self, now: float) -> float | None:
        """Return the date at which the simulation must stop for it, never the present; None if nothing is planned."""
        date = self.next_date if self.used else None
        return None if date is None else max(date, now + SOONEST)

    @property
    def next_date(self) -> float | None:
        while (entry := self._queue.first) is not None and not entry.holds():
            entry.cancel()
        return self._queue.next_date

    def act_until(self, now: float) -> bool:
        acted = False
        while self.next_date is not None and (due := self._queue.pop_until(now)) is not None:
            due[1]()
            acted = True
        return acted
