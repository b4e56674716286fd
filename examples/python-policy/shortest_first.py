"""A scheduling policy in Python, run inside batkube: the shortest job first, and who has waited for an hour before all.

batkube run -p PLATFORM -w WORKLOAD --scheduler shortest_first:ShortestFirst     (in this folder)
"""

from collections.abc import Iterator
from math import inf

from batkube.schedulers.policies import Bind, Cluster, Decision, Pod, Policy, Unschedulable, WakeUp, first_fit

LONG = 3600.0
"""Simulated seconds after which nobody passes a pod any more."""


class ShortestFirst(Policy):
    """Goes by walltimes; pods that start together are placed together."""

    def decide(self, cluster: Cluster) -> Iterator[Decision]:
        """Bind what fits, the shortest first."""
        for pod in sorted(cluster.pending.values(), key=lambda pod: _rank(pod, cluster.now)):
            if pod.uid not in cluster.pending:  # bound meanwhile, with its gang
                continue
            gang = cluster.gang_of(pod)
            placement = first_fit(cluster, gang) if gang else None
            if placement:
                for member, node in placement:
                    yield Bind(member, node)
            elif _has_waited(pod, cluster.now):
                yield Unschedulable(pod, "no room; nobody passes it any more")
                return
            else:
                yield Unschedulable(pod, "no room")
                yield WakeUp(pod.seen + LONG)


def _rank(pod: Pod, now: float) -> tuple[bool, float]:
    if _has_waited(pod, now):
        return False, pod.seen
    return True, pod.walltime or inf


def _has_waited(pod: Pod, now: float) -> bool:
    return now - pod.seen >= LONG
