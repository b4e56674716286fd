"""The real use of a pod over time: the annotation ``batkube.io/usage``.

Phases, each with the time since its process started, and amounts of cpu and memory: ``cpu=500m,memory=1Gi; 10m
cpu=2,memory=3Gi; 1h cpu=80%``. The time of the first may be left out. A share is of what the pod requests. What a phase
does not name goes on as before; at first it is what the pod requests.
"""

from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from batkube.bridge.occupancy import UNIT, Resources, requests_of
from batkube.kube.apimachinery.quantity import Quantity, QuantityError
from batkube.startup.lengths import read_length

JSON = dict[str, Any]

USAGE_ANNOTATION = "batkube.io/usage"
_EXAMPLE = "expected phases such as cpu=500m,memory=1Gi; 10m cpu=2"
_RESOURCES = ("cpu", "memory")


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
    now = {"cpu": cpu, "memory": memory}
    for number, part in enumerate(text.split(";")):
        words = part.split()
        if len(words) == 1 and not number:
            words = ["0", *words]
        if len(words) != 2:
            raise ValueError(f"{_EXAMPLE}, not {part.strip()!r}")
        since = read_length(words[0])
        if phases and since <= phases[-1].since:
            raise ValueError(f"{words[0]} comes after {phases[-1].since:g} s: phases must be in order of their times")
        if not phases and since > 0:
            phases.append(Phase(0.0, cpu, memory))
        for amount in words[1].split(","):
            name, equals, value = amount.partition("=")
            if name not in _RESOURCES or not equals:
                raise ValueError(f"{_EXAMPLE}, not {amount!r}")
            now[name] = _amount(value, cpu if name == "cpu" else memory)
        phases.append(Phase(since, **now))
    return Usage(tuple(phases))


def _amount(text: str, request: int) -> int:
    try:
        if text.endswith("%"):
            found = Quantity.parse(text[:-1]).value * request / 100
        else:
            found = Quantity.parse(text).value * UNIT
    except QuantityError:
        raise ValueError(f"expected a quantity such as 500m, 1Gi or 80%, not {text!r}") from None
    if found < 0:
        raise ValueError(f"must not be negative: {text!r}")
    return int(found)
