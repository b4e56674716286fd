"""Nodes and pods as a run takes them: what a scheduler sees of them, and when they came and how long they ran."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from batkube.kube.apimachinery.status import ApiError
from batkube.kube.apimachinery.times import unix_seconds
from batkube.kube.codec.typed import decode
from batkube.kube.kinds.pods.annotations import MIRROR
from batkube.kube.schema.resources import default_registry
from batkube.snapshot.reading import SnapshotError

JSON = dict[str, Any]

CREATED_AT, DURATION, EXIT_CODE = "batkube.io/created-at", "batkube.io/duration", "batkube.io/exit-code"
FOREVER = "forever"
_SEEN = (
    "affinity", "nodeSelector", "tolerations", "topologySpreadConstraints", "priorityClassName", "schedulerName",
    "hostNetwork", "resources", "terminationGracePeriodSeconds",
)  # fmt: skip
"""The fields of a pod by which it is placed, or which say how it ends."""
_LEFT_OUT = ("volumes", "resourceClaims", "schedulingGates", "overhead")
"""Fields that a scheduler heeds, and that need other objects."""
_BUILT_IN = "system-"
"""The beginning of the names of PriorityClasses that every cluster has."""


@dataclass
class Snapshot:
    """The objects of a cluster, as a run takes them."""

    nodes: list[JSON] = field(default_factory=list)
    pods: list[JSON] = field(default_factory=list)
    """In the order in which they were created."""
    classes: list[JSON] = field(default_factory=list)
    """The PriorityClasses that pods name."""
    epoch: int = 0
    """Unix seconds of simulated second 0, at which the first pod was created."""
    ended: int = 0
    """The pods whose end was seen."""
    left_out: Counter[str] = field(default_factory=Counter)
    """The parts of it that a run does not have."""


def snapshot_of(objects: Iterable[JSON]) -> Snapshot:
    """Return the snapshot of a cluster with these objects. Raises SnapshotError."""
    found = Snapshot()
    dated: list[tuple[int, str, JSON]] = []
    kinds = {resource.kind: resource for resource in map(default_registry().named, ("nodes", "pods"))}
    for number, given in enumerate(objects, 1):
        resource = kinds.get(given["kind"])
        if resource is None or given.get("apiVersion", resource.api_version) != resource.api_version:
            found.left_out[f"of kind {given['kind']}"] += 1
            continue
        try:
            obj = decode(resource, given)
        except ApiError as error:
            named = given.get("metadata")
            name = f" ({named['name']})" if isinstance(named, dict) and isinstance(named.get("name"), str) else ""
            raise SnapshotError(f"object {number}{name}: {error.message}") from None
        metadata = obj["metadata"]
        if resource.kind == "Node":
            found.nodes.append(_node(obj))
        elif MIRROR in (metadata.get("annotations") or {}):
            found.left_out["pods that a kubelet has from a file"] += 1
        else:
            where = f"pod {metadata.get('namespace', 'default')}/{metadata.get('name')}"
            dated.append((_date(where, metadata.get("creationTimestamp")), where, obj))
    if not found.nodes:
        raise SnapshotError("there is no Node in it: `kubectl get nodes,pods -A -o yaml` writes both")
    if not dated:
        raise SnapshotError("there is no Pod in it: `kubectl get nodes,pods -A -o yaml` writes both")
    dated.sort(key=lambda each: each[:2])
    found.epoch = dated[0][0]
    classes: dict[str, JSON] = {}
    for date, where, obj in dated:
        pod = _pod(where, obj, date - found.epoch, found)
        found.pods.append(pod)
        name, value = pod["spec"].get("priorityClassName"), obj["spec"].get("priority")
        if name and not name.startswith(_BUILT_IN):
            classes.setdefault(name, _class(name, value, obj["spec"].get("preemptionPolicy")))
    found.classes = list(classes.values())
    return found


def _date(where: str, text: object) -> int:
    """Return Unix seconds."""
    try:
        return int(unix_seconds(str(text)))
    except ValueError:
        raise SnapshotError(f"{where}: metadata.creationTimestamp: {text!r} is no date") from None


def _node(obj: JSON) -> JSON:
    metadata, spec, status = obj["metadata"], obj["spec"], obj["status"]
    kept = {name: spec[name] for name in ("taints", "unschedulable") if name in spec}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": metadata.get("name"), "labels": metadata.get("labels") or {}},
        "spec": kept,
        "status": {name: status[name] for name in ("capacity", "allocatable") if name in status},
    }


def _pod(where: str, obj: JSON, created: int, found: Snapshot) -> JSON:
    metadata, spec, status = obj["metadata"], obj["spec"], obj["status"]
    if not spec.get("containers"):
        raise SnapshotError(f"{where}: spec.containers: missing")
    annotations = {CREATED_AT: str(created)}
    new_spec = {name: spec[name] for name in _SEEN if name in spec}
    new_spec["containers"] = [_container(each) for each in spec["containers"]]
    if spec.get("initContainers"):
        new_spec["initContainers"] = [_container(each) for each in spec["initContainers"]]
    new_spec["restartPolicy"] = spec.get("restartPolicy", "Always")
    if status.get("phase") in ("Succeeded", "Failed"):
        seconds, code = _run(where, status)
        annotations[DURATION] = str(seconds)
        if code:
            annotations[EXIT_CODE] = str(code)
        new_spec["restartPolicy"] = "Never"
        found.ended += 1
    elif spec.get("nodeName"):
        annotations[DURATION] = FOREVER
    for name in _LEFT_OUT:
        volumes = [each for each in spec.get("volumes") or () if "persistentVolumeClaim" in each]
        if spec.get(name) and (name != "volumes" or volumes):
            found.left_out[f"{name} of pods"] += 1
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": metadata.get("name"),
            "namespace": metadata.get("namespace", "default"),
            "labels": metadata.get("labels") or {},
            "annotations": annotations,
        },
        "spec": new_spec,
    }


def _container(given: JSON) -> JSON:
    """Return what a scheduler sees of a container."""
    kept = {name: given[name] for name in ("name", "image", "resources", "restartPolicy") if given.get(name)}
    if ports := [port for port in given.get("ports") or () if port.get("hostPort")]:
        kept["ports"] = ports
    return kept


def _run(where: str, status: JSON) -> tuple[int, int]:
    """Return the seconds from the start of a pod to the end of its last container, and an exit code that is not 0."""
    ends, code = [], 0
    for container in status.get("containerStatuses") or ():
        ended = container["state"].get("terminated") or {}
        if ended.get("finishedAt"):
            ends.append(_date(where, ended["finishedAt"]))
        code = code or int(ended.get("exitCode", 0))
    if status["phase"] == "Failed":
        code = code or 1
    if not ends or not status.get("startTime"):
        return 1, code  # it was refused, or lost before it ran
    return max(1, max(ends) - _date(where, status["startTime"])), code


def _class(name: str, value: object, policy: object) -> JSON:
    more = {"preemptionPolicy": policy} if policy else {}
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value or 0,
        **more,
    }
