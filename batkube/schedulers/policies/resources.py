"""Amounts of resources as kube-scheduler counts them: whole numbers, cpu in thousandths of a core.

All others are in their base unit (bytes, pods, devices), rounded up (k8s.io/kubernetes, framework.Resource).
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from batkube.kube.apimachinery.quantity import Quantity

JSON = dict[str, Any]
Resources = Mapping[str, int]

CPU, PODS = "cpu", "pods"


@lru_cache(maxsize=4096)
def amount(resource: str, quantity: str) -> int:
    """Return the amount that a quantity stands for. Raises QuantityError."""
    value = Quantity.parse(quantity).value * (1000 if resource == CPU else 1)
    return -(-value.numerator // value.denominator)


def amounts(quantities: Mapping[str, str]) -> dict[str, int]:
    """Return the amounts of a list of resources, as in ``allocatable``."""
    return {resource: amount(resource, str(quantity)) for resource, quantity in quantities.items()}


def requests_of(spec: JSON) -> Resources:
    """Sum up a pod's requests: containers together, at least its largest init container, overhead, and one pod.

    They are counted as in kube-scheduler (k8s.io/component-helpers/resource, PodRequests), except for sidecars.
    """
    containers = spec["containers"]
    if len(containers) == 1 and not spec.get("initContainers") and not spec.get("overhead"):
        return _alone(tuple((containers[0].get("resources") or {}).get("requests", {}).items()))
    total: dict[str, int] = {}
    _add(total, (_requests(container) for container in containers))
    for container in spec.get("initContainers") or []:
        for resource, value in _requests(container).items():
            total[resource] = max(total.get(resource, 0), value)
    _add(total, [amounts(spec.get("overhead") or {})])
    total[PODS] = 1
    return total


@lru_cache(maxsize=4096)
def _alone(requests: tuple[tuple[str, str], ...]) -> Resources:
    """Return the same mapping for all pods that ask for the same."""
    return MappingProxyType({**amounts(dict(requests)), PODS: 1})


def _requests(container: JSON) -> dict[str, int]:
    return amounts((container.get("resources") or {}).get("requests", {}))


def _add(total: dict[str, int], parts: Iterable[Mapping[str, int]]) -> None:
    for part in parts:
        for resource, value in part.items():
            total[resource] = total.get(resource, 0) + value
