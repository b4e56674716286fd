"""Hosts of the simulated platform as Nodes.

``core`` (property, else the platform's core attribute, else 1) gives cpu, ``memory`` gives memory, ``pods`` the number
of pods. A property named like an extended resource (``nvidia.com/gpu``) with a whole number is one; others become
labels. The zone that holds the host and the one around it become the topology labels for zone and region.
"""

from dataclasses import dataclass, field
from typing import Any

from batkube.bridge.errors import InputError
from batkube.bridge.names import label_value
from batkube.kube.quantity import Quantity, QuantityError

HOST_ANNOTATION = "batkube.io/host"
NUMBER_ANNOTATION = "batkube.io/host-number"

DEFAULT_MEMORY = "1Ti"
"""Memory of a host whose platform says nothing of it: enough never to be the reason why a pod waits."""
DEFAULT_PODS = 110
"""The kubelet's own default for ``maxPods``."""

_NOT_LABELS = {
    "role", "core", "memory", "pods", "speed", "wattage_per_state", "wattage_off", "sleep_pstates",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Host:
    """A compute host as Batsim and the platform file describe it together."""

    number: int
    """Batsim's number of the host, used in allocations."""
    name: str
    cores: int | None = None
    """Cores by the platform file; unknown where only Batsim's messages are at hand."""
    properties: dict[str, str] = field(default_factory=dict)
    zone_properties: dict[str, str] = field(default_factory=dict)
    """Those of the zones that hold it; they become labels only."""
    zones: tuple[str, ...] = ()
    """The zones that hold the host, outermost first."""


def node(host: Host, name: str, *, exclusive: bool, now: str) -> dict[str, Any]:
    """The Node for ``host``, ready, created at ``now`` (RFC 3339).

    ``exclusive``: one job at a time, Batsim's default, shown as room for a single pod.
    Raises InputError where a property is not what it must be.
    """
    capacity = {
        "cpu": _quantity(host, "core", str(host.cores or 1)),
        "memory": _quantity(host, "memory", DEFAULT_MEMORY),
        "pods": "1" if exclusive else _quantity(host, "pods", str(DEFAULT_PODS)),
    }
    labels = {
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
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
    return {
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
            "conditions": [ready_condition(True, now)],
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


def ready_condition(ready: bool, now: str) -> dict[str, str]:
    """The condition Ready as a kubelet, or the node life-cycle controller in its place, writes it."""
    return {
        "type": "Ready",
        "status": "True" if ready else "Unknown",
        "reason": "KubeletReady" if ready else "NodeStatusUnknown",
        "message": "the simulated host is up" if ready else "the simulated host is unavailable",
        "lastHeartbeatTime": now,
        "lastTransitionTime": now,
    }


def unreachable_taints(now: str) -> list[dict[str, str]]:
    """The taints of a node that answers no more, as the node life-cycle controller sets them."""
    key = "node.kubernetes.io/unreachable"
    return [
        {"key": key, "effect": "NoSchedule", "timeAdded": now},
        {"key": key, "effect": "NoExecute", "timeAdded": now},
    ]


def _quantity(host: Host, name: str, default: str) -> str:
    text = host.properties.get(name, default)
    try:
        if Quantity.parse(text) < Quantity.parse("0"):
            raise QuantityError("must not be negative")
    except QuantityError as error:
        raise InputError(f"host {host.name}: property {name} is {text!r}: {error}") from None
    return text


def _label_key(key: str) -> str:
    prefix, slash, name = key.rpartition("/")
    return prefix + slash + (label_value(name) or "x")
