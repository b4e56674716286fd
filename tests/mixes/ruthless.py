"""A policy that places pod by pod, knows no gangs, and drives out what has a lower priority."""

from collections.abc import Iterator

from batkube.schedulers.policies import Bind, Cluster, Decision, Policy, Preempt, first_fit


class Ruthless(Policy):
    """For a pod that finds no node it preempts all of lower priority on the first node where that makes room."""

    def decide(self, cluster: Cluster) -> Iterator[Decision]:
        """Place by priority, then by age."""
        for pod in sorted(cluster.pending.values(), key=lambda pod: -pod.priority):
            if placement := first_fit(cluster, [pod]):
                yield Bind(*placement[0])
                continue
            lower = [other for other in cluster.bound.values() if other.priority < pod.priority]
            node = next((other.node for other in lower), None)
            victims = [other for other in lower if other.node == node]
            for victim in victims:
                yield Preempt(victim)
            if victims:
                return
