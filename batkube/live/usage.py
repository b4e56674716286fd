"""The usage of simulated pods, for ``kubectl top`` and ``kubectl logs``: they use what they ask for while they run.

The objects are those of metrics.k8s.io/v1beta1, which metrics-server serves in a real cluster.
"""

from collections.abc import Callable, Iterator
from typing import Any

from batkube.bridge.occupancy import UNIT, requests_of
from batkube.bridge.pods import JOB_ANNOTATION
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
                containers = [
                    {"name": container["name"], "usage": _usage({"spec": {"containers": [container]}})}
                    for container in pod["spec"]["containers"]
                ]
                yield _metrics("PodMetrics", pod_meta, now()) | {"containers": containers}

    def nodes(_namespace: str, name: str) -> Iterator[JSON]:
        used: dict[str, list[JSON]] = {}
        for pod in running_pods(server):
            used.setdefault(pod["spec"]["nodeName"], []).append(pod)
        for node in server.list("nodes"):
            meta = node["metadata"]
            if name in ("", meta["name"]):
                node_meta = {"name": meta["name"], "labels": meta.get("labels") or {}}
                yield _metrics("NodeMetrics", node_meta, now()) | {"usage": _usage(*used.get(meta["name"], ()))}

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


def _usage(*pods: JSON) -> dict[str, str]:
    """Return cores (as millicores) and bytes that pods ask for together."""
    cpu = memory = 0
    for pod in pods:
        requests = requests_of(pod)
        cpu += requests.get("cpu", 0)
        memory += requests.get("memory", 0)
    return {"cpu": f"{-(-cpu // (UNIT // 1000))}m", "memory": f"{memory // UNIT // 1024}Ki"}
