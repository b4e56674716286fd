"""The simulated time that a scheduler's reactions are taken to last.

By default they last no time: decisions in reaction to an event carry the event's date. With another model they are
dated later, and Batsim is told so: in its protocol the ``now`` of a reply may be later than that of the message, for a
scheduler that took so long. Batsim stands still meanwhile, and tells afterwards what happens in between.
"""

import time
from collections.abc import Callable
from typing import Literal

from pydantic import BaseModel, ConfigDict

from batkube.bridge.time import SimulatedTime, whole_microseconds

EXPECTED = "expected zero, a number of simulated seconds, or real:FACTOR (real alone is real:1)"


class DecisionTime(BaseModel):
    """A model of the decision time, as the user names it: ``zero``, ``SECONDS`` or ``real[:FACTOR]``."""

    model_config = ConfigDict(frozen=True)

    model: Literal["zero", "constant", "real"] = "zero"
    seconds: float = 0.0
    """Simulated seconds that each reaction lasts (``constant``)."""
    factor: float = 1.0
    """Simulated seconds for each real second of a reaction (``real``)."""

    @classmethod
    def parse(cls, text: str) -> "DecisionTime":
        """Read the user's text. Raises ValueError."""
        name, colon, factor = text.strip().partition(":")
        if name == "real":
            return cls(model="real", factor=_positive(factor) if colon else 1.0)
        if text.strip() == "zero":
            return cls()
        try:
            seconds = float(text)
        except ValueError:
            seconds = -1.0
        if not 0 <= seconds < float("inf"):
            raise ValueError(EXPECTED)
        return cls(model="constant", seconds=seconds) if seconds else cls()

    def __str__(self) -> str:
        if self.model == "real":
            return f"real:{self.factor:g}"
        return f"{self.seconds:g}" if self.model == "constant" else "zero"

    def lasts(self, worked: float) -> float:
        """Return the simulated seconds of a reaction for which the scheduler ``worked`` so many real seconds."""
        return self.seconds if self.model == "constant" else worked * self.factor if self.model == "real" else 0.0


ZERO = DecisionTime()


def _positive(factor: str) -> float:
    try:
        value = float(factor)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise ValueError(EXPECTED)
    return value


class Reactions:
    """Moves simulated time on by the length of reactions: from the first event told until the scheduler rests.

    A reaction in which the scheduler neither binds nor deletes a pod has no decision to date, and takes no time.
    """

    def __init__(
        self, decision_time: DecisionTime, clock: SimulatedTime, real: Callable[[], float] = time.monotonic
    ) -> None:
        self.decision_time = decision_time
        self.at_pace = False
        """True if at least some decisions were dated by the pace of real time instead."""
        self.count = 0
        """The number of reactions that took time."""
        self.total = 0.0
        """The simulated seconds of all reactions together."""
        self.longest = 0.0
        self._clock = clock
        self._real = real
        self._cause: float | None = None
        self._told = 0.0

    @property
    def model(self) -> str:
        """The name of the model by which decisions were dated."""
        return "pace" if self.at_pace else str(self.decision_time)

    def begin(self) -> None:
        """Note that events of this date are being told."""
        if self.decision_time.model != "zero":
            self._cause, self._told = self._clock.now, self._real()

    def decided(self) -> None:
        """Move time on, because a pod is about to be bound: the API dates the binding within the reaction, too."""
        self._move_on(self._real())

    def end(self, quiescent_since: float, *, acted: bool) -> bool:
        """End the reaction of a scheduler at rest since ``quiescent_since`` (real clock).

        Returns True if it took simulated time.
        """
        cause = self._cause
        if cause is None:
            return False
        if acted:
            self._move_on(quiescent_since)
        self._cause = None
        lasted = self._clock.now - cause
        if lasted <= 0:
            return False
        self.count += 1
        self.total += lasted
        self.longest = max(self.longest, lasted)
        return True

    def _move_on(self, real: float) -> None:
        if self._cause is not None:
            date = whole_microseconds(self._cause + self.decision_time.lasts(max(real - self._told, 0.0)))
            self._clock.advance(max(self._clock.now, date))
