"""The reasons for which pods wait, and a pod's wait when it is over. ``waiting`` defines them."""

from dataclasses import dataclass
from enum import StrEnum

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


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a pod's wait. Dates are simulated seconds."""

    begin: float
    end: float
    reason: Reason
    words: str
    """The scheduler's last words; or kube-scheduler's words for a rule on pod and node; or the pod's node."""


@dataclass(frozen=True, slots=True)
class Waited:
    """A pod's wait, over."""

    microseconds: tuple[int, ...]
    """By reason, in the order of ``REASONS``."""
    by_plugin: tuple[tuple[str, int], ...] = ()
    """The microseconds of ``constraints`` by kube-scheduler's plugin."""
    segments: tuple[Segment, ...] = ()
    """Its parts in order, of a pod that was followed."""

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


class Parts:
    """The parts of a wait that goes on, in microseconds. A reason may be left open until it is known."""

    def __init__(self) -> None:
        self._parts: list[tuple[int, int, Reason | None, str]] = []

    def note(self, begin: int, end: int, reason: Reason | None, words: str) -> None:
        """Add a part. ``reason``: None to leave it open."""
        if begin == end:
            return
        parts = self._parts
        if parts and parts[-1][2:] == (reason, words):
            begin = parts.pop()[0]
        parts.append((begin, end, reason, words))

    def settle(self, held: int, after: Reason) -> None:
        """Give the parts that were left open their reasons: ``constraints`` until ``held``, then ``after``."""
        parts, self._parts = self._parts, []
        for begin, end, reason, words in parts:
            if reason is None:
                middle = min(max(held, begin), end)
                self.note(begin, middle, Reason.CONSTRAINTS, words)
                self.note(middle, end, after, words)
            else:
                self.note(begin, end, reason, words)

    def segments(self) -> tuple[Segment, ...]:
        """Return the parts of a wait that is over: none is open."""
        return tuple(
            Segment(begin / SECOND, end / SECOND, reason, words)
            for begin, end, reason, words in self._parts
            if reason is not None
        )
