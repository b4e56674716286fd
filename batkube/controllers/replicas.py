"""Pods that stand for one another: which of them count, and which of them go first (``controller_utils.go``)."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cmp_to_key
from typing import TYPE_CHECKING, Any

from batkube.controllers.conditions import condition
from batkube.controllers.owners import key_of
from batkube.controllers.pods import PHASES, create_pod, delete_pod, is_active, is_ready, namespace_goes, phase
from batkube.kube.apimachinery.status import ApiError
from batkube.kube.storage.store import Change

if TYPE_CHECKING:
    from batkube.controllers.cluster import Cluster
    from batkube.controllers.controller import Controller

JSON = dict[str, Any]

DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
_NANOSECONDS = 1e9


def in_growing_batches(count: int, act: Callable[[], object]) -> ApiError | None:
    """Call ``act`` so many times: once, then twice as often each time; give up after a batch in which one failed.

    Returns the first error.
    """
    batch = min(count, 1)
    while batch > 0:
        errors = list(_errors(batch, act))
        if errors:
            return errors[0]
        count -= batch
        batch = min(2 * batch, count)
    return None


def _errors(count: int, act: Callable[[], object]) -> Iterator[ApiError]:
    for _ in range(count):
        try:
            act()
        except ApiError as error:
            yield error


def create_pods(controller: "Controller", pods: Iterator[JSON], count: int, owner: JSON) -> ApiError | None:
    """Create the next ``count`` pods in growing batches; return the first error, none if the namespace goes."""

    def make() -> None:
        try:
            create_pod(controller, next(pods), owner)
        except ApiError as error:
            if not namespace_goes(error):
                raise

    return in_growing_batches(count, make)


def delete_pods(controller: "Controller", pods: Iterable[JSON], owner: JSON) -> ApiError | None:
    """Delete all these pods; return the first error but that one is gone."""
    failed = None
    for pod in pods:
        try:
            delete_pod(controller, pod, owner)
        except ApiError as error:
            if error.code != 404:
                failed = failed or error
    return failed


def is_available(cluster: "Cluster", pod: JSON, min_ready: int) -> bool:
    """Tell whether the pod has been ready for so many seconds."""
    return is_ready(pod) and (min_ready == 0 or seconds_until_available(cluster, pod, min_ready) <= 0)


def seconds_until_available(cluster: "Cluster", pod: JSON, min_ready: int) -> float:
    """Return how long it takes until a pod that is ready has been so for so many seconds."""
    ready = condition(pod.get("status", {}), "Ready") or {}
    return min_ready - cluster.since(ready["lastTransitionTime"])


def look_when_available(controller: "Controller", owner: JSON | None, change: Change, *, more: float = 0.0) -> None:
    """Have the owner of a pod that has become ready looked at when it is available: ``more`` seconds later."""
    seconds = (owner or {}).get("spec", {}).get("minReadySeconds", 0)
    before = change.previous
    if owner is not None and seconds and before is not None and not is_ready(before) and is_ready(change.version.obj):
        controller.queue.add_after(key_of(owner), seconds + more)


def next_availability_check(cluster: "Cluster", pods: Iterable[JSON], min_ready: int) -> float | None:
    """Return the seconds until the next of these pods is available that is not yet; None if there is none."""
    if min_ready <= 0:
        return None
    checks = (seconds_until_available(cluster, pod, min_ready) for pod in pods if is_ready(pod))
    return min((seconds for seconds in checks if seconds > 0), default=None)


def to_delete(cluster: "Cluster", pods: Sequence[JSON], related: Iterable[JSON], count: int) -> list[JSON]:
    """Return the pods that are the least loss (`ActivePodsWithRanks`).

    ``related``: all pods of the same owner's owner; nodes with more of them come first.
    """
    if not 0 < count < len(pods):
        return list(pods[:count])
    ranks: dict[str, int] = {}
    for pod in related:
        if is_active(pod):
            node = pod["spec"].get("nodeName", "")
            ranks[node] = ranks.get(node, 0) + 1
    order = _Order(cluster, ranks)
    return sorted(pods, key=cmp_to_key(order.compare))[:count]


class _Order:
    """The order in which pods are deleted. ``ranks`` are the related pods by node."""

    def __init__(self, cluster: "Cluster", ranks: dict[str, int]) -> None:
        self._cluster = cluster
        self._ranks = ranks

    def compare(self, one: JSON, other: JSON) -> int:
        """Return a negative number if ``one`` goes first, a positive one if ``other`` does."""
        first, second = self._first(one), self._first(other)
        if first != second:
            return -1 if first < second else 1
        if is_ready(one) and (difference := self._younger(_ready_since(one), _ready_since(other), one, other)):
            return difference
        if _restarts(one) != _restarts(other):
            return -1 if _restarts(one) > _restarts(other) else 1
        return self._younger(_created(one), _created(other), one, other)

    def _first(self, pod: JSON) -> tuple[int, int, int, int, int]:
        node = pod["spec"].get("nodeName", "")
        return bool(node), PHASES.get(phase(pod), 0), is_ready(pod), _cost(pod), -self._ranks.get(node, 0)

    def _younger(self, one: str, other: str, pod: JSON, other_pod: JSON) -> int:
        """Compare two dates: the younger goes first where ages differ by a power of two, else the smaller uid."""
        if one == other:
            return 0
        if not one or not other:
            return 1 if one else -1
        difference = self._magnitude(one) - self._magnitude(other)
        if difference:
            return difference
        return -1 if pod["metadata"]["uid"] < other_pod["metadata"]["uid"] else 1

    def _magnitude(self, date: str) -> int:
        age = self._cluster.since(date) * _NANOSECONDS
        return int(math.log2(age)) if age > 0 else -1


def _ready_since(pod: JSON) -> str:
    return str((condition(pod.get("status", {}), "Ready") or {}).get("lastTransitionTime") or "")


def _created(pod: JSON) -> str:
    return str(pod["metadata"].get("creationTimestamp") or "")


def _cost(pod: JSON) -> int:
    try:
        return int((pod["metadata"].get("annotations") or {}).get(DELETION_COST, 0))
    except ValueError:
        return 0


def _restarts(pod: JSON) -> tuple[int, int]:
    """Return the most restarts of a container, and of a sidecar."""
    status = pod.get("status", {})
    sidecars = {
        container["name"]
        for container in pod["spec"].get("initContainers") or ()
        if container.get("restartPolicy") == "Always"
    }
    initial = (told for told in status.get("initContainerStatuses") or () if told["name"] in sidecars)
    return _most(status.get("containerStatuses") or ()), _most(initial)


def _most(statuses: Iterable[JSON]) -> int:
    return max((status.get("restartCount") or 0 for status in statuses), default=0)
