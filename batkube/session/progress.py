"""The progress of a simulation, in words that fit a line of 80 columns."""

from collections.abc import Callable

from batkube.bridge.simulation import Simulation
from batkube.clock.pace import Pace
from batkube.report.quantities import duration

SPAN = 20.0
"""The real seconds at least over which the speed is taken."""


class Progress:
    """``total``: the number of jobs, 0 where it is not known. ``real``: real seconds."""

    def __init__(self, simulation: Simulation, pace: Pace, total: int, real: Callable[[], float]) -> None:
        self._simulation = simulation
        self._pace = pace
        self._real = real
        self._began = real()
        self._marks = [(self._began, 0.0)]
        """Real moments and simulated dates, the first at least SPAN ago where there are such."""
        self.total = total

    @property
    def done(self) -> int:
        """The jobs that are over, rejected ones included."""
        return self._simulation.control.over

    @property
    def paused(self) -> bool:
        """True if somebody has paused the simulation."""
        return self._pace.paused

    @property
    def part(self) -> float | None:
        """The part of the jobs that are over; None where it is not known how many there will be."""
        return min(1.0, self.done / self.total) if self.total else None

    def seconds_left(self) -> float | None:
        """Return the real seconds that the other jobs will take if they go on as those before; None before any job."""
        part = self.part
        if not part or self.paused:
            return None
        return (self._real() - self._began) * (1 - part) / part

    def speed(self) -> float:
        """Return the simulated seconds a real second, over the last while."""
        moment, now = self._real(), self._simulation.time.now
        self._marks.append((moment, now))
        while len(self._marks) > 2 and moment - self._marks[1][0] >= SPAN:
            del self._marks[0]
        began, date = self._marks[0]
        return max(0.0, now - date) / max(moment - began, 1e-9)

    def jobs(self) -> str:
        """Return how many jobs are over, of all: ``1,234/10,000 jobs``."""
        return f"{self.done:,}/{self.total:,} jobs" if self.total else f"{self.done:,} jobs over"

    def pace(self) -> str:
        """Return the simulated time, and how it goes on."""
        if self.paused:
            return f"at {duration(self._simulation.time.now)}, paused"
        left = self.seconds_left()
        rest = f", {duration(round(left))} left" if left is not None and self.done < self.total else ""
        return f"at {duration(self._simulation.time.now)}, {_short(self.speed())} s/s{rest}"

    def line(self) -> str:
        """Return all of it."""
        part = self.part
        return ", ".join([*([f"{part:.0%}"] if part is not None else []), self.jobs(), self.pace()])


def _short(value: float) -> str:
    """Return a number in a few characters: ``950``, ``12k``, ``3.4M``."""
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if value >= limit:
            scaled = value / (1e3 if unit == "k" else limit)
            return f"{scaled:.0f}{unit}" if scaled >= 10 else f"{scaled:.1f}{unit}"
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"
