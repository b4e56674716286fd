"""The writes of a scheduler inside this process: a pod's node, the reason why it has none, and that it gives way.

They follow the rules of the API, but skip the work that only bodies from outside need: only the changed parts are
decoded, copied and validated.
"""

from __future__ import annotations

from typing import Any

from ..admission.plugin import Attributes
from ..apimachinery.status import ApiError
from ..kinds.pods import binding
from ..kinds.pods.conditions import preempted_condition, set_condition
from ..kinds.strategy import Context
from ..storage.store import Version
from ..verbs.api import Api

JSON = dict[str, Any]

PODS = "pods"


def bind(api: Api, namespace: str, name: str, node: str, uid: str) -> Version:
    """Bind a pod, as `POST pods/NAME/binding` does. Raise ApiError 404 or 409 if it cannot be bound."""
    resource = api.registry.named(PODS)
    pod = _writable(api.stored(resource, namespace, name).obj)
    sent: JSON = {
        "metadata": {"name": name, "namespace": namespace, "uid": uid},
        "target": {"kind": "Node", "name": node},
    }
    api.admission.admit(Attributes(Context(resource, api.store, api.clock, namespace, name, "binding"), sent))
    binding.bind(pod, node, sent["metadata"], api.admit_binding, api.clock)
    return api.store.put(resource, pod)


def tell_unschedulable(api: Api, namespace: str, name: str, why: str) -> Version:
    """Set the condition PodScheduled to False, as `PATCH pods/NAME/status` does. The same reason is written once.

    Raise ApiError 404 if there is no such pod.
    """
    resource = api.registry.named(PODS)
    current = api.stored(resource, namespace, name)
    new = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": why}
    conditions = current.obj.get("status", {}).get("conditions") or []
    old: JSON = next((one for one in conditions if one.get("type") == "PodScheduled"), {})
    if all(old.get(key) == value for key, value in new.items()):
        return current
    changed = {**new, "lastProbeTime": None, "lastTransitionTime": api.clock.seconds()}
    if old.get("status") == "False":
        changed["lastTransitionTime"] = old.get("lastTransitionTime")
    pod = _writable(current.obj)
    pod["status"]["conditions"] = [changed if one is old else one for one in conditions] + ([] if old else [changed])
    return api.store.put(resource, pod)


def tell_preempted(api: Api, namespace: str, name: str, uid: str) -> Version:
    """Set the condition DisruptionTarget of a pod that is about to be deleted for another one.

    Raise ApiError 404 if there is no such pod, and 409 if it is another one of that name.
    """
    resource = api.registry.named(PODS)
    pod = _writable(api.stored(resource, namespace, name).obj)
    if pod["metadata"]["uid"] != uid:
        raise ApiError.conflict(PODS, name, f"the UID is {pod['metadata']['uid']}, not {uid}")
    set_condition(pod["status"], preempted_condition(api.clock.seconds(), pod["spec"].get("schedulerName", "")))
    return api.store.put(resource, pod)


def _writable(pod: JSON) -> JSON:
    """Return a copy whose metadata, spec and status may be changed. The values of their members may not."""
    return {
        **pod,
        "metadata": dict(pod["metadata"]),
        "spec": dict(pod["spec"]),
        "status": dict(pod.get("status") or {}),
    }
