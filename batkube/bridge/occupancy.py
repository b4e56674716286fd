"""The pods on each node: what a binding may take, and the guarantee that nothing is used twice."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from batkube.bridge.errors import InvariantBroken
from batkube.kube.apimachinery.quantity import Quantity

JSON = dict[str, Any]
Resources = dict[str, int]
"""Amounts in billionths of base units (cores, bytes, pods), the finest part of a quantity that Kubernetes keeps."""

UNIT = 10**9
"""The amount of one core, byte or pod."""
_NONE = frozenset[str]()
_REMEMBERED = 1024
"""The number of different requests whose room in an empty cluster is remembered."""


@dataclass(frozen=True, slots=True)
class Lacking:
    """A resource of which a node has too little for a pod that grows. The pod's own are not among those used."""

    resource: str
    requested: int
    used: int
    capacity: int


@dataclass(slots=True)
class _Node:
    allocatable: Resources
    taken: Resources = field(default_factory=dict)
    pods: dict[str, Resources] = field(default_factory=dict)
    """The requests by the pods' uids."""


class Occupancy:
    """The pods that run, or are about to run, on each node. ``exclusive``: a node takes one pod, whatever it asks for.

    ``is_device`` tells whether claims of devices can stand for a resource. If a node has none of that resource, only
    the scheduler decides whether there is room.
    """

    def __init__(self, *, exclusive: bool, is_device: Callable[[str], bool] = lambda resource: False) -> None:
        self.exclusive = exclusive
        self._is_device = is_device
        self._nodes: dict[str, _Node] = {}
        self._where: dict[str, str] = {}
        self._alike: Counter[frozenset[tuple[str, int]]] = Counter()
        """The number of nodes with the same allocatable resources: most clusters have few sorts of nodes."""
        self._replaced: set[str] = set()
        self._everywhere: frozenset[str] = frozenset()
        """The resources that each node names, even with an amount of zero."""
        self._room_for = lru_cache(_REMEMBERED)(self._count_room)

    def add_node(self, name: str, allocatable: dict[str, str]) -> None:
        """Add a node with room for ``allocatable`` (quantities), or give one that there is that room."""
        node = _Node(amounts(allocatable))
        if (before := self._nodes.get(name)) is not None:
            if name not in self._replaced:
                self._alike[frozenset(before.allocatable.items())] -= 1
            self._replaced.discard(name)
            node.taken, node.pods = before.taken, before.pods
        self._everywhere = self._everywhere & node.allocatable.keys() if self._nodes else frozenset(node.allocatable)
        self._nodes[name] = node
        self._alike[frozenset(node.allocatable.items())] += 1
        self._room_for.cache_clear()

    def replace_node(self, name: str) -> None:
        """Count a node no more in an empty cluster: another one has its host. No pod runs on it."""
        node = self._nodes.get(name)
        if node is not None and name not in self._replaced:
            self._replaced.add(name)
            self._alike[frozenset(node.allocatable.items())] -= 1
            self._room_for.cache_clear()

    def __len__(self) -> int:
        return len(self._nodes)

    @property
    def full(self) -> bool:
        """True if no node can take any pod, whatever it asks for: exclusive nodes, each of them in use."""
        return self.exclusive and len(self._where) == len(self._nodes)

    def in_use(self, name: str) -> bool:
        """Tell whether a pod is on the node, or about to be."""
        return bool(self._nodes[name].pods)

    def holds(self, uid: str) -> bool:
        """Tell whether the pod is on a node, or about to be."""
        return uid in self._where

    def held_by(self, uid: str) -> Resources:
        """Return what the pod holds of its node. Not to be changed."""
        return self._nodes[self._where[uid]].pods[uid]

    def use_of(self, name: str) -> tuple[Resources, Resources, int]:
        """Return what a node offers, what is taken of it, and the number of pods that hold that. Not to be changed."""
        node = self._nodes[name]
        return node.allocatable, node.taken, len(node.pods)

    def could_take(self, requests: dict[str, str]) -> int:
        """Return how many pods with these requests an empty cluster has room for."""
        unknown = requests.keys() - self._everywhere
        claimable = frozenset(key for key in unknown if self._is_device(key)) if unknown else _NONE
        return self._room_for((*requests.items(),), claimable)

    def _count_room(self, requests: tuple[tuple[str, str], ...], claimable: frozenset[str]) -> int:
        wanted = {"pods": UNIT, **amounts(dict(requests))}
        total = 0
        for sort, count in self._alike.items():
            allocatable = dict(sort)
            room = min(
                allocatable.get(key, 0) // value
                for key, value in wanted.items()
                if value > 0 and (key in allocatable or key not in claimable)
            )
            total += count * (min(room, 1) if self.exclusive else room)
        return total

    def refusal(self, pod: JSON, name: str) -> str | None:
        """Say why the node ``name`` cannot take ``pod`` now; None if it can."""
        return self._refusal(requests_of(pod), name)

    def _refusal(self, wanted: Resources, name: str) -> str | None:
        node = self._nodes.get(name)
        if node is None:
            return f'node "{name}" is not a host of the simulated platform'
        if self.exclusive and node.pods:
            return f'node "{name}" is in use, and its host is exclusive (no compute sharing)'
        if lacking := self._lacking(node, wanted):
            return f'node "{name}" has not enough {", ".join(lacking)} left'
        return None

    def lacking(self, pod: JSON, name: str) -> str | None:
        """Return the first resource of which the node has too little left for ``pod``; None if it has room."""
        node = self._nodes[name]
        if self.exclusive and node.pods:
            return "pods"
        return next(iter(self._lacking(node, requests_of(pod))), None)

    def take(self, pod: JSON, name: str) -> None:
        """Let ``pod`` hold the node ``name`` from now on. Raises InvariantBroken if it cannot."""
        uid = pod["metadata"]["uid"]
        wanted = requests_of(pod)
        if uid in self._where or (why := self._refusal(wanted, name)):
            why = why if uid not in self._where else f"it is on {self._where[uid]} already"
            raise InvariantBroken(f"pod {pod['metadata']['name']} was bound to {name}, but {why}")
        node = self._nodes[name]
        node.pods[uid] = wanted
        self._where[uid] = name
        for key, value in wanted.items():
            node.taken[key] = node.taken.get(key, 0) + value

    def resize(self, pod: JSON) -> "Lacking | None":
        """Let a pod hold what it asks for now, on the node that it holds; say what is lacking if there is no room."""
        uid = pod["metadata"]["uid"]
        node = self._nodes[self._where[uid]]
        wanted, held = requests_of(pod), node.pods[uid]
        for key, value in wanted.items():
            used, offered = node.taken.get(key, 0) - held.get(key, 0), node.allocatable.get(key, 0)
            if value > held.get(key, 0) and used + value > offered:
                return Lacking(key, value, used, offered)
        for key in {**held, **wanted}:
            node.taken[key] = node.taken.get(key, 0) + wanted.get(key, 0) - held.get(key, 0)
        node.pods[uid] = wanted
        return None

    def release(self, uid: str) -> str | None:
        """Take the pod off its node; return the node it held, if any."""
        name = self._where.pop(uid, None)
        if name is None:
            return None
        node = self._nodes[name]
        for key, value in node.pods.pop(uid).items():
            node.taken[key] -= value
        return name

    def _lacking(self, node: _Node, wanted: Resources) -> list[str]:
        return [
            key
            for key, value in wanted.items()
            if value > 0
            and node.allocatable.get(key, 0) - node.taken.get(key, 0) < value
            and not self._is_claimed(node, key)
        ]

    def _is_claimed(self, node: _Node, resource: str) -> bool:
        return resource not in node.allocatable and self._is_device(resource)


@lru_cache(8192)
def _billionths(quantity: str) -> int:
    return int(Quantity.parse(quantity).value * UNIT)


def amounts(quantities: dict[str, str]) -> Resources:
    """Return quantities as exact numbers."""
    return {key: _billionths(value) for key, value in quantities.items()}


@lru_cache(8192)
def _alone(requests: tuple[tuple[str, str], ...]) -> Resources:
    """Return the same for all pods of one container that ask for the same."""
    return {**amounts(dict(requests)), "pods": UNIT}


def requests_of(pod: JSON) -> Resources:
    """Return a pod's requests: its containers together, at least its largest init container, overhead, and one pod.

    They are counted as in kube-scheduler (``k8s.io/component-helpers/resource`` PodRequests): sidecars count with the
    containers, and with each init container that comes after them. Not to be changed.
    """
    spec = pod["spec"]
    containers = spec["containers"]
    if len(containers) == 1 and "initContainers" not in spec and "overhead" not in spec:
        return _alone((*containers[0].get("resources", {}).get("requests", {}).items(),))
    total: Resources = {}
    for container in spec["containers"]:
        for key, value in amounts(container.get("resources", {}).get("requests", {})).items():
            total[key] = total.get(key, 0) + value
    at_first: Resources = {}
    beside: Resources = {}
    for container in spec.get("initContainers", []):
        wanted = amounts(container.get("resources", {}).get("requests", {}))
        if container.get("restartPolicy") == "Always":
            for key, value in wanted.items():
                total[key] = total.get(key, 0) + value
                beside[key] = beside.get(key, 0) + value
            wanted = {}
        for key in {**wanted, **beside}:
            at_first[key] = max(at_first.get(key, 0), wanted.get(key, 0) + beside.get(key, 0))
    for key, value in at_first.items():
        total[key] = max(total.get(key, 0), value)
    for key, value in amounts(spec.get("overhead", {})).items():
        total[key] = total.get(key, 0) + value
    total["pods"] = UNIT
    return total
