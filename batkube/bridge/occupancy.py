"""Who holds which node: what a binding may take, and the promise that nothing is used twice."""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from batkube.bridge.errors import InvariantBroken
from batkube.kube.quantity import Quantity

JSON = dict[str, Any]
Resources = dict[str, Fraction]
"""Amounts in base units: cores, bytes, pods."""


@dataclass(slots=True)
class _Node:
    allocatable: Resources
    taken: Resources = field(default_factory=dict)
    pods: dict[str, Resources] = field(default_factory=dict)
    """By the pods' uids."""


class Occupancy:
    """What runs, or is about to run, on each node. ``exclusive``: a node takes one pod, whatever it asks for.

    ``is_device`` tells of a resource that claims of devices can stand for, where a node has none of it: whether there
    is room is the scheduler's business then.
    """

    def __init__(self, *, exclusive: bool, is_device: Callable[[str], bool] = lambda resource: False) -> None:
        self.exclusive = exclusive
        self._is_device = is_device
        self._nodes: dict[str, _Node] = {}
        self._where: dict[str, str] = {}

    def add_node(self, name: str, allocatable: dict[str, str]) -> None:
        """A node with room for ``allocatable`` (quantities)."""
        self._nodes[name] = _Node(amounts(allocatable))

    def __len__(self) -> int:
        return len(self._nodes)

    def could_take(self, requests: dict[str, str]) -> int:
        """How many pods with these requests an empty cluster has room for."""
        wanted = {"pods": Fraction(1), **amounts(requests)}
        return sum(self._room(node, wanted) for node in self._nodes.values())

    def _room(self, node: _Node, wanted: Resources) -> int:
        zero = Fraction(0)
        room = min(
            int(node.allocatable.get(key, zero) / value)
            for key, value in wanted.items()
            if value > 0 and not self._is_claimed(node, key)
        )
        return min(room, 1) if self.exclusive else room

    def refusal(self, pod: JSON, name: str) -> str | None:
        """Why the node ``name`` cannot take ``pod`` now; None where it can."""
        node = self._nodes.get(name)
        if node is None:
            return f'node "{name}" is not a host of the simulated platform'
        if self.exclusive and node.pods:
            return f'node "{name}" is in use, and its host is exclusive (no compute sharing)'
        if lacking := self._lacking(node, requests_of(pod)):
            return f'node "{name}" has not enough {", ".join(lacking)} left'
        return None

    def take(self, pod: JSON, name: str) -> None:
        """``pod`` holds ``name`` from now on. Raises InvariantBroken where it cannot."""
        uid = pod["metadata"]["uid"]
        if uid in self._where or (why := self.refusal(pod, name)):
            why = why if uid not in self._where else f"it is on {self._where[uid]} already"
            raise InvariantBroken(f"pod {pod['metadata']['name']} was bound to {name}, but {why}")
        node = self._nodes[name]
        wanted = requests_of(pod)
        node.pods[uid] = wanted
        self._where[uid] = name
        for key, value in wanted.items():
            node.taken[key] = node.taken.get(key, Fraction(0)) + value

    def release(self, uid: str) -> str | None:
        """The pod holds nothing any more; the node it held, if any."""
        name = self._where.pop(uid, None)
        if name is None:
            return None
        node = self._nodes[name]
        for key, value in node.pods.pop(uid).items():
            node.taken[key] -= value
        return name

    def _lacking(self, node: _Node, wanted: Resources) -> list[str]:
        zero = Fraction(0)
        return [
            key
            for key, value in wanted.items()
            if value > 0
            and node.allocatable.get(key, zero) - node.taken.get(key, zero) < value
            and not self._is_claimed(node, key)
        ]

    def _is_claimed(self, node: _Node, resource: str) -> bool:
        return resource not in node.allocatable and self._is_device(resource)


def amounts(quantities: dict[str, str]) -> Resources:
    """Quantities as exact numbers."""
    return {key: Quantity.parse(value).value for key, value in quantities.items()}


def requests_of(pod: JSON) -> Resources:
    """What a pod asks a node for: containers together, at least its largest init container, overhead, and one pod.

    As kube-scheduler counts it (``k8s.io/component-helpers/resource`` PodRequests), but for sidecars.
    """
    spec = pod["spec"]
    total: Resources = {}
    for container in spec["containers"]:
        for key, value in amounts(container.get("resources", {}).get("requests", {})).items():
            total[key] = total.get(key, Fraction(0)) + value
    for container in spec.get("initContainers", []):
        for key, value in amounts(container.get("resources", {}).get("requests", {})).items():
            total[key] = max(total.get(key, Fraction(0)), value)
    for key, value in amounts(spec.get("overhead", {})).items():
        total[key] = total.get(key, Fraction(0)) + value
    total["pods"] = Fraction(1)
    return total
