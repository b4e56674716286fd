"""The status that a kubelet writes of a pod: phase, conditions and containers, from its coming to the end.

The statuses are as the API server stores them, member by member: no empty members except those that it writes, in the
order in which it leaves them. See ``kube.trusted``.
"""

from collections.abc import Mapping
from typing import Any

JSON = dict[str, Any]

SANDBOX = "PodReadyToStartContainers"
"""The condition that the pod has its sandbox, with its network. It is no longer True when the pod has ended."""
_WITHOUT_SANDBOX = ("Initialized", "Ready", "ContainersReady")
_WITH_SANDBOX = (*_WITHOUT_SANDBOX, SANDBOX)
_STILL_TO_START: JSON = {"waiting": {"reason": "PodInitializing"}}


def creating(pod: JSON, now: str, start: str) -> JSON:
    """Return the pod with its status after a kubelet has seen it, until its process starts.

    ``start``: its ``startTime``, unless it has one.
    """
    initial = pod["spec"].get("initContainers") or ()
    waiting = _STILL_TO_START if initial else {"waiting": {"reason": "ContainerCreating"}}
    first = {"waiting": {"reason": "ContainerCreating"}}
    return {
        **pod,
        "status": {
            **pod.get("status", {}),
            "phase": "Pending",
            "startTime": pod.get("status", {}).get("startTime", start),
            "conditions": _conditions(pod, now, ready=False, sandbox=True, why=_not_ready(pod)),
            **_initial(pod, {container["name"]: first if not index else _STILL_TO_START
                             for index, container in enumerate(initial)}, started=False),
            "containerStatuses": _containers(pod, waiting, started=False),
        },
    }  # fmt: skip


def running(pod: JSON, now: str, start: str) -> JSON:
    """Return the pod with its status when its process starts, for the first time or once more.

    ``start``: its ``startTime``, unless it was seen before.
    """
    status = pod.get("status", {})
    done = {"terminated": {"exitCode": 0, "reason": "Completed", "startedAt": now, "finishedAt": now}}
    runs = {"running": {"startedAt": now}}
    initial = {
        container["name"]: runs if is_sidecar(container) else done
        for container in pod["spec"].get("initContainers") or ()
    }
    return {
        **pod,
        "status": {
            **status,
            "phase": "Running",
            "startTime": status.get("startTime", start),
            "conditions": _conditions(pod, now, ready=True),
            **_initial(pod, initial, started=True),
            "containerStatuses": _containers(pod, runs, started=True),
        },
    }


def backing_off(pod: JSON, now: str, *, exit_code: int, reason: str, exited: str, wait: str) -> JSON:
    """Return the pod with its status while its process is not started again at once: CrashLoopBackOff.

    ``wait``: the length of the back-off, as Go writes it.
    """
    status, metadata = pod.get("status", {}), pod["metadata"]
    ends = _terminated(pod, exit_code, reason, exited)
    containers = []
    for container in pod["spec"]["containers"]:
        name = container["name"]
        message = (
            f"back-off {wait} restarting failed container={name} "
            f"pod={metadata['name']}_{metadata['namespace']}({metadata['uid']})"
        )
        waiting = {"waiting": {"reason": "CrashLoopBackOff", "message": message}}
        containers.append({**_container(pod, container, waiting, started=False), "lastState": {"terminated": ends}})
    return {
        **pod,
        "status": {
            **status,
            "conditions": _conditions(pod, now, ready=False, why=_not_ready(pod)),
            "containerStatuses": containers,
        },
    }


def again(pod: JSON, *, exit_code: int, reason: str, exited: str) -> JSON:
    """Return the pod with its containers as restarted: one restart more, and how the last run ended.

    ``running`` makes the rest of it. Where the pod backs off its last state is known already.
    """
    status = pod.get("status", {})
    ends = {"terminated": _terminated(pod, exit_code, reason, exited)}
    containers = [
        {
            **container,
            "restartCount": container["restartCount"] + 1,
            "lastState": container["lastState"] if "waiting" in container["state"] else ends,
        }
        for container in status.get("containerStatuses", [])
    ]
    return {**pod, "status": {**status, "containerStatuses": containers}}


def ended(pod: JSON, now: str, *, exit_code: int, reason: str, message: str = "", exited: str) -> JSON:
    """Return the pod with its status when its process has ended: Succeeded with exit code 0, else Failed.

    ``reason`` is the container's (``Completed``, ``Error``); with a ``message`` it is the pod's own as well. ``exited``
    is the end of the process, ``now`` or before.
    """
    status = pod.get("status", {})
    ends = {"terminated": _terminated(pod, exit_code, reason, exited)}
    initial: dict[str, JSON] = {
        container["name"]: container["state"] for container in status.get("initContainerStatuses", [])
    }
    sidecars = {container["name"] for container in pod["spec"].get("initContainers") or () if is_sidecar(container)}
    stopped = {"terminated": _terminated(pod, 0, "Completed", exited)}
    new = {
        **status,
        "phase": "Succeeded" if exit_code == 0 else "Failed",
        "startTime": status.get("startTime", now),
        "conditions": _conditions(pod, now, ready=False, why={"reason": "PodCompleted"}),
        **_initial(
            pod, {name: stopped if name in sidecars else state for name, state in initial.items()}, started=False
        ),
        "containerStatuses": _containers(pod, ends, started=False),
    }
    if message:
        new |= {"reason": reason, "message": message}
    return {**pod, "status": new}


def refused(pod: JSON, start: str, *, reason: str, message: str) -> JSON:
    """Return the pod with its status when the kubelet cannot take it: Failed, without containers."""
    new = {**pod.get("status", {}), "phase": "Failed", "startTime": start, "reason": reason, "message": message}
    return {**pod, "status": new}


def is_sidecar(container: JSON) -> bool:
    """Tell whether an init container goes on beside the others (KEP-753)."""
    return container.get("restartPolicy") == "Always"


def _terminated(pod: JSON, exit_code: int, reason: str, exited: str) -> JSON:
    status = pod.get("status", {})
    began = status.get("startTime", exited)
    process: JSON = next((container["state"] for container in status.get("containerStatuses", [])), {})
    started = process.get("running", {}).get("startedAt", f"{began[:19]}Z")
    return {"exitCode": exit_code, "reason": reason, "startedAt": started, "finishedAt": exited}


def _not_ready(pod: JSON) -> JSON:
    names = " ".join(container["name"] for container in pod["spec"]["containers"])
    return {"reason": "ContainersNotReady", "message": f"containers with unready status: [{names}]"}


def _containers(pod: JSON, state: JSON, *, started: bool) -> list[JSON]:
    return [_container(pod, container, state, started=started) for container in pod["spec"]["containers"]]


def _initial(pod: JSON, states: Mapping[str, JSON], *, started: bool) -> JSON:
    """Return the member for init containers, with the state of each; nothing where there are none."""
    if not states:
        return {}
    statuses = []
    for container in pod["spec"]["initContainers"]:
        runs = started and is_sidecar(container)
        told = _container(pod, container, states[container["name"]], started=runs, kind="initContainerStatuses")
        statuses.append({**told, "ready": started})
    return {"initContainerStatuses": statuses}


def _container(pod: JSON, container: JSON, state: JSON, *, started: bool, kind: str = "containerStatuses") -> JSON:
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
    }


def _conditions(pod: JSON, now: str, *, ready: bool, sandbox: bool = False, why: JSON | None = None) -> list[JSON]:
    """Return the kubelet's conditions and those of others; a transition is dated only if the status changes.

    ``why``: reason and message of those that are not met. ``sandbox``: include the pod's sandbox from now on.
    """
    conditions: dict[str, JSON] = {
        condition["type"]: condition for condition in pod.get("status", {}).get("conditions", [])
    }
    truth = "True" if ready else "False"
    for kind in _WITH_SANDBOX if sandbox or SANDBOX in conditions else _WITHOUT_SANDBOX:
        status = "True" if kind == "Initialized" else truth
        old = conditions.get(kind)
        new: JSON = {"type": kind, "status": status, "lastTransitionTime": now}
        if why is not None and status == "False" and kind != SANDBOX:
            new.update(why)
        new["lastProbeTime"] = None
        if old is not None:
            if old.get("status") == status:
                new["lastTransitionTime"] = old["lastTransitionTime"]
            if generation := old.get("observedGeneration"):  # somebody has set it, and it stays
                new["observedGeneration"] = generation
        conditions[kind] = new
    return [*conditions.values()]
