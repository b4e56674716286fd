"""RuntimeClass: pods get the overhead, the node selector and the tolerations of their runtime class."""

from __future__ import annotations

from typing import Any

from ..apimachinery.quantity import Quantity
from ..apimachinery.status import ApiError
from .plugin import Attributes, Plugin

JSON = dict[str, Any]

RUNTIME_CLASSES = "runtimeclasses.node.k8s.io"


class RuntimeClass(Plugin):
    name = "RuntimeClass"
    handles = ("pods",)

    def admit(self, write: Attributes) -> None:
        pod, spec = write.obj, write.obj["spec"]
        if write.old is not None or spec.get("runtimeClassName") is None:
            return
        name = spec["runtimeClassName"]
        if not name:
            raise ApiError.unforeseen("resource name may not be empty")
        found = write.context.store.get(RUNTIME_CLASSES, "", name)
        if found is None:
            raise _rejected(pod, f'RuntimeClass "{name}" not found')
        overhead = (found.get("overhead") or {}).get("podFixed")
        if overhead:
            if spec.get("overhead") and not _same_amounts(spec["overhead"], overhead):
                raise _rejected(pod, "Pod's Overhead doesn't match RuntimeClass's defined Overhead")
            spec["overhead"] = dict(overhead)
        _schedule(pod, found.get("scheduling") or {})

    def validate(self, write: Attributes) -> None:
        """Raise 403 if the overhead does not come from the runtime class."""
        spec = write.obj["spec"]
        if write.old is not None or spec.get("overhead") is None:
            return
        name = spec.get("runtimeClassName")
        found = write.context.store.get(RUNTIME_CLASSES, "", name) if name else None
        if found is None or not (found.get("overhead") or {}).get("podFixed"):
            raise _rejected(write.obj, "Pod Overhead set without corresponding RuntimeClass defined Overhead")


def _schedule(pod: JSON, scheduling: JSON) -> None:
    """Give the pod the node selector and the tolerations of the class."""
    spec = pod["spec"]
    selector = spec.get("nodeSelector") or {}
    for key, value in (scheduling.get("nodeSelector") or {}).items():
        if selector.get(key, value) != value:
            why = (
                f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; "
                f"pod.spec.nodeSelector[{key}] = {selector[key]}"
            )
            raise ApiError.forbidden("pods", pod["metadata"].get("name", ""), why)
        selector[key] = value
    if selector:
        spec["nodeSelector"] = selector
    present = spec.get("tolerations") or []
    added = [each for each in scheduling.get("tolerations") or () if each not in present]
    if added:
        spec["tolerations"] = [*present, *added]


def _same_amounts(one: JSON, other: JSON) -> bool:
    return one.keys() == other.keys() and all(
        Quantity.parse(amount) == Quantity.parse(other[name]) for name, amount in one.items()
    )


def _rejected(pod: JSON, why: str) -> ApiError:
    return ApiError.forbidden("pods", pod["metadata"].get("name", ""), f"pod rejected: {why}")
