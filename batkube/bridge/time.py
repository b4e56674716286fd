"""Simulated time, as Batsim counts it and as Kubernetes writes it."""

import math
from datetime import UTC, datetime

from batkube.bridge.errors import InvariantBroken


def whole_microseconds(date: float) -> float:
    """The next date that can go over the wire: Batsim prints six decimals, and must not seem to be earlier than us."""
    return math.ceil(round(date * 1e6, 3)) / 1e6


class SimulatedTime:
    """Seconds since the simulation began; never moves back.

    It moves when the simulator says so, and with the decision time (``decision_time.py``), which the simulator is told.
    """

    def __init__(self, epoch: float) -> None:
        self.epoch = epoch
        """Unix seconds of simulated time 0."""
        self.now = 0.0

    def advance(self, now: float) -> None:
        """Move on to ``now``. Raises InvariantBroken where that is in the past."""
        if now < self.now:
            raise InvariantBroken(f"the simulator went back in time, from {self.now:.6f} to {now:.6f}")
        self.now = now

    def restart(self) -> None:
        """Another simulation begins at 0."""
        self.now = 0.0

    def unix(self) -> float:
        """Now, as Unix seconds."""
        return self.epoch + self.now

    def rfc3339(self, date: float | None = None) -> str:
        """``date``, by default now, in whole seconds, as ``metav1.Time`` is written."""
        unix = self.unix() if date is None else self.epoch + date
        return datetime.fromtimestamp(int(unix), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def rfc3339_nano(self, order: int = 0) -> str:
        """Now, to the microsecond, and ``order`` more nanoseconds: all parsers of RFC 3339 take such a time."""
        second, microseconds = divmod(round(self.unix() * 1e6), 1_000_000)
        seconds = datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")
        return f"{seconds}.{microseconds * 1000 + order:09d}Z"
