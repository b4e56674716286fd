"""EASY back-filling as its definition says it, without any short cut: what ``Easy`` has to decide, too."""

from collections.abc import Iterator, Sequence
from math import inf

from batkube.schedulers.policies import Bind, Cluster, Decision, Node, Pod, Policy, Unschedulable
from batkube.schedulers.policies.feasibility import admits
from batkube.schedulers.policies.placement import Placement, Plan, why_waits


class EasyByDefinition(Policy):
    """Looks for a place for each pod in the queue, and plays what that would mean for the first of it."""

    def decide(self, cluster: Cluster) -> Iterator[Decision]:
        first: list[Pod] = []
        time, plan = inf, Plan(cluster)
        for pods in _queue(cluster):
            placement = first_fit(cluster, Plan(cluster), pods)
            if placement is None:
                if not first:
                    first = pods
                    time, plan = reserve(cluster, pods)
                    yield Unschedulable(pods[0], why_waits(cluster, pods))
            elif not first or _may_pass(cluster, placement, first, time, plan):
                for pod, node in placement:
                    yield Bind(pod, node)
                    if first and pod.node and _ends_by(cluster, pod, time):
                        plan.end([pod])


def first_fit(cluster: Cluster, plan: Plan, pods: Sequence[Pod]) -> Placement | None:
    """Choose for each pod the first of all nodes; they are counted as placed."""
    chosen: Placement = []
    for pod in pods:
        node = next((node for node in cluster.nodes.values() if plan.fits(pod, node)), None)
        if node is None:
            return None
        plan.place(pod, node)
        chosen.append((pod, node))
    return chosen


def reserve(cluster: Cluster, pods: list[Pod]) -> tuple[float, Plan]:
    """Try the ends of pods one after another: the date at which there is room, and the cluster then."""
    ends: dict[float, list[Pod]] = {}
    for pod in cluster.bound.values():
        end = pod.expected_end(cluster.now)
        ends.setdefault(inf if end is None else end, []).append(pod)
    plan = Plan(cluster)
    for time in sorted(ends):
        plan.end(ends[time])
        if first_fit(cluster, plan.copy(), pods) is not None:
            return time, plan
    return inf, plan


def _queue(cluster: Cluster) -> Iterator[list[Pod]]:
    seen = set()
    for pod in list(cluster.pending.values()):
        if pod.gang is None:
            yield [pod]
        elif pod.gang not in seen:
            seen.add(pod.gang)
            if gang := cluster.gang_of(pod):
                yield gang


def _may_pass(cluster: Cluster, placement: Placement, first: list[Pod], time: float, plan: Plan) -> bool:
    def taken(node: Node) -> bool:
        return any(admits(node, pod) for pod in first)

    if not any(taken(node) for _, node in placement):
        return True
    if time == inf:
        return False
    if all(_ends_by(cluster, pod, time) for pod, _ in placement):
        return True
    later = plan.copy()
    for pod, node in placement:
        later.place(pod, node)
    return first_fit(cluster, later, first) is not None


def _ends_by(cluster: Cluster, pod: Pod, time: float) -> bool:
    end = pod.expected_end(cluster.now)
    return end is not None and end <= time
