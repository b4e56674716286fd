"""EASY back-filling: first in, first out, but a pod that does not delay the first in the queue may go before it.

D. Lifka, The ANL/IBM SP scheduling system, JSSPP 1995; A. W. Mu'alem, D. G. Feitelson, IEEE TPDS 12(6), 2001.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

from batkube.schedulers.policies.cluster import Cluster
from batkube.schedulers.policies.feasibility import admits
from batkube.schedulers.policies.placement import Placement, Plan, first_fit, why_waits
from batkube.schedulers.policies.pods import Pod
from batkube.schedulers.policies.policy import Bind, Decision, Policy, Unschedulable


@dataclass(frozen=True, slots=True)
class Reservation:
    """The latest start of the first in the queue."""

    pods: list[Pod]
    time: float
    """The date in simulated seconds; infinite if it is not known, because running pods have no walltime."""
    plan: Plan
    """The cluster at that date."""


class Easy(Policy):
    """Places pods, and gangs as a whole, in order of arrival while they fit.

    For the first that does not fit a time is reserved: when enough running pods have ended by their walltime. Later
    pods are placed if they fit now and, by their own walltimes, have ended by then, or if they leave enough room for
    the first. A pod without a walltime may run for ever. While the first waits for such pods, later pods are placed
    only on nodes that would not take it anyway.
    """

    def decide(self, cluster: Cluster) -> Iterator[Decision]:
        """Bind the pods that fit in order, then those that may go first; say why the first in the queue waits."""
        reservation = None
        hopeless = set()
        for pods in _queue(cluster):
            shape = (len(pods), pods[0].shape)
            if shape in hopeless:
                continue
            placement = first_fit(cluster, pods)
            if placement is None:
                hopeless.add(shape)
                if reservation is None:
                    reservation = reserve(cluster, pods)
                    yield Unschedulable(pods[0], why_waits(cluster, pods))
            elif reservation is None or _may_pass(cluster, placement, reservation):
                for pod, node in placement:
                    yield Bind(pod, node)
                    if reservation and pod.node and _ends_by(cluster, pod, reservation.time):
                        reservation.plan.end([pod])


def _queue(cluster: Cluster) -> Iterator[list[Pod]]:
    """Yield the waiting pods, those of a gang together in the place of its first one.

    Gangs that are not complete are left out.
    """
    seen = set()
    for pod in list(cluster.pending.values()):
        if pod.gang is None:
            yield [pod]
        elif pod.gang not in seen:
            seen.add(pod.gang)
            if gang := cluster.gang_of(pod):
                yield gang


def reserve(cluster: Cluster, pods: list[Pod]) -> Reservation:
    """Return the earliest time at which the pods fit, by what is known of the ends of others."""
    ends: dict[float, list[Pod]] = {}
    for pod in cluster.bound.values():
        end = pod.expected_end(cluster.now)
        ends.setdefault(inf if end is None else end, []).append(pod)
    times = sorted(ends)
    # The more pods have ended, the more room there is: the earliest time is found by halving.
    low, high = 0, len(times)
    while low < high:
        middle = (low + high) // 2
        if _after(cluster, ends, times[: middle + 1]).first_fit(pods) is None:
            low = middle + 1
        else:
            high = middle
    time = times[low] if low < len(times) else inf
    return Reservation(pods, time, _after(cluster, ends, times[: low + 1]))


def _after(cluster: Cluster, ends: dict[float, list[Pod]], times: list[float]) -> Plan:
    plan = Plan(cluster)
    for time in times:
        plan.end(ends[time])
    return plan


def _may_pass(cluster: Cluster, placement: Placement, reservation: Reservation) -> bool:
    """Tell whether pods that fit now do not delay the pods of the reservation."""
    first = reservation.pods
    if not any(admits(node, pod) for _, node in placement for pod in first):
        return True
    if reservation.time == inf:
        return False
    if all(_ends_by(cluster, pod, reservation.time) for pod, _ in placement):
        return True
    later = reservation.plan.copy()
    for pod, node in placement:
        later.place(pod, node)
    return later.first_fit(first) is not None


def _ends_by(cluster: Cluster, pod: Pod, time: float) -> bool:
    end = pod.expected_end(cluster.now)
    return end is not None and end <= time
