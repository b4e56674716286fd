"""The status that a kubelet writes of a pod: phase, conditions and containers, from its coming to the end.

The statuses are as the API server stores them, member by member: no empty members except those that it writes, in the
order in which it leaves them. See ``kube.trusted``.
"""

from collections.abc import Mapping
from typing import Any

from batkube.bridge import pod_status_parts as parts

JSON = dict[str, Any]

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
            "conditions": parts.conditions(pod, now, ready=False, sandbox=True, why=parts.not_ready(pod)),
            **parts.init_statuses(pod, {container["name"]: first if not index else _STILL_TO_START
                             for index, container in enumerate(initial)}, started=False),
            "containerStatuses": parts.container_statuses(pod, waiting, started=False),
        },
    }  # fmt: skip


def running(pod: JSON, now: str, start: str) -> JSON:
    """Return the pod with its status when its process starts, for the first time or once more.

    ``start``: its ``startTime``, unless it was seen before.
    """
    status = pod.get("status", {})
    done = {"terminated": {"exitCode": 0, "reason": "Completed", "startedAt": now, "finishedAt": now}}
    runs = {"running": {"startedAt": now}}
    known = {told["name"]: told["state"] for told in status.get("initContainerStatuses", ())}
    initial = {
        container["name"]: runs if parts.is_sidecar(container) else done
        for container in pod["spec"].get("initContainers") or ()
    }
    initial |= {name: state for name, state in known.items() if "waiting" not in state}
    return {
        **pod,
        "status": {
            **status,
            "phase": "Running",
            "startTime": status.get("startTime", start),
            "conditions": parts.conditions(pod, now, ready=True),
            **parts.init_statuses(pod, initial, started=True),
            "containerStatuses": parts.container_statuses(pod, runs, started=True),
        },
    }


def initializing(pod: JSON, now: str, start: str, changes: Mapping[str, JSON]) -> JSON:
    """Return the pod with its status while its init containers run, one after the other: Pending.

    ``changes``: members of the statuses of those of which something is new, by name. ``start``: its ``startTime``,
    unless it was seen before.
    """
    status = pod.get("status", {})
    return {
        **pod,
        "status": {
            **status,
            "phase": "Pending",
            "startTime": status.get("startTime", start),
            **_initialization(pod, now, changes),
            "containerStatuses": parts.container_statuses(pod, _STILL_TO_START, started=False),
        },
    }


def waiting_state(reason: str, message: str) -> JSON:
    """Return the state of a container that cannot be started for now."""
    return {"waiting": {"reason": reason, "message": message}}


def waiting_for_images(pod: JSON, now: str, states: Mapping[str, JSON | None]) -> JSON:
    """Return the pod with its status while images are pulled: Pending, with a sandbox.

    ``states``: those of containers whose image is missing, by name; None for one whose image has come.
    """
    status = pod["status"]
    if not all(told["ready"] for told in status.get("initContainerStatuses", ())):
        changes = {name: {"state": state or _STILL_TO_START} for name, state in states.items()}
        return {**pod, "status": {**status, **_initialization(pod, now, changes)}}
    begins: JSON = {"waiting": {"reason": "ContainerCreating"}}
    if pod["spec"].get("initContainers"):
        begins = _STILL_TO_START
    containers = [
        {**told, "state": states[told["name"]] or begins} if told["name"] in states else told
        for told in status["containerStatuses"]
    ]
    conditions = parts.conditions(pod, now, ready=False, sandbox=True, sandbox_up=True, why=parts.not_ready(pod))
    return {**pod, "status": {**status, "conditions": conditions, "containerStatuses": containers}}


def not_initialized(pod: JSON, now: str, changes: Mapping[str, JSON], *, reason: str = "", message: str = "") -> JSON:
    """Return the pod with its status when it fails before its init containers are done: the others never run.

    ``reason`` and ``message`` are the pod's own, where the init containers are not to blame.
    """
    status = pod.get("status", {})
    own = {"reason": reason, "message": message} if reason else {}
    told = _initialization(pod, now, changes, failed=True)
    return {**pod, "status": {**status, "phase": "Failed", **told, **own}}


def is_initializing(pod: JSON) -> bool:
    """Tell whether init containers of the pod are still to be done."""
    conditions = pod.get("status", {}).get("conditions", ())
    return any(condition["type"] == "Initialized" and condition["status"] == "False" for condition in conditions)


def stopped_initializing(pod: JSON, now: str, exit_code: int, reason: str = "Error") -> dict[str, JSON]:
    """Return what becomes of its init containers when the pod ends before they are done, by name.

    Sidecars end well, unless all have ended for a ``reason`` of its own.
    """
    changes: dict[str, JSON] = {}
    sidecars = {container["name"] for container in pod["spec"]["initContainers"] if parts.is_sidecar(container)}
    for told in pod["status"].get("initContainerStatuses", ()):
        name, state = told["name"], told["state"]
        if "running" in state:
            well = name in sidecars and reason == "Error"
            ends = {"exitCode": 0, "reason": "Completed"} if well else {"exitCode": exit_code, "reason": reason}
            dates = {"startedAt": state["running"]["startedAt"], "finishedAt": now}
            changes[name] = {"state": {"terminated": {**ends, **dates}}}
        elif "waiting" in state and told["lastState"]:
            changes[name] = {"state": told["lastState"]}
        if name in changes:
            changes[name] |= {"ready": False, "started": False}
    return changes


def _initialization(pod: JSON, now: str, changes: Mapping[str, JSON], *, failed: bool = False) -> JSON:
    """Return the members of the status that tell of init containers."""
    known = {told["name"]: told for told in pod.get("status", {}).get("initContainerStatuses", ())}
    statuses = [
        {
            **(known.get(container["name"]) or parts.container_status(pod, container, _STILL_TO_START, started=False)),
            **changes.get(container["name"], {}),
        }
        for container in pod["spec"]["initContainers"]
    ]
    incomplete = " ".join(told["name"] for told in statuses if not told["ready"])
    lacking = (
        {
            "reason": "ContainersNotInitialized",
            "message": f"containers with incomplete status: [{incomplete}]",
        }
        if incomplete
        else None
    )
    return {
        "conditions": parts.conditions(
            pod, now, ready=False, sandbox=True, sandbox_up=not failed,
            why={"reason": "PodFailed"} if failed else parts.not_ready(pod), uninitialized=lacking,
        ),
        "initContainerStatuses": statuses,
    }  # fmt: skip


def container_ended(pod: JSON, now: str, name: str, exit_code: int) -> JSON:
    """Return the pod with its status when one of its containers has ended, and others go on."""
    status = pod["status"]
    ends = parts.ended_with(pod, exit_code, now)
    containers = [
        {**told, "ready": False, "started": False, "state": ends} if told["name"] == name else told
        for told in status["containerStatuses"]
    ]
    unready = [told["name"] for told in containers if not told["ready"]]
    conditions = parts.conditions(pod, now, ready=False, sandbox_up=True, why=parts.not_ready(pod, unready))
    return {**pod, "status": {**status, "conditions": conditions, "containerStatuses": containers}}


def backing_off(pod: JSON, now: str, *, exit_code: int, reason: str, exited: str, wait: str) -> JSON:
    """Return the pod with its status while its process is not started again at once: CrashLoopBackOff.

    ``wait``: the length of the back-off, as Go writes it.
    """
    status, metadata = pod.get("status", {}), pod["metadata"]
    ends = parts.terminated(pod, exit_code, reason, exited)
    containers = []
    for container in pod["spec"]["containers"]:
        waiting = crash_loop(metadata, container["name"], wait)
        containers.append(
            {**parts.container_status(pod, container, waiting, started=False), "lastState": {"terminated": ends}}
        )
    return {
        **pod,
        "status": {
            **status,
            "conditions": parts.conditions(pod, now, ready=False, why=parts.not_ready(pod)),
            "containerStatuses": containers,
        },
    }


def crash_loop(metadata: JSON, name: str, wait: str) -> JSON:
    """Return the state of a container that is started again when ``wait`` is over. ``metadata``: the pod's."""
    message = (
        f"back-off {wait} restarting failed container={name} "
        f"pod={metadata['name']}_{metadata['namespace']}({metadata['uid']})"
    )
    return {"waiting": {"reason": "CrashLoopBackOff", "message": message}}


def rebooted(pod: JSON, now: str, exit_code: int, reason: str) -> JSON:
    """Return the pod with its status when its host is back, before its containers are started again.

    ``exit_code`` and ``reason`` are those of the containers that ran.
    """
    status = pod["status"]
    waiting = _STILL_TO_START if pod["spec"].get("initContainers") else {"waiting": {"reason": "ContainerCreating"}}
    containers = [
        {
            **told,
            "ready": False,
            "started": False,
            "state": waiting,
            "lastState": {"terminated": parts.terminated(pod, exit_code, reason, now)}
            if "running" in told["state"]
            else told["lastState"],
        }
        for told in status.get("containerStatuses", ())
    ]
    conditions = parts.conditions(pod, now, ready=False, why=parts.not_ready(pod))
    return {**pod, "status": {**status, "conditions": conditions, "containerStatuses": containers}}


def again(pod: JSON, *, exit_code: int, reason: str, exited: str) -> JSON:
    """Return the pod with its containers as restarted: one restart more, and how the last run ended.

    ``running`` makes the rest of it. Where the pod backs off its last state is known already.
    """
    status = pod.get("status", {})
    ends = {"terminated": parts.terminated(pod, exit_code, reason, exited)}
    containers = [
        {
            **container,
            "restartCount": container["restartCount"] + 1,
            "lastState": container["lastState"] if "waiting" in container["state"] else ends,
        }
        for container in status.get("containerStatuses", [])
    ]
    return {**pod, "status": {**status, "containerStatuses": containers}}


def ended(
    pod: JSON,
    now: str,
    *,
    exit_code: int,
    reason: str,
    message: str = "",
    exited: str,
    codes: Mapping[str, int] | None = None,
) -> JSON:
    """Return the pod with its status when its process has ended: Succeeded with exit code 0, else Failed.

    ``reason`` is the container's (``Completed``, ``Error``); with a ``message`` it is the pod's own as well. ``exited``
    is the end of the process, ``now`` or before. ``codes``: the exit codes of containers that have their own. What has
    ended before stays as it is.
    """
    status = pod.get("status", {})
    ends = {"terminated": parts.terminated(pod, exit_code, reason, exited)}
    initial: dict[str, JSON] = {
        container["name"]: container["state"] for container in status.get("initContainerStatuses", [])
    }
    sidecars = {
        container["name"] for container in pod["spec"].get("initContainers") or () if parts.is_sidecar(container)
    }
    own = {name: parts.ended_with(pod, code, exited) for name, code in (codes or {}).items()}
    own |= {
        told["name"]: told["state"] for told in status.get("containerStatuses", ()) if "terminated" in told["state"]
    }
    new = {
        **status,
        "phase": "Succeeded" if exit_code == 0 else "Failed",
        "startTime": status.get("startTime", now),
        "conditions": parts.conditions(pod, now, ready=False, why={"reason": "PodCompleted"}),
        **parts.init_statuses(
            pod,
            {name: parts.stopped(pod, state, exited) if name in sidecars else state for name, state in initial.items()},
            started=False,
        ),
        "containerStatuses": [
            parts.container_status(pod, container, own.get(container["name"], ends), started=False)
            for container in pod["spec"]["containers"]
        ],
    }
    if message:
        new |= {"reason": reason, "message": message}
    return {**pod, "status": new}


def refused(pod: JSON, start: str, *, reason: str, message: str) -> JSON:
    """Return the pod with its status when the kubelet cannot take it: Failed, without containers."""
    new = {**pod.get("status", {}), "phase": "Failed", "startTime": start, "reason": reason, "message": message}
    return {**pod, "status": new}
