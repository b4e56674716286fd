"""Simulated time, as Batsim counts it and as Kubernetes writes it."""

import math
from datetime import UTC, datetime

from batkube.bridge.errors import InputError, InvariantBroken, RunFailed
from batkube.kube.apimachinery.times import write_second

_END = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp()
"""Unix seconds of the last date that RFC 3339, and so Kubernetes, can write."""


def whole_microseconds(date: float) -> float:
    """Round ``date`` up to whole microseconds: Batsim prints six decimals, and must not seem to be earlier than us."""
    return math.ceil(round(date * 1e6, 3)) / 1e6


class SimulatedTime:
    """Seconds since the simulation began; never moves back.

    It moves when the simulator says so, and with the decision time (``decision_time.py``), which the simulator is told.
    """

    def __init__(self, epoch: float) -> None:
        self.epoch = epoch
        """Unix seconds of simulated time 0."""
        self.last = _END - epoch
        """The last date that Kubernetes can write, in simulated seconds."""
        self.now = 0.0

    def advance(self, now: float) -> None:
        """Move on to ``now``.

        Raises InvariantBroken if that is in the past, and RunFailed if Kubernetes cannot write the date.
        """
        if now < self.now:
            raise InvariantBroken(f"the simulator went back in time, from {self.now:.6f} to {now:.6f}")
        if now > self.last:
            raise RunFailed(f"the simulation has come to {self._beyond(now)}")
        self.now = now

    def check(self, date: float, what: str) -> None:
        """Refuse the date of ``what`` if Kubernetes cannot write it. Raises InputError."""
        if date > self.last:
            raise InputError(f"{what}: {self._beyond(date)}")

    def _beyond(self, date: float) -> str:
        return f"{date:g} s, later than {self.last:.0f}: Kubernetes has no dates after the year 9999"

    def restart(self) -> None:
        """Begin another simulation at 0."""
        self.now = 0.0

    def unix(self) -> float:
        """Return the present as Unix seconds."""
        return self.epoch + self.now

    def rfc3339(self, date: float | None = None) -> str:
        """Return ``date``, by default the present, in whole seconds, as ``metav1.Time`` is written."""
        unix = self.unix() if date is None else self.epoch + date
        return f"{write_second(int(unix))}Z"

    def rfc3339_nano(self, order: int = 0) -> str:
        """Return the present, to the microsecond, and ``order`` more nanoseconds.

        All parsers of RFC 3339 accept such a time.
        """
        second, microseconds = divmod(round(self.unix() * 1e6), 1_000_000)
        return f"{write_second(second)}.{microseconds * 1000 + order:09d}Z"
