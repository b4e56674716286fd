"""The parts of the status that a kubelet writes of a pod: its conditions, its containers and their states."""

from collections.abc import Mapping, Sequence
from typing import Any

JSON = dict[str, Any]

SANDBOX = "PodReadyToStartContainers"
"""The condition that the pod has its sandbox, with its network. It is no longer True when the pod has ended."""
_WITHOUT_SANDBOX = ("Initialized", "Ready", "ContainersReady")
_WITH_SANDBOX = (*_WITHOUT_SANDBOX, SANDBOX)
_RESIZED = ("allocatedResources", "resources")
"""The kubelet's report on containers that were resized."""


def is_sidecar(container: JSON) -> bool:
    """Tell whether an init container goes on beside the others (KEP-753)."""
    return container.get("restartPolicy") == "Always"


def terminated(pod: JSON, exit_code: int, reason: str, exited: str) -> JSON:
    """Return the end of the pod's process, as the state of a container has it."""
    status = pod.get("status", {})
    began = status.get("startTime", exited)
    states = [container["state"] for container in status.get("containerStatuses", [])]
    process: JSON = next((state["running"] for state in states if "running" in state), {})
    started = process.get("startedAt", f"{began[:19]}Z")
    return {"exitCode": exit_code, "reason": reason, "startedAt": started, "finishedAt": exited}


def ended_with(pod: JSON, exit_code: int, exited: str) -> JSON:
    """Return the state of a container that has ended with this exit code."""
    return {"terminated": terminated(pod, exit_code, "Error" if exit_code else "Completed", exited)}


def stopped(pod: JSON, state: JSON, exited: str) -> JSON:
    """Return the state of a sidecar that ends with its pod."""
    ends = terminated(pod, 0, "Completed", exited)
    return {"terminated": {**ends, "startedAt": state.get("running", ends)["startedAt"]}}


def not_ready(pod: JSON, unready: Sequence[str] | None = None) -> JSON:
    """Return why the pod is not ready: all its containers, or those that are named."""
    names = " ".join(unready or [container["name"] for container in pod["spec"]["containers"]])
    return {"reason": "ContainersNotReady", "message": f"containers with unready status: [{names}]"}


def container_statuses(pod: JSON, state: JSON, *, started: bool) -> list[JSON]:
    """Return the statuses of all containers in one state."""
    return [container_status(pod, container, state, started=started) for container in pod["spec"]["containers"]]


def init_statuses(pod: JSON, states: Mapping[str, JSON], *, started: bool) -> JSON:
    """Return the member for init containers, with the state of each; nothing where there are none."""
    if not states:
        return {}
    statuses = []
    for container in pod["spec"]["initContainers"]:
        runs = started and is_sidecar(container)
        told = container_status(pod, container, states[container["name"]], started=runs, kind="initContainerStatuses")
        statuses.append({**told, "ready": started})
    return {"initContainerStatuses": statuses}


def container_status(
    pod: JSON, container: JSON, state: JSON, *, started: bool, kind: str = "containerStatuses"
) -> JSON:
    """Return the status of a container in a state; what is known of its restarts stays."""
    name = container["name"]
    known = next((told for told in pod.get("status", {}).get(kind, ()) if told["name"] == name), None)
    return {
        "name": name,
        "image": container["image"],
        "imageID": "",
        "ready": started,
        "started": started,
        "restartCount": known["restartCount"] if known else 0,
        "state": state,
        "lastState": known["lastState"] if known else {},
        **({name: known[name] for name in _RESIZED if name in known} if known else {}),
    }


def conditions(
    pod: JSON,
    now: str,
    *,
    ready: bool,
    sandbox: bool = False,
    sandbox_up: bool = False,
    why: JSON | None = None,
    uninitialized: JSON | None = None,
) -> list[JSON]:
    """Return the kubelet's conditions and those of others; a transition is dated only if the status changes.

    ``why``: reason and message of those that are not met; ``uninitialized``: those of Initialized, if that is not met.
    ``sandbox``: include the pod's sandbox from now on; ``sandbox_up``: it has one, whether it is ready or not.
    """
    found: dict[str, JSON] = {condition["type"]: condition for condition in pod.get("status", {}).get("conditions", [])}
    truth = "True" if ready else "False"
    for kind in _WITH_SANDBOX if sandbox or SANDBOX in found else _WITHOUT_SANDBOX:
        status = ("True" if uninitialized is None else "False") if kind == "Initialized" else truth
        status = "True" if kind == SANDBOX and sandbox_up else status
        old = found.get(kind)
        new: JSON = {"type": kind, "status": status, "lastTransitionTime": now}
        if status == "False" and kind == "Initialized" and uninitialized is not None:
            new.update(uninitialized)
        elif why is not None and status == "False" and kind != SANDBOX:
            new.update(why)
        new["lastProbeTime"] = None
        if old is not None:
            if old.get("status") == status:
                new["lastTransitionTime"] = old["lastTransitionTime"]
            if generation := old.get("observedGeneration"):  # somebody has set it, and it stays
                new["observedGeneration"] = generation
        found[kind] = new
    return [*found.values()]
