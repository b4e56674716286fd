"""Nodes whose taints follow their conditions, for clusters without a controller manager.

The node lifecycle controller writes the taints a moment later (`doNoScheduleTaintingPass`). Here the write itself sets
them, so that the next write of a client does not meet a version that the client has not seen.
"""

from __future__ import annotations

from typing import Any

from ..strategy import Context
from .nodes import NOT_READY, Nodes

JSON = dict[str, Any]

_UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
_BY_CONDITION = {
    ("Ready", "False"): NOT_READY,
    ("Ready", "Unknown"): "node.kubernetes.io/unreachable",
    ("MemoryPressure", "True"): "node.kubernetes.io/memory-pressure",
    ("DiskPressure", "True"): "node.kubernetes.io/disk-pressure",
    ("PIDPressure", "True"): "node.kubernetes.io/pid-pressure",
    ("NetworkUnavailable", "True"): "node.kubernetes.io/network-unavailable",
}
_FOLLOWED = frozenset((*_BY_CONDITION.values(), _UNSCHEDULABLE))


class TaintedNodes(Nodes):
    """Rules of nodes that are tainted by their conditions."""

    def complete(self, obj: JSON, old: JSON | None, ctx: Context) -> None:
        """Taint the node. Admission has given a new one its taint."""
        _taint_by_conditions(obj)


def _taint_by_conditions(node: JSON) -> None:
    """Set the taints that follow from the conditions of a node.

    A node without a condition Ready keeps its taints: it takes no pods yet.
    """
    spec, conditions = node["spec"], (node.get("status") or {}).get("conditions") or []
    states = {condition.get("type"): condition.get("status") for condition in conditions}
    if "Ready" not in states:
        return
    wanted = [key for (kind, status), key in _BY_CONDITION.items() if states.get(kind) == status]
    if spec.get("unschedulable"):
        wanted.append(_UNSCHEDULABLE)
    before = spec.get("taints") or []
    kept = [
        taint
        for taint in before
        if taint.get("effect") != "NoSchedule" or taint.get("key") not in _FOLLOWED or taint["key"] in wanted
    ]
    there = {taint.get("key") for taint in kept if taint.get("effect") == "NoSchedule"}
    taints = [*kept, *({"key": key, "effect": "NoSchedule"} for key in wanted if key not in there)]
    if taints != before:
        node["spec"] = {key: value for key, value in spec.items() if key != "taints"}  # it may be the stored one
        if taints:
            node["spec"]["taints"] = taints
