"""The reasons for which pods wait, and a pod's wait when it is over. ``waiting`` defines them."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

SECOND = 1_000_000
"""Microseconds."""


class Reason(StrEnum):
    """The reasons, in the order of the columns ``wait_*`` of ``pods.csv``."""

    NO_CAPACITY = "no_capacity"
    FRAGMENTATION = "fragmentation"
    CONSTRAINTS = "constraints"
    QUEUE_ORDER = "queue_order"
    BACK_OFF = "back_off"
    GANG = "gang"
    GATES = "gates"
    STARTUP = "startup"


REASONS = tuple(Reason)


class Cause(NamedTuple):
    """The reason of a stretch, and what is known of it."""

    reason: Reason | None
    """None only while it is not known yet."""
    plugin: str = ""
    """The plugin of kube-scheduler whose rule it was, of ``constraints``."""
    words: str = ""
    """The words for that rule."""
    attempt: int = 0
    """The number of the pod's last attempt in vain until then, from 1; 0 before the first, and when it has its node."""


class Stretch(NamedTuple):
    """A part of a pod's wait that has one reason. Dates are whole microseconds since the simulation began."""

    begin: int
    end: int
    time: int
    """The microseconds for which the reason held: all of them, unless reasons that took turns were summed up."""
    cause: Cause


@dataclass(frozen=True, slots=True)
class Waited:
    """A pod's wait, over."""

    microseconds: tuple[int, ...]
    """By reason, in the order of ``REASONS``."""
    by_plugin: tuple[tuple[str, int], ...] = ()
    """The microseconds of ``constraints`` by kube-scheduler's plugin."""

    @property
    def seconds(self) -> dict[Reason, float]:
        """The simulated seconds by reason."""
        return {reason: value / SECOND for reason, value in zip(REASONS, self.microseconds, strict=True)}

    @property
    def constraints(self) -> dict[str, float]:
        """The simulated seconds of ``constraints`` by kube-scheduler's plugin."""
        return {plugin: value / SECOND for plugin, value in self.by_plugin}

    @property
    def total(self) -> float:
        """The simulated seconds of the whole wait."""
        return sum(self.microseconds) / SECOND


NO_WAIT = Waited((0,) * len(REASONS))
"""The wait of a pod that started at once."""


_new = tuple.__new__
"""Makes a Stretch in half the time: there are many."""


class Stretches:
    """The stretches of a wait that goes on, those that were not told yet. A reason may be open until it is known."""

    __slots__ = ("_stretches",)

    def __init__(self) -> None:
        self._stretches: list[Stretch] = []

    def note(self, begin: int, end: int, cause: Cause, time: int | None = None) -> None:
        """Add a stretch; it is one with the last if it goes on with the same. ``time``: see Stretch."""
        if begin == end:
            return
        time = end - begin if time is None else time
        stretches = self._stretches
        if stretches and time == end - begin:
            last = stretches[-1]
            if last.end == begin and last.cause == cause and last.time == begin - last.begin:
                stretches[-1] = Stretch(last.begin, end, end - last.begin, cause)
                return
        stretches.append(Stretch(begin, end, time, cause))

    def extend(self, dates: Sequence[int], causes: Sequence[Cause]) -> None:
        """Add stretches from each date to the next, of causes that differ from one to the next."""
        self.note(dates[0], dates[1], causes[0])
        self._stretches += [
            _new(Stretch, (begin, end, end - begin, cause))
            for begin, end, cause in zip(dates[1:], dates[2:], causes[1:], strict=False)
        ]

    def settle(self, held: int, after: Reason) -> None:
        """Give the stretches that were left open their reasons: ``constraints`` until ``held``, then ``after``."""
        stretches, self._stretches = self._stretches, []
        for stretch in stretches:
            begin, end, time, cause = stretch
            if cause.reason is not None:
                self.note(begin, end, cause, time)
                continue
            middle = min(max(held, begin), end)
            self.note(begin, middle, cause._replace(reason=Reason.CONSTRAINTS))
            self.note(middle, end, Cause(after, attempt=cause.attempt))

    def take(self, *, over: bool) -> list[Stretch]:
        """Return those that will not change any more, once. ``over``: the wait is, else the last may still go on."""
        stretches = self._stretches
        if not over and (len(stretches) < 2 or any(stretch.cause.reason is None for stretch in stretches)):
            return []
        kept = 0 if over else 1
        taken, self._stretches = stretches[: len(stretches) - kept], stretches[len(stretches) - kept :]
        return taken
