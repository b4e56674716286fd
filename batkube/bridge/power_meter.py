"""The energy of hosts while no job uses them: seconds and joules idle, asleep, and on the way between.

Batsim tells their energy under load: it depends on how much of a host a job uses.
"""

from dataclasses import dataclass, field
from enum import StrEnum

from batkube.results.run import Energy


class Use(StrEnum):
    """The use of a host."""

    USED = "used"
    """A pod is on it."""
    IDLE = "idle"
    OFF = "off"
    SWITCHING = "switching"


_UNUSED = (Use.IDLE, Use.OFF, Use.SWITCHING)


@dataclass(slots=True)
class _Reading:
    since: float = 0.0
    use: Use = Use.IDLE
    watts: float = 0.0


@dataclass
class PowerMeter:
    """The sums over all hosts together, in simulated seconds and joules."""

    seconds: dict[Use, float] = field(default_factory=lambda: dict.fromkeys(Use, 0.0))
    joules: dict[Use, float] = field(default_factory=lambda: dict.fromkeys(Use, 0.0))
    _readings: dict[int, _Reading] = field(default_factory=dict)

    @property
    def empty(self) -> bool:
        """True if there is no host to measure: energy is not simulated."""
        return not self._readings

    def note(self, host: int, now: float, use: Use, watts: float) -> None:
        """Note that the host of this number is in ``use`` at so many ``watts`` from ``now`` on."""
        reading = self._readings.setdefault(host, _Reading(now))
        self._count(reading, now)
        reading.use, reading.watts = use, watts

    def read(self, now: float) -> None:
        """Count all hosts up to ``now``."""
        for reading in self._readings.values():
            self._count(reading, now)

    def energy(self, now: float, total: float | None) -> Energy | None:
        """Return the sums up to ``now``, for ``run.json``; None if energy is not simulated. ``total``: Batsim's."""
        if self.empty:
            return None
        self.read(now)
        return Energy(
            total=total,
            **{use.value: round(self.joules[use], 6) for use in _UNUSED},
            **{f"{use.value}_seconds": round(self.seconds[use], 6) for use in _UNUSED},
        )

    def _count(self, reading: _Reading, now: float) -> None:
        seconds = now - reading.since
        reading.since = now
        self.seconds[reading.use] += seconds
        self.joules[reading.use] += seconds * reading.watts
