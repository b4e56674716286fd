"""The search for nodes: is there room, and would there be if some pods were placed or ended?"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from math import inf

from batkube.schedulers.policies.cluster import Cluster
from batkube.schedulers.policies.feasibility import admits
from batkube.schedulers.policies.nodes import Node
from batkube.schedulers.policies.pods import Pod

Placement = list[tuple[Pod, Node]]
ANY_NUMBER = 1 << 60
"""The places of a node for pods that take nothing of it."""


class Plan:
    """The cluster as it would be if some more pods were placed, and some had ended.

    The cluster itself does not change.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._more: dict[str, dict[str, int]] = {}
        """The amounts taken beyond ``Node.requested``, by the node's name; negative if pods have ended."""
        self._frees = False

    def copy(self) -> "Plan":
        """Return another plan that begins as this one."""
        plan = Plan(self._cluster)
        plan._more = {name: dict(more) for name, more in self._more.items()}
        plan._frees = self._frees
        return plan

    def place(self, pod: Pod, node: Node, sign: int = 1) -> None:
        """Count the pod as placed; with ``sign`` -1 as not placed after all."""
        more = self._more.setdefault(node.name, {})
        for resource, value in pod.requests.items():
            more[resource] = more.get(resource, 0) + sign * value

    def end(self, pods: Iterable[Pod]) -> None:
        """Count pods that have a node as ended."""
        for pod in pods:
            node = self._cluster.nodes.get(pod.node or "")
            if node is not None:
                self.place(pod, node, -1)
                self._frees = True

    def fits(self, pod: Pod, node: Node) -> bool:
        """Tell whether the node takes the pod, and has room for it."""
        more = self._more.get(node.name)
        allocatable, requested = node.allocatable, node.requested
        for resource, value in pod.requests.items():
            taken = requested.get(resource, 0) + (more.get(resource, 0) if more else 0)
            if allocatable.get(resource, 0) - taken < value:
                return False
        return admits(node, pod)

    def able(self, pod: Pod) -> Iterator[Node]:
        """Return the nodes that take the pod, in order of their names."""
        return (node for node in self._nodes_for(pod) if self.fits(pod, node))

    def _nodes_for(self, pod: Pod) -> Iterable[Node]:
        return self._cluster.nodes.values() if self._frees else self._cluster.candidates(pod)

    def places(self, pod: Pod, node: Node) -> int:
        """Return how many pods like this one the node takes, and has room for."""
        more = self._more.get(node.name)
        allocatable, requested = node.allocatable, node.requested
        most: float = inf
        for resource, value in pod.requests.items():
            left = allocatable.get(resource, 0) - requested.get(resource, 0)
            if more:
                left -= more.get(resource, 0)
            if left < value:
                return 0
            if value > 0:
                most = min(most, left // value)
        if not admits(node, pod):
            return 0
        return int(most) if most != inf else ANY_NUMBER

    def first_fit(self, pods: Sequence[Pod]) -> Placement | None:
        """Choose the first node by name for each of the pods, and count the pods as placed.

        Returns None, with none placed, if one of them finds no node.
        """
        chosen: Placement = []
        shape: Hashable = None
        nodes: Iterator[Node] = iter(())
        node: Node | None = None
        for pod in pods:
            if not chosen or pod.shape != shape:
                shape, nodes = pod.shape, iter(self._nodes_for(pod))
                node = next(nodes, None)
            # A node that one of these pods did not fit on takes no other like it: the search goes on where it was.
            while node is not None and not self.fits(pod, node):
                node = next(nodes, None)
            if node is None:
                for placed, where in chosen:
                    self.place(placed, where, -1)
                return None
            self.place(pod, node)
            chosen.append((pod, node))
        return chosen


class Room:
    """The places that a plan has for pods like this one, by node. Whoever changes the plan says where."""

    def __init__(self, cluster: Cluster, plan: Plan, pod: Pod) -> None:
        self._cluster = cluster
        self._plan = plan
        self._pod = pod
        self._at = {name: plan.places(pod, node) for name, node in cluster.nodes.items()}
        self.places = sum(self._at.values())
        """The places on all nodes together."""

    def count(self, names: Iterable[str | None]) -> None:
        """Count the places on these nodes anew."""
        nodes = self._cluster.nodes
        for name in set(names):
            if name is not None and (node := nodes.get(name)) is not None:
                places = self._plan.places(self._pod, node)
                self.places += places - self._at.get(name, 0)
                self._at[name] = places

    def places_with(self, placement: Placement) -> int:
        """Return the places on all nodes if these pods were placed, too."""
        for pod, node in placement:
            self._plan.place(pod, node)
        found = self.places
        for node in {node.name: node for _, node in placement}.values():
            found += self._plan.places(self._pod, node) - self._at.get(node.name, 0)
        for pod, node in placement:
            self._plan.place(pod, node, -1)
        return found


def alike(pods: Sequence[Pod]) -> bool:
    """Tell whether all the pods ask for the same."""
    shape = pods[0].shape
    return all(pod.shape == shape for pod in pods)


def first_fit(cluster: Cluster, pods: Sequence[Pod]) -> Placement | None:
    """Return the first node by name for each of the pods; None if they do not all find one now."""
    return Plan(cluster).first_fit(pods)


def why_waits(cluster: Cluster, pods: Sequence[Pod]) -> str:
    """Say why pods that start together find no room: how many nodes would take the first of them."""
    able = sum(1 for _ in Plan(cluster).able(pods[0]))
    wanted = f", {len(pods)} wanted at once" if len(pods) > 1 else ""
    return f"{able}/{len(cluster.nodes)} nodes are available{wanted}."
