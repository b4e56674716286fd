"""The words of a kubelet on a pod that is resized on its node (KEP-1287): conditions, containers, Events."""

from typing import Any

import orjson

from batkube.bridge.occupancy import UNIT, Lacking

JSON = dict[str, Any]

PENDING = "PodResizePending"
"""The condition of a pod that is to grow, and for which its node has no room."""
DEFERRED = "Deferred"
_KINDS = (("initContainers", "initContainerStatuses"), ("containers", "containerStatuses"))


def deferred(pod: JSON, now: str, message: str) -> JSON:
    """Return the pod with its status while its node has no room for what it asks for now."""
    status = pod.get("status", {})
    others = [condition for condition in status.get("conditions", ()) if condition["type"] != PENDING]
    condition = {
        "type": PENDING,
        "observedGeneration": pod["metadata"].get("generation", 1),
        "status": "True",
        "lastProbeTime": now,
        "lastTransitionTime": now,
        "reason": DEFERRED,
        "message": message,
    }
    return {**pod, "status": {**status, "conditions": [*others, condition]}}


def resized(pod: JSON) -> JSON:
    """Return the pod with its status when its containers have the resources that they ask for."""
    status = pod.get("status", {})
    new = {**status, "conditions": [each for each in status.get("conditions", ()) if each["type"] != PENDING]}
    return {**pod, "status": _with_resources(pod, new)}


def resizable(pod: JSON) -> JSON:
    """Return a pod that runs with the resources of its containers, as a node tells them that supports resizing."""
    told = pod["status"].get("containerStatuses", ())
    if all("resources" in each for each in told):
        return pod
    return {**pod, "status": _with_resources(pod, pod["status"])}


def _with_resources(pod: JSON, status: JSON) -> JSON:
    new = dict(status)
    for containers, statuses in _KINDS:
        if statuses in status:
            asked = {each["name"]: each.get("resources") or {} for each in pod["spec"].get(containers) or ()}
            new[statuses] = [{**told, **_told_of(asked.get(told["name"], {}))} for told in status[statuses]]
    return new


def _told_of(resources: JSON) -> JSON:
    """Return the members of a container's status that tell of its resources."""
    shown = {key: resources[key] for key in ("limits", "requests") if resources.get(key)}
    allocated = {"allocatedResources": resources["requests"]} if resources.get("requests") else {}
    return {**allocated, "resources": shown}


def is_pending(pod: JSON) -> bool:
    """Tell whether the pod has been told that its node has no room."""
    generation = pod["metadata"].get("generation", 1)
    return any(
        condition["type"] == PENDING and condition.get("observedGeneration") == generation
        for condition in pod.get("status", {}).get("conditions", ())
    )


def no_room(lacking: Lacking) -> str:
    """Return the kubelet's words for a node without room (``pkg/kubelet/lifecycle/predicate.go``)."""
    unit = UNIT // 1000 if lacking.resource == "cpu" else UNIT
    requested, used, capacity = (amount // unit for amount in (lacking.requested, lacking.used, lacking.capacity))
    return (
        f"Node didn't have enough resource: {lacking.resource}, requested: {requested}, used: {used}, "
        f"capacity: {capacity}"
    )


def message(pod: JSON, prefix: str, error: str = "") -> str:
    """Return the message of an Event on a resize (``pkg/kubelet/events/resize.go``)."""
    summary: JSON = {}
    for containers, _ in _KINDS:
        if pod["spec"].get(containers):
            summary[containers] = [
                {"name": each["name"], "resources": each.get("resources") or {}} for each in pod["spec"][containers]
            ]
    summary["generation"] = pod["metadata"].get("generation", 1)
    if error:
        summary["error"] = error
    return f"{prefix}: {orjson.dumps(summary).decode()}"
