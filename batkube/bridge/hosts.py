"""Hosts of the simulated platform as Nodes.

``core`` (property, else the platform's core attribute, else 1) gives cpu, ``memory`` gives memory (``32Gi``, also
spelled ``32GiB``), ``pods`` the number of pods. A property with the name of an extended resource (``nvidia.com/gpu``)
and a whole number as its value is such a resource; others become labels. The zone that holds the host and
the zone around that one become the topology labels for zone and region. ``batkube.io/node`` is a fragment of a Node
(JSON), merged over ours last: taints, and labels of any form (null takes one away).
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any

from batkube.bridge.errors import InputError
from batkube.bridge.names import MAX_LABEL_VALUE, label_value
from batkube.kube.apimachinery.quantity import Quantity, QuantityError
from batkube.kube.apimachinery.status import ApiError
from batkube.kube.patch import merge_patch

HOST_ANNOTATION = "batkube.io/host"
NUMBER_ANNOTATION = "batkube.io/host-number"
SPEED_ANNOTATION = "batkube.io/speed"
"""The annotation with the speed of a node, where 1 is usual: pods that need D seconds run for D / speed there."""
SLOWEST, FASTEST = 0.001, 1000.0
"""The least and the greatest speed of a node."""

DEFAULT_MEMORY = "1Ti"
"""The memory of a host whose platform does not name it: enough never to be the reason why a pod waits."""
_IN_BYTES = re.compile(r"([0-9.]+) ?([KMGTPE]i)B")
"""Another common spelling of a quantity of memory."""
DEFAULT_PODS = 110
"""The kubelet's own default for ``maxPods``."""

_HEALTHY = (
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
)
"""The conditions of a kubelet that is well: type, status, reason and message."""

NODE_PROPERTY = "batkube.io/node"
SPARE_PROPERTY = "batkube.io/spare"
_NOT_LABELS = {
    NODE_PROPERTY, SPARE_PROPERTY,
    "role", "core", "memory", "pods", "speed", "wattage_per_state", "wattage_off", "sleep_pstates",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Host:
    """A compute host as Batsim and the platform file describe it together."""

    number: int
    """Batsim's number of the host, used in allocations."""
    name: str
    cores: int | None = None
    """The cores by the platform file, else as Batsim 5 tells; None if only messages of Batsim 4 are known."""
    properties: dict[str, str] = field(default_factory=dict)
    zone_properties: dict[str, str] = field(default_factory=dict)
    """The properties of the zones that hold the host; they become labels only."""
    zones: tuple[str, ...] = ()
    """The zones that hold the host, outermost first."""
    described: bool = True
    """False for one that the platform does not have: nothing is known of it but what its node says."""

    @property
    def knows_cores(self) -> bool:
        """True if the number of cores is known, and not just taken to be one."""
        return self.cores is not None or "core" in self.properties


def node(host: Host, name: str, *, exclusive: bool, now: str) -> dict[str, Any]:
    """Return the Node for ``host``, ready, created at ``now`` (RFC 3339).

    ``exclusive``: one job at a time, Batsim's default, shown as room for a single pod. Raises InputError if a property
    does not have the form it must have.
    """
    capacity = {
        "cpu": _quantity(host, "core", str(host.cores or 1)),
        "memory": _quantity(host, "memory", DEFAULT_MEMORY),
        "pods": "1" if exclusive else _quantity(host, "pods", str(DEFAULT_PODS)),
    }
    labels = {
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": _hostname(host, name),
        "kubernetes.io/os": "linux",
    }
    if host.zones:
        labels["topology.kubernetes.io/zone"] = label_value(host.zones[-1])
    if len(host.zones) > 1:
        labels["topology.kubernetes.io/region"] = label_value(host.zones[-2])
    for key, value in sorted({**host.zone_properties, **host.properties}.items()):
        if key in _NOT_LABELS:
            continue
        if "/" in key and value.isdecimal() and key in host.properties:
            capacity[key] = value
        else:
            labels[_label_key(key)] = label_value(value)
    made = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": labels,
            "annotations": {HOST_ANNOTATION: host.name, NUMBER_ANNOTATION: str(host.number)},
        },
        "spec": {},
        "status": {
            "capacity": capacity,
            "allocatable": dict(capacity),
            "conditions": healthy_conditions(now),
            "addresses": [{"type": "Hostname", "address": name}],
            "nodeInfo": {
                "architecture": "amd64",
                "bootID": "",
                "containerRuntimeVersion": "batsim://",
                "kernelVersion": "",
                "kubeProxyVersion": "",
                "kubeletVersion": "v1.36.3",
                "machineID": "",
                "operatingSystem": "linux",
                "osImage": "Batsim host",
                "systemUUID": "",
            },
        },
    }
    return _merged(host, made) if NODE_PROPERTY in host.properties else made


def _merged(host: Host, made: dict[str, Any]) -> dict[str, Any]:
    """Return the node with the host's own fragment merged over it. Raises InputError if that is none."""
    try:
        fragment = json.loads(host.properties[NODE_PROPERTY])
        if not isinstance(fragment, dict) or not fragment.keys() <= {"metadata", "spec"}:
            raise ValueError("expected an object with metadata or spec")
        merged = merge_patch.apply(made, fragment)
        if not isinstance(merged["metadata"], dict) or merged["metadata"].get("name") != made["metadata"]["name"]:
            raise ValueError("metadata: must leave the name alone")
        speed_of(merged)
    except (ValueError, RecursionError, KeyError, ApiError) as error:
        raise InputError(f"host {host.name}: property {NODE_PROPERTY}: {error}") from None
    return merged


def read_speed(text: str) -> float:
    """Read the speed of a node. Raises ValueError."""
    try:
        speed = float(text)
    except ValueError:
        speed = 0.0
    if not SLOWEST <= speed <= FASTEST:
        raise ValueError(f"expected a number from {SLOWEST:g} to {FASTEST:g}, not {text!r}")
    return speed


def speed_of(node: dict[str, Any]) -> float:
    """Return the speed of a node by its annotation. Raises ValueError."""
    annotations = node["metadata"].get("annotations")
    text = annotations.get(SPEED_ANNOTATION) if isinstance(annotations, dict) else None
    try:
        return 1.0 if text is None else read_speed(str(text))
    except ValueError as error:
        raise ValueError(f"{SPEED_ANNOTATION}: {error}") from None


def healthy_conditions(now: str) -> list[dict[str, str]]:
    """Return the conditions that a kubelet posts when it is up, as of ``now``."""
    dates = {"lastHeartbeatTime": now, "lastTransitionTime": now}
    return [
        {"type": kind, "status": status, **dates, "reason": reason, "message": message}
        for kind, status, reason, message in _HEALTHY
    ]


def _hostname(host: Host, name: str) -> str:
    """Return the value of the label: the node's name, or if that is too long, its beginning and the host's number."""
    if len(name) <= MAX_LABEL_VALUE:
        return name
    number = f"-{host.number}"
    return label_value(name[: MAX_LABEL_VALUE - len(number)]) + number


def _quantity(host: Host, name: str, default: str) -> str:
    text = host.properties.get(name, default)
    if name == "memory" and (size := _IN_BYTES.fullmatch(text)):
        text = size[1] + size[2]
    try:
        if Quantity.parse(text) < Quantity.parse("0"):
            raise QuantityError("must not be negative")
    except QuantityError as error:
        example = "32Gi or 4000M" if name == "memory" else "4"
        raise InputError(
            f"host {host.name}: property {name} is {text!r}: expected a quantity such as {example}: {error}"
        ) from None
    return text


def _label_key(key: str) -> str:
    prefix, slash, name = key.rpartition("/")
    return prefix + slash + (label_value(name) or "x")
