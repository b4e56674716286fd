"""First in, first out, first fit; no pod goes before an earlier one."""

from collections.abc import Iterator

from batkube.schedulers.policies.cluster import Cluster
from batkube.schedulers.policies.placement import first_fit, why_waits
from batkube.schedulers.policies.pods import Pod
from batkube.schedulers.policies.policy import Bind, Decision, Policy, Unschedulable


class Fifo(Policy):
    """Places the pod that came first on the first node by name that takes it.

    While it fits nowhere, all pods after it wait. The pods of a gang are placed together or not at all. A pod whose
    binding was refused goes to the end of the queue, and is not tried again before something has changed.
    """

    each_change = True

    def __init__(self) -> None:
        self._last: dict[str, Pod] = {}
        """The pods at the end of the queue, by uid, whose bindings were refused."""
        self._refused: dict[str, Pod] = {}
        """The pods whose bindings were refused since the last change, by uid."""

    def decide(self, cluster: Cluster) -> Iterator[Decision]:
        """Bind the pods that fit; say why the pod at the head of the queue waits."""
        self._last |= self._refused
        self._refused.clear()
        while gang := self._head(cluster):
            placement = first_fit(cluster, gang)
            if placement is None:
                yield Unschedulable(gang[0], why_waits(cluster, gang))
                return
            for pod, node in placement:
                yield Bind(pod, node)

    def refused(self, cluster: Cluster, decision: Bind, reason: str) -> None:
        """Try the pod again when something has changed."""
        self._last.pop(decision.pod.uid, None)
        self._refused[decision.pod.uid] = decision.pod

    def _head(self, cluster: Cluster) -> list[Pod]:
        """Return the oldest pod with the rest of its gang; empty while the gang is not complete.

        Pods of its gang that have a node already count: another one's binding was refused.
        """
        first = self._first(cluster)
        if first is None:
            return []
        if first.gang is None:
            return [first]
        gang = cluster.gangs[first.gang]
        waiting = [pod for pod in self._in_order(gang.pending) if pod.uid not in self._refused]
        return waiting if len(waiting) + len(gang.bound) >= gang.size else []

    def _first(self, cluster: Cluster) -> Pod | None:
        if not self._last and not self._refused:
            return next(iter(cluster.pending.values()), None)
        for uid in [uid for uid in self._last if uid not in cluster.pending]:
            del self._last[uid]
        return next((pod for pod in self._in_order(cluster.pending) if pod.uid not in self._refused), None)

    def _in_order(self, pods: dict[str, Pod]) -> Iterator[Pod]:
        """Yield the pods in the order of the queue."""
        yield from (pod for pod in pods.values() if pod.uid not in self._last)
        yield from (pod for pod in self._last.values() if pod.uid in pods)
