"""The usage of simulated pods, for ``kubectl top`` and ``kubectl logs``: they use what they ask for while they run.

What a pod says that it uses (``batkube.io/usage``) counts instead, by the time since its first container was started;
its first container uses all of that.

The objects are those of metrics.k8s.io/v1beta1, which metrics-server serves in a real cluster.
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any

from batkube.bridge.occupancy import UNIT, requests_of
from batkube.bridge.pods import JOB_ANNOTATION
from batkube.bridge.usage_phases import USAGE_ANNOTATION, usage_of
from batkube.kube.schema.resources import ResourceType
from batkube.kube.server import ApiServer

JSON = dict[str, Any]

GROUP, VERSION = "metrics.k8s.io", "v1beta1"
WINDOW = "0s"
"""The span that a value is over: it is that of the moment."""
_USAGE = {"type": "object", "additionalProperties": {"type": "string"}}
_COMMON = {"metadata": {"type": "object"}, "timestamp": {"type": "string"}, "window": {"type": "string"}}


def serve_usage(server: ApiServer, now: Callable[[], str]) -> None:
    """Serve metrics.k8s.io. ``now`` returns the simulated time as Kubernetes writes it."""

    def pods(namespace: str, name: str) -> Iterator[JSON]:
        for pod in running_pods(server):
            meta = pod["metadata"]
            if namespace in ("", meta["namespace"]) and name in ("", meta["name"]):
                pod_meta = {"name": meta["name"], "namespace": meta["namespace"], "labels": meta.get("labels") or {}}
                yield _metrics("PodMetrics", pod_meta, now()) | {"containers": _containers(pod, now())}

    def nodes(_namespace: str, name: str) -> Iterator[JSON]:
        used: dict[str, list[JSON]] = {}
        for pod in running_pods(server):
            used.setdefault(pod["spec"]["nodeName"], []).append(pod)
        for node in server.list("nodes"):
            meta = node["metadata"]
            if name in ("", meta["name"]):
                node_meta = {"name": meta["name"], "labels": meta.get("labels") or {}}
                together = [_used(pod, now()) for pod in used.get(meta["name"], ())]
                yield _metrics("NodeMetrics", node_meta, now()) | {"usage": _sum(together)}

    containers = {"type": "array", "items": {"type": "object", "properties": {"usage": _USAGE}}}
    server.compute(_resource("nodes", "NodeMetrics", {"usage": _USAGE}, namespaced=False), nodes)
    server.compute(_resource("pods", "PodMetrics", {"containers": containers}, namespaced=True), pods)


def running_pods(server: ApiServer) -> Iterator[JSON]:
    """Yield the pods that run, in order of namespace and name."""
    for pod in server.list("pods"):
        if pod.get("status", {}).get("phase") == "Running" and pod["spec"].get("nodeName"):
            yield pod


def log_of(pod: JSON) -> str:
    """Return the log of a simulated pod: a line that says what it is."""
    job = (pod["metadata"].get("annotations") or {}).get(JOB_ANNOTATION)
    what = f"It stands for job {job} of a simulation" if job else "It was not made by a simulation"
    phase = pod.get("status", {}).get("phase", "Pending")
    where = f"is {phase} on node {pod['spec'].get('nodeName', '')}"
    return f"batkube: no process runs in this pod, so that it writes nothing. {what}, and {where}.\n"


def _resource(plural: str, kind: str, fields: JSON, *, namespaced: bool) -> ResourceType:
    return ResourceType(
        group=GROUP,
        version=VERSION,
        plural=plural,
        singular="",
        kind=kind,
        namespaced=namespaced,
        verbs=("get", "list"),
        storage=f"{plural}.{GROUP}",
        custom=True,
        schema={"type": "object", "properties": {**_COMMON, **fields}},
    )


def _metrics(kind: str, metadata: JSON, now: str) -> JSON:
    return {"kind": kind, "apiVersion": f"{GROUP}/{VERSION}", "metadata": {**metadata, "creationTimestamp": now},
            "timestamp": now, "window": WINDOW}  # fmt: skip


def _containers(pod: JSON, now: str) -> list[JSON]:
    """Return the usage of each container of a pod that runs."""
    containers = pod["spec"]["containers"]
    if USAGE_ANNOTATION in (pod["metadata"].get("annotations") or {}):
        each = [_used(pod, now), *([(0, 0)] * (len(containers) - 1))]
    else:
        each = [_requested({"spec": {"containers": [container]}}) for container in containers]
    return [
        {"name": container["name"], "usage": _sum([used])} for container, used in zip(containers, each, strict=True)
    ]


def _used(pod: JSON, now: str) -> tuple[int, int]:
    """Return the cpu and the memory that a pod uses at a date, in billionths."""
    try:
        usage = usage_of(pod)
    except ValueError:  # it was told of when the pod came
        usage = None
    if usage is None:
        return _requested(pod)
    states = [told["state"] for told in pod["status"].get("containerStatuses", ())]
    began = next((state["running"]["startedAt"] for state in states if "running" in state), now)
    phase = usage.at((datetime.fromisoformat(now) - datetime.fromisoformat(began)).total_seconds())
    return phase.cpu, phase.memory


def _requested(pod: JSON) -> tuple[int, int]:
    requests = requests_of(pod)
    return requests.get("cpu", 0), requests.get("memory", 0)


def _sum(used: Iterable[tuple[int, int]]) -> dict[str, str]:
    """Return cores (as millicores) and bytes together."""
    cpu = memory = 0
    for of_cpu, of_memory in used:
        cpu += of_cpu
        memory += of_memory
    return {"cpu": f"{-(-cpu // (UNIT // 1000))}m", "memory": f"{memory // UNIT // 1024}Ki"}
