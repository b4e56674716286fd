"""The search for nodes: is there room, and would there be if some pods were placed or ended?"""

from collections.abc import Iterable, Iterator, Sequence

from batkube.schedulers.policies.cluster import Cluster
from batkube.schedulers.policies.feasibility import admits
from batkube.schedulers.policies.nodes import Node
from batkube.schedulers.policies.pods import Pod

Placement = list[tuple[Pod, Node]]


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
        nodes = self._cluster.nodes.values() if self._frees else self._cluster.candidates(pod)
        return (node for node in nodes if self.fits(pod, node))

    def first_fit(self, pods: Sequence[Pod]) -> Placement | None:
        """Choose the first node by name for each of the pods, and count the pods as placed.

        Returns None, with none placed, if one of them finds no node.
        """
        chosen: Placement = []
        for pod in pods:
            node = next(self.able(pod), None)
            if node is None:
                for placed, where in chosen:
                    self.place(placed, where, -1)
                return None
            self.place(pod, node)
            chosen.append((pod, node))
        return chosen


def first_fit(cluster: Cluster, pods: Sequence[Pod]) -> Placement | None:
    """Return the first node by name for each of the pods; None if they do not all find one now."""
    return Plan(cluster).first_fit(pods)


def why_waits(cluster: Cluster, pods: Sequence[Pod]) -> str:
    """Say why pods that start together find no room: how many nodes would take the first of them."""
    able = sum(1 for _ in Plan(cluster).able(pods[0]))
    wanted = f", {len(pods)} wanted at once" if len(pods) > 1 else ""
    return f"{able}/{len(cluster.nodes)} nodes are available{wanted}."
