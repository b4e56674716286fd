"""The real use of a pod over time, as people write it: ``cpu=500m,memory=1Gi; 10m cpu=2,memory=3Gi; 1h cpu=80%``.

Phases, each with the time since its process started, and amounts of cpu and memory. The time of the first may be left
out. A share is of what the pod requests. What a phase does not name goes on as before.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from batkube.kube.apimachinery.quantity import Quantity, QuantityError
from batkube.startup.lengths import read_length

_EXAMPLE = "expected phases such as cpu=500m,memory=1Gi; 10m cpu=2"
_RESOURCES = ("cpu", "memory")


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount of a resource."""

    value: Fraction
    """Cores or bytes, or a share."""
    share: bool
    """True if it is a share of what the pod requests."""


@dataclass(frozen=True, slots=True)
class Step:
    """A change of use, and when it comes."""

    since: float
    """Seconds since the process started."""
    amounts: Mapping[str, Amount]


@lru_cache(1024)
def parse_usage(text: str) -> tuple[Step, ...]:
    """Return the phases, in order of their times. Raises ValueError."""
    steps: list[Step] = []
    for number, part in enumerate(text.split(";")):
        words = part.split()
        if len(words) == 1 and not number:
            words = ["0", *words]
        if len(words) != 2:
            raise ValueError(f"{_EXAMPLE}, not {part.strip()!r}")
        since = read_length(words[0])
        if steps and since <= steps[-1].since:
            raise ValueError(f"{words[0]} comes after {steps[-1].since:g} s: phases must be in order of their times")
        amounts = {}
        for amount in words[1].split(","):
            name, equals, value = amount.partition("=")
            if name not in _RESOURCES or not equals:
                raise ValueError(f"{_EXAMPLE}, not {amount!r}")
            amounts[name] = _amount(value)
        steps.append(Step(since, amounts))
    return tuple(steps)


def _amount(text: str) -> Amount:
    share = text.endswith("%")
    try:
        value = Quantity.parse(text.removesuffix("%")).value
    except QuantityError:
        raise ValueError(f"expected a quantity such as 500m, 1Gi or 80%, not {text!r}") from None
    if value < 0:
        raise ValueError(f"must not be negative: {text!r}")
    return Amount(value / 100 if share else value, share)
