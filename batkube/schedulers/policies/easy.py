"""EASY back-filling: first in, first out, but a pod that does not delay the first in the queue may go before it.

D. Lifka, The ANL/IBM SP scheduling system, JSSPP 1995; A. W. Mu'alem, D. G. Feitelson, IEEE TPDS 12(6), 2001.
"""

from collections.abc import Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass
from math import inf

from batkube.schedulers.policies.cluster import Cluster
from batkube.schedulers.policies.feasibility import admits
from batkube.schedulers.policies.nodes import Node
from batkube.schedulers.policies.placement import Placement, Plan, Room, alike, first_fit, why_waits
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
    room: Room | None
    """The places that it then has for the first; None if its pods are not all alike."""


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
        hopeless: set[Hashable] = set()
        delaying: set[Hashable] = set()
        """The jobs that would delay the first as long as nothing is placed, unless they end before it starts."""
        for shape, pods in _queue(cluster, hopeless):
            if reservation is not None and shape in delaying and not _end_by(cluster, pods, reservation.time):
                continue
            placement = first_fit(cluster, pods)
            if placement is None:
                hopeless.add(shape)
                if reservation is None:
                    reservation = reserve(cluster, pods)
                    yield Unschedulable(pods[0], why_waits(cluster, pods))
            elif reservation is None or _may_pass(cluster, placement, reservation):
                delaying.clear()
                for pod, node in placement:
                    yield Bind(pod, node)
                    if reservation is not None:
                        _count(cluster, reservation, pod, node)
            elif alike(pods):
                delaying.add(shape)


def _queue(cluster: Cluster, hopeless: Collection[Hashable]) -> Iterator[tuple[Hashable, list[Pod]]]:
    """Yield the waiting pods, those of a gang together in the place of its first one, and what they ask for.

    Gangs that are not complete are left out, and those that ask for what is ``hopeless``.
    """
    seen = set()
    for pod in list(cluster.pending.values()):
        count = 1
        if pod.gang is not None:
            if pod.gang in seen:
                continue
            seen.add(pod.gang)
            gang = cluster.gangs[pod.gang]
            if not gang.complete:
                continue
            count = len(gang.pending)
        if (shape := (count, pod.shape)) not in hopeless and (pods := cluster.gang_of(pod)):
            yield shape, pods


def reserve(cluster: Cluster, pods: list[Pod]) -> Reservation:
    """Return the earliest time at which the pods fit, by what is known of the ends of others."""
    ends: dict[float, list[Pod]] = {}
    for pod in cluster.bound.values():
        end = pod.expected_end(cluster.now)
        ends.setdefault(inf if end is None else end, []).append(pod)
    times = sorted(ends)
    return _reserve_alike(cluster, pods, ends, times) if alike(pods) else _reserve_any(cluster, pods, ends, times)


def _reserve_alike(cluster: Cluster, pods: list[Pod], ends: dict[float, list[Pod]], times: list[float]) -> Reservation:
    """Count the places for such pods, which are more with each pod that ends."""
    plan = Plan(cluster)
    room = Room(cluster, plan, pods[0])
    for time in times:
        plan.end(ends[time])
        room.count(pod.node for pod in ends[time])
        if room.places >= len(pods):
            return Reservation(pods, time, plan, room)
    return Reservation(pods, inf, plan, room)


def _reserve_any(cluster: Cluster, pods: list[Pod], ends: dict[float, list[Pod]], times: list[float]) -> Reservation:
    """Find the time by halving: the more pods have ended, the more room there is."""
    low, high = 0, len(times)
    while low < high:
        middle = (low + high) // 2
        if _after(cluster, ends, times[: middle + 1]).first_fit(pods) is None:
            low = middle + 1
        else:
            high = middle
    time = times[low] if low < len(times) else inf
    return Reservation(pods, time, _after(cluster, ends, times[: low + 1]), None)


def _after(cluster: Cluster, ends: dict[float, list[Pod]], times: list[float]) -> Plan:
    plan = Plan(cluster)
    for time in times:
        plan.end(ends[time])
    return plan


def _count(cluster: Cluster, reservation: Reservation, pod: Pod, node: Node) -> None:
    """Take note of a pod that was placed, or whose binding was refused."""
    if pod.node and _end_by(cluster, [pod], reservation.time):
        reservation.plan.end([pod])
    if reservation.room is not None:
        reservation.room.count([node.name])


def _may_pass(cluster: Cluster, placement: Placement, reservation: Reservation) -> bool:
    """Tell whether pods that fit now do not delay the pods of the reservation."""
    first = reservation.pods
    if not any(admits(node, pod) for _, node in placement for pod in (first[:1] if reservation.room else first)):
        return True
    if reservation.time == inf:
        return False
    if _end_by(cluster, [pod for pod, _ in placement], reservation.time):
        return True
    if reservation.room is not None:
        return reservation.room.places_with(placement) >= len(first)
    later = reservation.plan.copy()
    for pod, node in placement:
        later.place(pod, node)
    return later.first_fit(first) is not None


def _end_by(cluster: Cluster, pods: Iterable[Pod], time: float) -> bool:
    """Tell whether it is known that all the pods have ended by a date that is known."""
    if time == inf:
        return False
    for pod in pods:
        end = pod.expected_end(cluster.now)
        if end is None or end > time:
            return False
    return True
