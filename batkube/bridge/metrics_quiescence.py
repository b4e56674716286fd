"""Quiescence of a kube-scheduler that cannot be observed, by its own metrics.
It has no pod left to try, and all that concerns it has reached it, if
- its active and its back-off queue are empty, and no work of its own is going on;
- the pods that it has put aside are all that wait in the store: a pod that is being tried is in no queue;
- it has handled as many events (pods that came, were bound or ended, nodes that came, changed or went) as we have
  written since it was at rest the last time: events that are still on their way, or in its informers, are not counted;
- two readings, SETTLE real seconds apart, are the same in all counters, and it has sent no request in between.
The last condition is for what no metric shows: the status of a pod that could not be placed is written just after the
pod was put aside. If the counts cannot be explained (pods held by a permit plugin, profiles unknown here, other
versions' names of events), equal readings and silence for the whole quiet period have to do.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from batkube.bridge.subscription import Subscription
from batkube.clock.metrics import MetricsError, NotYet, Snapshot
from batkube.clock.verdict import IDLE, Verdict, not_idle
from batkube.kube.server import ApiServer, Change

JSON = dict[str, Any]

SETTLE = 0.05
"""Real seconds between two equal readings."""
PATIENCE = 10.0
"""Real seconds for which a scheduler that has asked for pods may fail to serve its metrics."""

BOUND, ENDED, CAME = "AssignedPodAdd", "AssignedPodDelete", "UnschedulablePodAdd"
NODE_CAME, NODE_WENT, NODE_CHANGED = "NodeAdd", "NodeDelete", "NodeUpdate..."


class Readable(Protocol):
    """A place to read metrics from (MetricsEndpoint)."""

    async def read(self) -> Snapshot:
        """Read the metrics once. Raises NotYet, MetricsError."""

    async def close(self) -> None:
        """Close the connection."""


class Expected:
    """The events that a kube-scheduler has to handle, counted as they are written to the store.

    They are counted as its event handlers do (pkg/scheduler/eventhandlers.go): it watches pods that have not ended, and
    counts a node as changed if that may make room.
    """

    def __init__(self, server: ApiServer, names: Iterable[str]) -> None:
        """``names``: the names of its profiles, as far as they are known; ``knows`` adds to them."""
        self.events: Counter[str] = Counter()
        """The events since ``clear``."""
        self._names = set(names)
        self._waiting: Counter[str] = Counter()
        for pod in server.list("pods"):
            self._waiting[_scheduler(pod)] += _waits(pod)
        self._changes = Subscription(server, self._follow, ("pods", "nodes"))
        self._changes.start()

    def close(self) -> None:
        """Count no more."""
        self._changes.stop()

    def knows(self, names: Iterable[str]) -> None:
        """Add names of its profiles."""
        self._names.update(names)

    @property
    def waiting(self) -> int:
        """The number of pods for its profiles that are bound to no node."""
        return sum(self._waiting[name] for name in self._names)

    def clear(self) -> None:
        """Begin a new count: it has handled all events."""
        self.events.clear()

    def _follow(self, change: Change) -> None:
        after = None if change.type == "DELETED" else change.version.obj
        before = change.before.obj if change.before is not None else None
        if change.resource.storage == "pods":
            self._pod(before, after)
        else:
            self._node(before, after)

    def _pod(self, before: JSON | None, after: JSON | None) -> None:
        for pod, sign in ((before, -1), (after, 1)):
            if pod is not None:
                self._waiting[_scheduler(pod)] += sign * _waits(pod)
        bound_before, bound = _is_bound(before), _is_bound(after)
        if bound and not bound_before:
            self.events[BOUND] += 1
        elif bound_before and not bound:
            self.events[ENDED] += 1
        if before is None and after is not None and _waits(after) and _scheduler(after) in self._names:
            self.events[CAME] += 1

    def _node(self, before: JSON | None, after: JSON | None) -> None:
        if before is None:
            self.events[NODE_CAME] += 1
        elif after is None:
            self.events[NODE_WENT] += 1
        elif _room(before) != _room(after):
            self.events[NODE_CHANGED] += 1


class MetricsQuiescence:
    """Knows by its metrics when a kube-scheduler is at rest."""

    def __init__(self, server: ApiServer, endpoint: Readable, names: Iterable[str]) -> None:
        self._server = server
        self._endpoint = endpoint
        self._expected = Expected(server, names)
        self._base: Counter[str] | None = None
        """The scheduler's count of handled events when it was at rest the last time."""

    def close(self) -> None:
        """Count no more, and close the connection."""
        self._expected.close()
        self._closing = asyncio.ensure_future(self._endpoint.close())

    async def wait_for_quiescence(
        self, heard: Callable[[], int], *, timeout: float, quiet_period: float
    ) -> tuple[Verdict, bool]:
        """Wait for quiescence, ``timeout`` real seconds at most.

        The second value is True if all counts agree, else it was silence.

        ``heard`` returns how many requests it has sent so far.
        """
        start = time.monotonic()
        last: tuple[Snapshot, int] | None = None
        since = answered = start
        while True:
            began = time.monotonic()
            try:
                reading = (await self._endpoint.read(), heard())
            except NotYet as error:
                if time.monotonic() - answered > PATIENCE:
                    return not_idle("metrics", f"its metrics cannot be read: {error}"), False
                last, reason = None, str(error)
            except MetricsError as error:
                return not_idle("metrics", f"its metrics cannot be read: {error}"), False
            else:
                answered = time.monotonic()
                snapshot = reading[0]
                if reading != last or self._server.busy():
                    last, since = reading, answered
                reason = snapshot.at_work()
                unexplained = self._unexplained(snapshot)
                if not reason and began - since >= (quiet_period if unexplained else SETTLE):
                    self._base = snapshot.handled
                    self._expected.clear()
                    return IDLE, not unexplained
                reason = reason or unexplained or "it goes on"
            if time.monotonic() - start > timeout:
                return not_idle("metrics", f"its metrics say that {reason}"), False
            await asyncio.sleep(SETTLE)

    def _unexplained(self, snapshot: Snapshot) -> str:
        """Say which count differs from what it should be at rest; empty if none does."""
        self._expected.knows(snapshot.profiles)
        if self._base is None:
            return "it was not at rest before"
        grown = snapshot.handled - self._base
        if snapshot.goroutines:
            return f"{snapshot.goroutines} pieces of work are going on"
        if snapshot.unschedulable != self._expected.waiting:
            return f"it has put {snapshot.unschedulable} pods aside, and {self._expected.waiting} wait"
        for event, count in self._expected.events.items():
            if _count(grown, event) < count:
                return f"it has taken note of {_count(grown, event)} of {count} events {event}"
        return ""


def _count(handled: Counter[str], event: str) -> int:
    if event != NODE_CHANGED:
        return handled[event]
    others = (NODE_CAME, NODE_WENT)
    return sum(count for name, count in handled.items() if name.startswith("Node") and name not in others)


def _scheduler(pod: JSON) -> str:
    return str(pod["spec"].get("schedulerName") or "")


def _lives(pod: JSON) -> bool:
    return (pod.get("status") or {}).get("phase") not in ("Succeeded", "Failed")


def _waits(pod: JSON) -> bool:
    return _lives(pod) and not pod["spec"].get("nodeName")


def _is_bound(pod: JSON | None) -> bool:
    return pod is not None and _lives(pod) and bool(pod["spec"].get("nodeName"))


def _room(node: JSON) -> JSON:
    """Return the parts that may make room if they change.

    They are those of NodeSchedulingPropertiesChange in pkg/scheduler/framework/events.go.
    """
    status, spec = node.get("status") or {}, node.get("spec") or {}
    conditions = {one["type"]: one["status"] for one in status.get("conditions") or []}
    return {
        "allocatable": status.get("allocatable") or {},
        "conditions": conditions,
        "labels": node["metadata"].get("labels") or {},
        "annotations": node["metadata"].get("annotations") or {},
        "taints": spec.get("taints") or [],
    }
