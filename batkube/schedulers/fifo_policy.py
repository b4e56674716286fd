"""First in, first out, first fit, nobody passes by: what the reference scheduler decides, without any talking."""

from bisect import insort
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from kubernetes.utils.quantity import parse_quantity

JOB_LABEL = "batkube.io/job"
GANG_SIZE = "batkube.io/gang-size"
"""Annotation: how many pods start together. They carry the same JOB_LABEL."""

JSON = dict[str, Any]
Resources = dict[str, Decimal]


@dataclass(slots=True)
class Room:
    """A node as the policy sees it."""

    labels: dict[str, str] = field(default_factory=dict)
    schedulable: bool = False
    taints: list[JSON] = field(default_factory=list)
    allocatable: Resources = field(default_factory=dict)
    taken: Resources = field(default_factory=dict)

    def take(self, wanted: Resources, sign: int = 1) -> None:
        """Count ``wanted`` as taken, or with ``sign`` -1 as given back."""
        for key, value in wanted.items():
            self.taken[key] = self.taken.get(key, Decimal(0)) + sign * value

    def has(self, wanted: Resources) -> bool:
        """Whether ``wanted`` is free."""
        zero = Decimal(0)
        return all(
            self.allocatable.get(key, zero) - self.taken.get(key, zero) >= value for key, value in wanted.items()
        )


@dataclass(slots=True)
class Waiting:
    """A pod in the queue."""

    pod: JSON
    wanted: Resources
    gang: str | None
    gang_size: int


class Fifo:
    """One queue in the order in which pods were seen; its head goes to the first node by name that takes it.

    While the head fits nowhere all behind it wait. The pods of a gang are placed together or not at all.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        """The schedulerName of the pods that are ours."""
        self._rooms: dict[str, Room] = {}
        self._order: list[str] = []
        self._placed: dict[str, tuple[str, Resources]] = {}
        self._queue: dict[str, Waiting] = {}

    def node_event(self, kind: str, node: JSON) -> None:
        """A node came, changed or went (watch event types)."""
        name = node["metadata"]["name"]
        room = self._room(name)
        spec = node.get("spec", {})
        room.labels = node["metadata"].get("labels", {})
        room.schedulable = kind != "DELETED" and not spec.get("unschedulable", False)
        room.taints = [taint for taint in spec.get("taints", []) if taint["effect"] != "PreferNoSchedule"]
        allocatable = node.get("status", {}).get("allocatable", {})
        room.allocatable = {key: parse_quantity(value) for key, value in allocatable.items()}

    def pod_event(self, kind: str, pod: JSON) -> None:
        """A pod came, changed or went; one that has ended takes nothing any more."""
        uid = pod["metadata"]["uid"]
        over = kind == "DELETED" or pod.get("status", {}).get("phase") in ("Succeeded", "Failed")
        node = pod["spec"].get("nodeName")
        if over or node or pod["metadata"].get("deletionTimestamp"):
            self._queue.pop(uid, None)
        if over:
            if placed := self._placed.pop(uid, None):
                self._room(placed[0]).take(placed[1], -1)
        elif node:
            self._place(uid, node, requests(pod))
        elif uid not in self._placed and self._is_ours(pod):
            self._queue[uid] = _waiting(pod)

    def decide(self) -> Iterator[tuple[JSON, str]]:
        """The bindings to make now, in order; each counts as made."""
        while gang := self._head():
            chosen = self._choose(gang)
            if chosen is None:
                return
            for member, node in chosen:
                del self._queue[member.pod["metadata"]["uid"]]
                yield member.pod, node

    def refused(self, pod: JSON) -> None:
        """The server did not take a binding: the pod takes nothing, and waits at the end of the queue."""
        uid = pod["metadata"]["uid"]
        if placed := self._placed.pop(uid, None):
            self._room(placed[0]).take(placed[1], -1)
            self._queue[uid] = _waiting(pod)

    def why_not(self) -> tuple[JSON, str] | None:
        """The pod at the head of the queue, and what keeps it there."""
        gang = self._head()
        if not gang:
            return None
        able = sum(fits(gang[0], room) for room in self._rooms.values())
        wanted = f", {len(gang)} wanted at once" if len(gang) > 1 else ""
        return gang[0].pod, f"{able}/{len(self._rooms)} nodes are available{wanted}."

    def _is_ours(self, pod: JSON) -> bool:
        return pod["spec"].get("schedulerName") == self.name and not pod["metadata"].get("deletionTimestamp")

    def _head(self) -> list[Waiting]:
        """The oldest pod with the rest of its gang; nothing while the gang is not complete."""
        first = next(iter(self._queue.values()), None)
        if first is None:
            return []
        if first.gang is None:
            return [first]
        gang = [member for member in self._queue.values() if member.gang == first.gang]
        return gang if len(gang) >= first.gang_size else []

    def _choose(self, gang: list[Waiting]) -> list[tuple[Waiting, str]] | None:
        """A node for each, counted as taken; None, and nothing taken, where one fits nowhere."""
        chosen: list[tuple[Waiting, str]] = []
        for member in gang:
            name = next((name for name in self._order if fits(member, self._rooms[name])), None)
            if name is None:
                for placed, _ in chosen:
                    node, wanted = self._placed.pop(placed.pod["metadata"]["uid"])
                    self._rooms[node].take(wanted, -1)
                return None
            self._place(member.pod["metadata"]["uid"], name, member.wanted)
            chosen.append((member, name))
        return chosen

    def _place(self, uid: str, node: str, wanted: Resources) -> None:
        if uid not in self._placed:
            self._placed[uid] = (node, wanted)
            self._room(node).take(wanted)

    def _room(self, name: str) -> Room:
        if name not in self._rooms:
            self._rooms[name] = Room()
            insort(self._order, name)
        return self._rooms[name]


def requests(pod: JSON) -> Resources:
    """What a pod asks for: the sum over its containers, and one pod."""
    total = {"pods": Decimal(1)}
    for container in pod["spec"]["containers"]:
        for key, value in container.get("resources", {}).get("requests", {}).items():
            total[key] = total.get(key, Decimal(0)) + parse_quantity(value)
    return total


def fits(waiting: Waiting, room: Room) -> bool:
    """Whether a node takes a pod: node selector, taints, room."""
    spec = waiting.pod["spec"]
    return (
        room.schedulable
        and all(room.labels.get(key) == value for key, value in spec.get("nodeSelector", {}).items())
        and all(tolerates(spec.get("tolerations", []), taint) for taint in room.taints)
        and room.has(waiting.wanted)
    )


def tolerates(tolerations: list[JSON], taint: JSON) -> bool:
    """Whether one of the tolerations covers the taint (core/v1 Toleration)."""
    for toleration in tolerations:
        if toleration.get("effect") not in (None, taint["effect"]):
            continue
        if toleration.get("operator") == "Exists":
            if toleration.get("key") in (None, taint["key"]):
                return True
        elif toleration.get("key") == taint["key"] and toleration.get("value") == taint.get("value"):
            return True
    return False


def _waiting(pod: JSON) -> Waiting:
    meta = pod["metadata"]
    size = int(meta.get("annotations", {}).get(GANG_SIZE, 1))
    gang = meta.get("labels", {}).get(JOB_LABEL) if size > 1 else None
    return Waiting(pod, requests(pod), gang, size)
