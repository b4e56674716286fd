"""The taints that follow from the conditions of a node, and the conditions of one whose kubelet is silent."""

from collections.abc import Iterable

from batkube.controllers.conditions import condition
from batkube.controllers.controller import JSON

NOT_READY, UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"
NO_SCHEDULE, NO_EXECUTE = "NoSchedule", "NoExecute"
_UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
_BY_CONDITION = {
    "Ready": {"False": NOT_READY, "Unknown": UNREACHABLE},
    "MemoryPressure": {"True": "node.kubernetes.io/memory-pressure"},
    "DiskPressure": {"True": "node.kubernetes.io/disk-pressure"},
    "NetworkUnavailable": {"True": "node.kubernetes.io/network-unavailable"},
    "PIDPressure": {"True": "node.kubernetes.io/pid-pressure"},
}
_FOLLOWING = {_UNSCHEDULABLE, *(key for keys in _BY_CONDITION.values() for key in keys.values())}
_KUBELETS = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")
"""The conditions that a kubelet posts."""


def ready_status(node: JSON) -> str | None:
    """Return the status of the condition Ready; None if nobody has ever posted it."""
    found = condition(node.get("status") or {}, "Ready")
    return None if found is None else str(found["status"])


def is_tainted(node: JSON, key: str, effect: str) -> bool:
    """Tell whether the node has this taint."""
    return any(taint["key"] == key and taint["effect"] == effect for taint in _taints(node))


def to_follow(node: JSON) -> tuple[list[str], list[str]]:
    """Return the keys of the NoSchedule taints to add and to take away, as conditions have them, and cordons."""
    conditions = (node.get("status") or {}).get("conditions") or ()
    wanted = [key for each in conditions if (key := _BY_CONDITION.get(each["type"], {}).get(each["status"]))]
    if (node.get("spec") or {}).get("unschedulable"):
        wanted.append(_UNSCHEDULABLE)
    there = [taint["key"] for taint in _taints(node) if taint["effect"] == NO_SCHEDULE and taint["key"] in _FOLLOWING]
    return [key for key in wanted if key not in there], [key for key in there if key not in wanted]


def swap(node: JSON, effect: str, add: Iterable[str], remove: Iterable[str], now: str) -> None:
    """Give a node taints of an effect, as of ``now``, and take others from it (``SwapNodeControllerTaint``)."""
    taints, gone = list(_taints(node)), set(remove)
    for key in add:
        new = {"key": key, "effect": effect, "timeAdded": now}
        same = [index for index, taint in enumerate(taints) if (taint["key"], taint["effect"]) == (key, effect)]
        for index in same:
            taints[index] = new
        if not same:
            taints.append(new)
    left = [taint for taint in taints if taint["effect"] != effect or taint["key"] not in gone]
    spec = {name: value for name, value in (node.get("spec") or {}).items() if name != "taints"}
    node["spec"] = {**spec, "taints": left} if left else spec


def make_unknown(node: JSON, now: str) -> None:
    """Note in a node's conditions that its kubelet is silent (``tryUpdateNodeHealth``)."""
    status = node["status"] = {**(node.get("status") or {})}
    conditions = [dict(each) for each in status.get("conditions") or ()]
    for kind in _KUBELETS:
        found = next((each for each in conditions if each["type"] == kind), None)
        if found is None:
            why = {"reason": "NodeStatusNeverUpdated", "message": "Kubelet never posted node status."}
            heartbeat = node["metadata"]["creationTimestamp"]
            dates = {"lastHeartbeatTime": heartbeat, "lastTransitionTime": now}
            conditions.append({"type": kind, "status": "Unknown", **dates, **why})
        elif found["status"] != "Unknown":
            why = {"reason": "NodeStatusUnknown", "message": "Kubelet stopped posting node status."}
            found.update(status="Unknown", lastTransitionTime=now, **why)
    status["conditions"] = conditions


def _taints(node: JSON) -> list[JSON]:
    return (node.get("spec") or {}).get("taints") or []
