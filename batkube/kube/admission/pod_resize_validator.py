"""PodResizeValidator: no pod grows larger than its node."""

from __future__ import annotations

from ..apimachinery.quantity import Quantity
from ..kinds.pods.defaults import pod_requests
from .plugin import Attributes, Plugin
from .resize import RESIZE, node_of, node_to_ask, refused


class PodResizeValidator(Plugin):
    name = "PodResizeValidator"
    handles = (RESIZE,)

    def validate(self, write: Attributes) -> None:
        name, ctx = node_to_ask(write), write.context
        if name is None:
            return
        node = node_of(name, ctx)
        system = (node["metadata"].get("labels") or {}).get("kubernetes.io/os", "linux")
        if system != "linux":
            why = f'pod resize is only supported on linux nodes, node "{name}" is "{system}"'
            raise refused(ctx, why, "UnsupportedPlatform")
        requests, free = pod_requests(write.obj["spec"]), (node.get("status") or {}).get("allocatable") or {}
        missing = []
        for resource, scale in (("cpu", 1000), ("memory", 1)):
            zero = Quantity.parse("0")
            asked = requests.get(resource, zero)
            there = Quantity.parse(free[resource]) if resource in free else zero
            if asked > there:
                amounts = [-(-each.value.numerator * scale // each.value.denominator) for each in (asked, there)]
                missing.append(f"{resource}, requested: {amounts[0]}, allocatable: {amounts[1]}")
        if missing:
            why = f"node didn't have enough allocatable resources: {'; '.join(missing)}"
            raise refused(ctx, why, "NodeCapacity")
