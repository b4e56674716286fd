"""The status that a kubelet writes of a pod: phase, conditions and containers, from its coming to the end.

The statuses are as the API server stores them, member by member: no empty members except those that it writes, in the
order in which it leaves them. See ``kube.trusted``.
"""

from collections.abc import Mapping, Sequence
from typing import Any

JSON = dict[str, Any]

SANDBOX = "PodReadyToStartContainers"
"""The condition that the pod has its sandbox, with its network. It is no longer True when the pod has ended."""
_WITHOUT_SANDBOX = ("Initialized", "Ready", "ContainersReady")
_WITH_SANDBOX = (*_WITHOUT_SANDBOX, SANDBOX)
_RESIZED = ("allocatedResources", "resources")
"""The kubelet's report on containers that were resized."""
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
    known = {told["name"]: told["state"] for told in status.get("initContainerStatuses", ())}
    initial = {
        container["name"]: runs if is_sidecar(container) else done
        for container in pod["spec"].get("initContainers") or ()
    }
    initial |= {name: state for name, state in known.items() if "waiting" not in state}
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
            "containerStatuses": _containers(pod, _STILL_TO_START, started=False),
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
    conditions = _conditions(pod, now, ready=False, sandbox=True, sandbox_up=True, why=_not_ready(pod))
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


def stopped_initializing(pod: JSON, now: str, exit_code: int) -> dict[str, JSON]:
    """Return what becomes of its init containers when the pod ends before they are done, by name."""
    changes: dict[str, JSON] = {}
    sidecars = {container["name"] for container in pod["spec"]["initContainers"] if is_sidecar(container)}
    for told in pod["status"].get("initContainerStatuses", ()):
        name, state = told["name"], told["state"]
        if "running" in state:
            code = 0 if name in sidecars else exit_code
            ends = _ended_with(pod, code, now)["terminated"]
            changes[name] = {"state": {"terminated": {**ends, "startedAt": state["running"]["startedAt"]}}}
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
            **(known.get(container["name"]) or _container(pod, container, _STILL_TO_START, started=False)),
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
        "conditions": _conditions(
            pod, now, ready=False, sandbox=True, sandbox_up=not failed,
            why={"reason": "PodFailed"} if failed else _not_ready(pod), uninitialized=lacking,
        ),
        "initContainerStatuses": statuses,
    }  # fmt: skip


def container_ended(pod: JSON, now: str, name: str, exit_code: int) -> JSON:
    """Return the pod with its status when one of its containers has ended, and others go on."""
    status = pod["status"]
    ends = _ended_with(pod, exit_code, now)
    containers = [
        {**told, "ready": False, "started": False, "state": ends} if told["name"] == name else told
        for told in status["containerStatuses"]
    ]
    unready = [told["name"] for told in containers if not told["ready"]]
    conditions = _conditions(pod, now, ready=False, sandbox_up=True, why=_not_ready(pod, unready))
    return {**pod, "status": {**status, "conditions": conditions, "containerStatuses": containers}}


def backing_off(pod: JSON, now: str, *, exit_code: int, reason: str, exited: str, wait: str) -> JSON:
    """Return the pod with its status while its process is not started again at once: CrashLoopBackOff.

    ``wait``: the length of the back-off, as Go writes it.
    """
    status, metadata = pod.get("status", {}), pod["metadata"]
    ends = _terminated(pod, exit_code, reason, exited)
    containers = []
    for container in pod["spec"]["containers"]:
        waiting = crash_loop(metadata, container["name"], wait)
        containers.append({**_container(pod, container, waiting, started=False), "lastState": {"terminated": ends}})
    return {
        **pod,
        "status": {
            **status,
            "conditions": _conditions(pod, now, ready=False, why=_not_ready(pod)),
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
    ends = {"terminated": _terminated(pod, exit_code, reason, exited)}
    initial: dict[str, JSON] = {
        container["name"]: container["state"] for container in status.get("initContainerStatuses", [])
    }
    sidecars = {container["name"] for container in pod["spec"].get("initContainers") or () if is_sidecar(container)}
    own = {name: _ended_with(pod, code, exited) for name, code in (codes or {}).items()}
    own |= {
        told["name"]: told["state"] for told in status.get("containerStatuses", ()) if "terminated" in told["state"]
    }
    new = {
        **status,
        "phase": "Succeeded" if exit_code == 0 else "Failed",
        "startTime": status.get("startTime", now),
        "conditions": _conditions(pod, now, ready=False, why={"reason": "PodCompleted"}),
        **_initial(
            pod,
            {name: _stopped(pod, state, exited) if name in sidecars else state for name, state in initial.items()},
            started=False,
        ),
        "containerStatuses": [
            _container(pod, container, own.get(container["name"], ends), started=False)
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


def is_sidecar(container: JSON) -> bool:
    """Tell whether an init container goes on beside the others (KEP-753)."""
    return container.get("restartPolicy") == "Always"


def _terminated(pod: JSON, exit_code: int, reason: str, exited: str) -> JSON:
    status = pod.get("status", {})
    began = status.get("startTime", exited)
    states = [container["state"] for container in status.get("containerStatuses", [])]
    process: JSON = next((state["running"] for state in states if "running" in state), {})
    started = process.get("startedAt", f"{began[:19]}Z")
    return {"exitCode": exit_code, "reason": reason, "startedAt": started, "finishedAt": exited}


def _ended_with(pod: JSON, exit_code: int, exited: str) -> JSON:
    return {"terminated": _terminated(pod, exit_code, "Error" if exit_code else "Completed", exited)}


def _stopped(pod: JSON, state: JSON, exited: str) -> JSON:
    """Return the state of a sidecar that ends with its pod."""
    ends = _terminated(pod, 0, "Completed", exited)
    return {"terminated": {**ends, "startedAt": state.get("running", ends)["startedAt"]}}


def _not_ready(pod: JSON, unready: Sequence[str] | None = None) -> JSON:
    """Return why the pod is not ready: all its containers, or those that are named."""
    names = " ".join(unready or [container["name"] for container in pod["spec"]["containers"]])
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
        **({name: known[name] for name in _RESIZED if name in known} if known else {}),
    }


def _conditions(
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
    conditions: dict[str, JSON] = {
        condition["type"]: condition for condition in pod.get("status", {}).get("conditions", [])
    }
    truth = "True" if ready else "False"
    for kind in _WITH_SANDBOX if sandbox or SANDBOX in conditions else _WITHOUT_SANDBOX:
        status = ("True" if uninitialized is None else "False") if kind == "Initialized" else truth
        status = "True" if kind == SANDBOX and sandbox_up else status
        old = conditions.get(kind)
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
        conditions[kind] = new
    return [*conditions.values()]
