"""Pods and the word for their state."""

from __future__ import annotations

from typing import Any

from ..ages import Ages
from .text import JSON, NONE, Cells, age, condition, containers, is_true, labels, name, spec, status

_TERMINAL = ("Succeeded", "Failed")


def pod(obj: JSON, ages: Ages) -> list[Any]:
    state = _State(obj)
    restarts = str(state.restarts)
    if state.restarts and state.last_restart:
        restarts = f"{state.restarts} ({ages.since(state.last_restart)} ago)"
    pod_spec, pod_status = spec(obj), status(obj)
    addresses = pod_status.get("podIPs") or ()
    return [
        name(obj),
        f"{state.ready}/{state.total}",
        state.reason,
        restarts,
        age(obj, ages),
        (addresses[0].get("ip") if addresses else "") or NONE,
        pod_spec.get("nodeName") or NONE,
        pod_status.get("nominatedNodeName") or NONE,
        _readiness_gates(obj),
    ]


class _State:
    """The counts of a pod's containers, and the word for its state (`printPod`)."""

    def __init__(self, obj: JSON) -> None:
        pod_spec, pod_status = spec(obj), status(obj)
        self.reason: str = pod_status.get("reason") or pod_status.get("phase") or ""
        self.ready = 0
        self.restarts = 0
        self.last_restart = ""
        init_containers = pod_spec.get("initContainers") or ()
        self._sidecars = {each["name"] for each in init_containers if each.get("restartPolicy") == "Always"}
        self.total = len(pod_spec.get("containers") or ()) + len(self._sidecars)
        for found in pod_status.get("conditions") or ():
            if found.get("type") == "PodScheduled" and found.get("reason") == "SchedulingGated":
                self.reason = "SchedulingGated"
        sidecar_restarts, last_sidecar_restart = self._sidecar_restarts(pod_status)
        initializing = self._initialize(pod_status, len(init_containers))
        if not initializing or is_true(obj, "Initialized"):
            self.restarts, self.last_restart = sidecar_restarts, last_sidecar_restart
            self._run(obj)
        if obj["metadata"].get("deletionTimestamp"):
            if pod_status.get("reason") == "NodeLost":
                self.reason = "Unknown"
            elif pod_status.get("phase") not in _TERMINAL:
                self.reason = "Terminating"

    def _sidecar_restarts(self, pod_status: JSON) -> tuple[int, str]:
        """Return the restarts and the last restart of sidecars, up to the init container at which initialization
        stands.
        """
        count, last = 0, ""
        for container in pod_status.get("initContainerStatuses") or ():
            if container.get("name") in self._sidecars:
                count += container.get("restartCount", 0)
                last = max(last, _last_end(container))
            if not self._is_done(container):
                break
        return count, last

    def _is_done(self, container: JSON) -> bool:
        terminated = (container.get("state") or {}).get("terminated")
        if terminated is not None and not terminated.get("exitCode"):
            return True
        return container.get("name") in self._sidecars and bool(container.get("started"))

    def _initialize(self, pod_status: JSON, count: int) -> bool:
        """Return True if an init container still runs or has failed."""
        for index, container in enumerate(pod_status.get("initContainerStatuses") or ()):
            self.restarts += container.get("restartCount", 0)
            self.last_restart = max(self.last_restart, _last_end(container))
            state = container.get("state") or {}
            terminated, waiting = state.get("terminated"), state.get("waiting") or {}
            if self._is_done(container):
                if not (terminated is not None and not terminated.get("exitCode")) and container.get("ready"):
                    self.ready += 1
                continue
            if terminated is not None:
                self.reason = "Init:" + _end(terminated)
            elif waiting.get("reason") and waiting["reason"] != "PodInitializing":
                self.reason = "Init:" + waiting["reason"]
            else:
                self.reason = f"Init:{index}/{count}"
            return True
        return False

    def _run(self, obj: JSON) -> None:
        running, error = False, ""
        for container in reversed(status(obj).get("containerStatuses") or ()):
            self.restarts += container.get("restartCount", 0)
            self.last_restart = max(self.last_restart, _last_end(container))
            state = container.get("state") or {}
            waiting, terminated = state.get("waiting") or {}, state.get("terminated")
            if waiting.get("reason"):
                self.reason = waiting["reason"]
            elif terminated is not None:
                self.reason = _end(terminated)
                if terminated.get("exitCode"):
                    error = self.reason
            elif container.get("ready") and state.get("running") is not None:
                running = True
                self.ready += 1
        if self.reason == "Completed":
            if running and is_true(obj, "Ready"):
                self.reason = "Running"
            elif error:
                self.reason = error
            elif running:
                self.reason = "NotReady"


def _last_end(container: JSON) -> str:
    """Return the time at which a container ended before its restart. RFC 3339 times in UTC sort as texts."""
    terminated = (container.get("lastState") or {}).get("terminated") or {}
    return terminated.get("finishedAt") or ""


def _end(terminated: JSON) -> str:
    """Return a text for how a container ended."""
    if terminated.get("reason"):
        return str(terminated["reason"])
    if terminated.get("signal"):
        return f"Signal:{terminated['signal']}"
    return f"ExitCode:{terminated.get('exitCode', 0)}"


def _readiness_gates(obj: JSON) -> str:
    gates = spec(obj).get("readinessGates") or ()
    if not gates:
        return NONE
    met = sum(1 for gate in gates if (condition(obj, gate["conditionType"]) or {}).get("status") == "True")
    return f"{met}/{len(gates)}"


def pod_template(obj: JSON, ages: Ages) -> list[Any]:
    template = obj.get("template") or {}
    return [name(obj), *containers(template.get("spec") or {}), labels(template.get("metadata", {}).get("labels"))]


CELLS: dict[str, Cells] = {"Pod": pod, "PodTemplate": pod_template}
