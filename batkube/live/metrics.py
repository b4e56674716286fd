"""The simulated cluster for Prometheus: the names are those of kube-state-metrics, and ``batkube_...`` for the rest.

https://github.com/kubernetes/kube-state-metrics/tree/main/docs/metrics has them. Pods that have ended have no series:
a simulation ends millions, and ``batkube_jobs`` counts them.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from batkube.bridge.occupancy import UNIT, amounts
from batkube.bridge.simulation import Simulation
from batkube.clock.pace import Pace
from batkube.kube.server import ApiServer

JSON = dict[str, Any]
Labels = Mapping[str, str]
Current = Callable[[], Simulation | None]

PHASES = ("Pending", "Running", "Succeeded", "Failed", "Unknown")
_OVER = ("Succeeded", "Failed")
_UNITS = {"cpu": "core", "memory": "byte", "ephemeral-storage": "byte"}
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


class _Family:
    """A metric with its samples, in Prometheus' text format."""

    def __init__(self, name: str, about: str) -> None:
        self.name = name
        self.lines = [f"# HELP {name} {about}", f"# TYPE {name} gauge"]

    def add(self, value: float, labels: Labels | None = None) -> None:
        text = ",".join(f'{name}="{label.translate(_ESCAPES)}"' for name, label in (labels or {}).items())
        number = int(value) if value == int(value) else value
        self.lines.append(f"{self.name}{{{text}}} {number}" if text else f"{self.name} {number}")


def exposition(server: ApiServer, pace: Pace, current: Current) -> str:
    """Return the metrics as they are now."""
    families = [*_of_nodes(server.list("nodes")), *_of_pods(server.list("pods")), *_of_simulation(pace, current())]
    return "\n".join(line for family in families for line in family.lines) + "\n"


def _of_nodes(nodes: Iterable[JSON]) -> list[_Family]:
    info = _Family("kube_node_info", "Information about a cluster node.")
    allocatable = _Family(
        "kube_node_status_allocatable",
        "The amount of resources allocatable for pods, after reserving some for daemons.",
    )
    capacity = _Family("kube_node_status_capacity", "The total amount of resources available for a node.")
    condition = _Family("kube_node_status_condition", "The condition of a cluster node.")
    unschedulable = _Family("kube_node_spec_unschedulable", "Whether a node can schedule new pods.")
    for node in nodes:
        name = {"node": node["metadata"]["name"]}
        status = node.get("status", {})
        info.add(1, name)
        for family, member in ((allocatable, "allocatable"), (capacity, "capacity")):
            for resource, amount in sorted(amounts(status.get(member, {})).items()):
                family.add(amount / UNIT, {**name, "resource": _label(resource), "unit": _unit(resource)})
        for one in status.get("conditions", []):
            for value in ("true", "false", "unknown"):
                said = one["status"].lower() == value
                condition.add(said, {**name, "condition": one["type"], "status": value})
        unschedulable.add(bool(node["spec"].get("unschedulable")), name)
    return [info, allocatable, capacity, condition, unschedulable]


def _of_pods(pods: Iterable[JSON]) -> list[_Family]:
    info = _Family("kube_pod_info", "Information about pod.")
    phase = _Family("kube_pod_status_phase", "The pods current phase.")
    scheduled = _Family("kube_pod_status_scheduled", "Describes the status of the scheduling process for the pod.")
    requests = _Family(
        "kube_pod_container_resource_requests", "The number of requested request resource by a container."
    )
    for pod in pods:
        meta, spec = pod["metadata"], pod["spec"]
        now = pod.get("status", {}).get("phase", "Pending")
        if now in _OVER:
            continue
        common = {"namespace": meta["namespace"], "pod": meta["name"], "uid": meta["uid"]}
        node = spec.get("nodeName", "")
        info.add(1, {**common, "node": node, "priority_class": spec.get("priorityClassName", "")})
        for one in PHASES:
            phase.add(one == now, {**common, "phase": one})
        for value in ("true", "false"):
            scheduled.add((value == "true") == bool(node), {**common, "condition": value})
        for container in spec["containers"]:
            asked = amounts(container.get("resources", {}).get("requests", {}))
            for resource, amount in sorted(asked.items()):
                labels = {**common, "container": container["name"], "node": node}
                requests.add(amount / UNIT, {**labels, "resource": _label(resource), "unit": _unit(resource)})
    return [info, phase, scheduled, requests]


def _of_simulation(pace: Pace, simulation: Simulation | None) -> list[_Family]:
    now = _Family("batkube_simulated_time_seconds", "Simulated seconds since the simulation began.")
    date = _Family("batkube_simulated_unix_seconds", "The simulated date in Unix seconds.")
    paused = _Family("batkube_clock_paused", "Whether the simulation is paused.")
    factor = _Family("batkube_clock_pace", "Simulated seconds a real second that are wanted; 0: as fast as possible.")
    jobs = _Family("batkube_jobs", "The number of jobs in each state.")
    lost = _Family("batkube_warnings", "The number of warnings so far.")
    paused.add(pace.paused)
    factor.add(pace.factor or 0)
    if simulation is not None:
        control = simulation.control
        now.add(simulation.time.now)
        date.add(simulation.time.unix())
        states = {
            "waiting": control.submitted - control.running - control.over,
            "running": control.running,
            "ended": control.over - len(control.rejections),
            "rejected": len(control.rejections),
        }
        for state, count in states.items():
            jobs.add(count, {"state": state})
        lost.add(len(simulation.warnings))
    return [now, date, paused, factor, jobs, lost]


def _label(resource: str) -> str:
    """Return a resource's name as kube-state-metrics spells it in labels: ``nvidia_com_gpu``."""
    return "".join(character if character.isalnum() else "_" for character in resource)


def _unit(resource: str) -> str:
    return _UNITS.get(resource, "integer")
