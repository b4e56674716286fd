"""The hosts that are slow for a while, which Batsim does not know: what runs on them takes longer.

Tasks do (``Cpu.set_speed``), and the delays that are work.
"""

from collections.abc import Container
from typing import Protocol


class Paced(Protocol):
    """A work that goes as fast as its host."""

    def set_speed(self, speed: float) -> None: ...


class Slowness:
    """The present speeds of hosts, as shares of what they are by the platform, and the work that is paced by them.

    ``workloads``: those of files, whose delays are Batsim's. Delays of others, made at run time, are work.
    """

    def __init__(self, workloads: Container[str]) -> None:
        self._workloads = workloads
        self._speeds: dict[str, float] = {}
        self._paced: dict[str, dict[Paced, None]] = {}

    def paces(self, workload: str) -> bool:
        """Tell whether delays of this workload are work."""
        return workload not in self._workloads

    def speed(self, host: str) -> float:
        """Return the present speed of a host."""
        return self._speeds.get(host, 1.0)

    def set_speed(self, host: str, speed: float) -> None:
        """Let the host go on at this speed."""
        self._speeds[host] = speed
        for paced in list(self._paced.get(host, ())):
            paced.set_speed(speed)

    def begin(self, host: str, paced: Paced) -> None:
        """Note a work that begins on a host."""
        self._paced.setdefault(host, {})[paced] = None

    def end(self, host: str, paced: Paced) -> None:
        """Note that it is over, or goes on no more."""
        self._paced[host].pop(paced, None)
