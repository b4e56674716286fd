"""The real use of a pod over time: the annotation ``batkube.io/usage``, as ``startup/usage.py`` reads it.

At first, and where it says nothing, a pod uses what it requests.
"""

from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from batkube.bridge.occupancy import UNIT, Resources, requests_of
from batkube.startup.usage import parse_usage

JSON = dict[str, Any]

USAGE_ANNOTATION = "batkube.io/usage"


@dataclass(frozen=True, slots=True)
class Phase:
    """The use from a time on."""

    since: float
    """Simulated seconds since the process started."""
    cpu: int
    """Billionths of a core; memory those of a byte, as ``occupancy`` counts."""
    memory: int


@dataclass(frozen=True, slots=True)
class Usage:
    """The phases of a pod, by time; the first is from the start on."""

    phases: tuple[Phase, ...]

    def at(self, seconds: float) -> Phase:
        """Return the phase so many seconds after the start of the process."""
        return self.phases[max(bisect_right(self.phases, seconds, key=lambda phase: phase.since) - 1, 0)]


def usage_of(pod: JSON) -> Usage | None:
    """Return what a pod uses over time; None if it does not say. Raises ValueError."""
    text = (pod["metadata"].get("annotations") or {}).get(USAGE_ANNOTATION)
    if text is None:
        return None
    requests = requests_of(pod)
    return read_usage(text, requests.get("cpu", 0), requests.get("memory", 0))


def requested(pod: JSON) -> Usage:
    """Return the usage of a pod that says nothing of it: what it requests."""
    requests: Resources = requests_of(pod)
    return Usage((Phase(0.0, requests.get("cpu", 0), requests.get("memory", 0)),))


@lru_cache(1024)
def read_usage(text: str, cpu: int, memory: int) -> Usage:
    """Return the usage of a pod that requests so much. Raises ValueError."""
    phases: list[Phase] = []
    asked = {"cpu": cpu, "memory": memory}
    now = dict(asked)
    for step in parse_usage(text):
        if not phases and step.since > 0:
            phases.append(Phase(0.0, cpu, memory))
        for name, amount in step.amounts.items():
            now[name] = int(amount.value * (asked[name] if amount.share else UNIT))
        phases.append(Phase(step.since, **now))
    return Usage(tuple(phases))
