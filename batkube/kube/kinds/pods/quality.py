"""The quality of service class of a pod (`pkg/apis/core/v1/helper/qos`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...apimachinery.quantity import Quantity

JSON = dict[str, Any]

_COUNTED = ("cpu", "memory")


def quality_of_service(spec: JSON) -> str:
    """Return `Guaranteed`, `Burstable` or `BestEffort`. Resources of the pod as a whole count before those of its
    containers.
    """
    whole = spec.get("resources")
    if whole is not None:
        resources = [whole]
    else:
        containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
        resources = [container.get("resources") or {} for container in containers]
    requests: dict[str, Quantity] = {}
    limits: dict[str, Quantity] = {}
    all_limited = True
    for each in resources:
        for name, amount in _positive(each.get("requests")):
            requests[name] = requests[name] + amount if name in requests else amount
        limited = 0
        for name, amount in _positive(each.get("limits")):
            limits[name] = limits[name] + amount if name in limits else amount
            limited += 1
        all_limited = all_limited and limited == len(_COUNTED)
    if not requests and not limits:
        return "BestEffort"
    return "Guaranteed" if all_limited and requests == limits else "Burstable"


def _positive(amounts: JSON | None) -> Iterator[tuple[str, Quantity]]:
    if amounts:
        for name in _COUNTED:
            text = amounts.get(name)
            if text is not None and (amount := Quantity.parse(text)).value > 0:
                yield name, amount
