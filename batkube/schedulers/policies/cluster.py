"""The cluster as a policy sees it: nodes, the queue, and running pods. It is fed with the events of a watch."""

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from types import MappingProxyType
from typing import Any

from batkube.schedulers.policies.nodes import Node
from batkube.schedulers.policies.pods import Pod
from batkube.schedulers.policies.resources import CPU, requests_of

JSON = dict[str, Any]

OVER = ("Succeeded", "Failed")


@dataclass(slots=True, eq=False)
class Gang:
    """Pods that start together or not at all."""

    size: int
    pending: dict[str, Pod] = field(default_factory=dict)
    """The pods that wait, by uid, in order of arrival."""
    bound: dict[str, Pod] = field(default_factory=dict)
    """The pods that have a node, by uid."""

    @property
    def complete(self) -> bool:
        """True if all its pods are there."""
        return len(self.pending) + len(self.bound) >= self.size


class Cluster:
    """The objects that a policy may look at.

    A policy changes nothing here: it returns decisions, and sees their effects.

    ``names``: the schedulerNames of the pods that are ours. ``random``: the source of chance, by ``--seed``.
    """

    def __init__(self, names: Collection[str], random: Random | None = None) -> None:
        self.now = 0.0
        """The present in simulated seconds."""
        self.random = random or Random(0)
        self.pending: OrderedDict[str, Pod] = OrderedDict()
        """The pods that wait for us, by uid, in order of arrival."""
        self.bound: dict[str, Pod] = {}
        """The pods that have a node and have not ended, whoever has placed them, by uid, in order of their binding."""
        self.gangs: dict[str, Gang] = {}
        """The gangs by ``Pod.gang``: those with pods that wait or have a node."""
        self._names = frozenset(names)
        self._nodes: dict[str, Node] = {}
        self._sorted = True
        self._open: list[str] = []
        """The names of the nodes with room for a pod and some cpu left, in order."""
        self._elsewhere: dict[str, dict[str, Pod]] = {}
        """The pods on nodes that do not exist (any more), by the node's name."""

    # For policies

    @property
    def nodes(self) -> Mapping[str, Node]:
        """The nodes by name, in order of their names."""
        if not self._sorted:
            self._nodes = dict(sorted(self._nodes.items()))
            self._sorted = True
        return MappingProxyType(self._nodes)

    def candidates(self, pod: Pod) -> Iterator[Node]:
        """Yield the nodes that may have room for the pod, in order of their names; full nodes are left out."""
        if pod.requests.get(CPU, 0) > 0:
            nodes = self._nodes
            for name in self._open:
                yield nodes[name]
        else:
            yield from self.nodes.values()

    def gang_of(self, pod: Pod) -> list[Pod] | None:
        """Return the waiting pods of the pod's gang, in order; None while pods of the gang are yet to come."""
        if pod.gang is None:
            return [pod]
        gang = self.gangs[pod.gang]
        return list(gang.pending.values()) if gang.complete else None

    # Events of a watch

    def told(self, kind: str, resource: str, manifest: JSON) -> bool:
        """Take note of a change (a watch event's type, ``nodes`` or ``pods``, the object).

        Returns False if it makes no difference to decisions.
        """
        if resource == "pods":
            return self.pod_event(kind, manifest)
        self.node_event(kind, manifest)
        return True

    def node_event(self, kind: str, manifest: JSON) -> None:
        """Take note of a node that came, changed or went."""
        name = manifest["metadata"]["name"]
        node = self._nodes.get(name)
        if kind == "DELETED":
            if node is not None:
                self._elsewhere[name] = node.pods
                del self._nodes[name]
                self._close(name)
            return
        if node is None:
            node = self._nodes[name] = Node.of(manifest)
            self._sorted = False
            for pod in self._elsewhere.pop(name, {}).values():
                node.take(pod)
        else:
            node.read(manifest)
        self._reopen(node)

    def pod_event(self, kind: str, manifest: JSON) -> bool:
        """Take note of a pod that came, changed or went; tell whether that matters. A pod that has ended is removed."""
        metadata, spec, status = manifest["metadata"], manifest["spec"], manifest.get("status", {})
        uid = metadata["uid"]
        phase = status.get("phase")
        if kind == "DELETED" or phase in OVER:
            waited = self._dequeue(uid)
            return self._leave(uid) or waited is not None
        name = spec.get("nodeName")
        pod = self.bound.get(uid)
        if name:
            if pod is None:
                pod = self._dequeue(uid) or Pod.of(manifest, self.now)
                self._enter(pod, name)
                changed = True
            else:
                changed = "deletionTimestamp" in metadata and "deletionTimestamp" not in pod.object["metadata"]
                changed = self._reread(pod, manifest) or changed
            if phase == "Running" and pod.started is None:
                pod.started = self.now
            return changed
        if pod is not None:  # we have bound it, and are told of what was before
            return False
        waiting = self.pending.get(uid)
        ours = spec.get("schedulerName") in self._names
        if not ours or metadata.get("deletionTimestamp") or spec.get("schedulingGates"):
            return self._dequeue(uid) is not None
        if waiting is None:
            self._enqueue(Pod.of(manifest, self.now))
            return True
        changed = bool(waiting.object["spec"] != spec)
        waiting.read(manifest)
        return changed

    # Decisions that were carried out, of which a watch will tell later

    def assume(self, pod: Pod, node: str) -> None:
        """Note that the pod was bound to the node."""
        if self._dequeue(pod.uid):
            self._enter(pod, node)

    def _enqueue(self, pod: Pod) -> None:
        self.pending[pod.uid] = pod
        if pod.gang is not None:
            self._gang(pod).pending[pod.uid] = pod

    def _dequeue(self, uid: str) -> Pod | None:
        pod = self.pending.pop(uid, None)
        if pod is not None and pod.gang is not None:
            del self.gangs[pod.gang].pending[uid]
            self._forget_gang(pod.gang)
        return pod

    def _enter(self, pod: Pod, name: str) -> None:
        pod.node, pod.bound = name, self.now
        self.bound[pod.uid] = pod
        if pod.gang is not None:
            self._gang(pod).bound[pod.uid] = pod
        node = self._nodes.get(name)
        if node is None:
            self._elsewhere.setdefault(name, {})[pod.uid] = pod
            return
        node.take(pod)
        if not node.open:
            self._close(name)

    def _reread(self, pod: Pod, manifest: JSON) -> bool:
        """Take over the news of a pod that has a node; tell whether it asks for something else now (a resize)."""
        if manifest["spec"] is pod.object["spec"]:  # only its status or its metadata have changed
            pod.object = manifest
            return False
        resized = requests_of(manifest["spec"]) != pod.requests
        node = self._nodes.get(pod.node or "") if resized else None
        if node is not None:
            node.give_back(pod)
        pod.read(manifest)
        if node is not None:
            node.take(pod)
            self._reopen(node)
        return resized

    def _leave(self, uid: str) -> bool:
        pod = self.bound.pop(uid, None)
        if pod is None:
            return False
        if pod.gang is not None:
            del self.gangs[pod.gang].bound[uid]
            self._forget_gang(pod.gang)
        assert pod.node is not None
        node = self._nodes.get(pod.node)
        if node is None:
            self._elsewhere[pod.node].pop(uid)
        else:
            node.give_back(pod)
            self._reopen(node)
        return True

    def _gang(self, pod: Pod) -> Gang:
        assert pod.gang is not None
        return self.gangs.setdefault(pod.gang, Gang(pod.gang_size))

    def _forget_gang(self, name: str) -> None:
        gang = self.gangs[name]
        if not gang.pending and not gang.bound:
            del self.gangs[name]

    def _reopen(self, node: Node) -> None:
        """Bring the node's place among the open nodes up to date."""
        if not node.open:
            self._close(node.name)
            return
        index = bisect_left(self._open, node.name)
        if index == len(self._open) or self._open[index] != node.name:
            self._open.insert(index, node.name)

    def _close(self, name: str) -> None:
        index = bisect_left(self._open, name)
        if index < len(self._open) and self._open[index] == name:
            del self._open[index]
