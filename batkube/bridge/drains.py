"""Nodes that are drained for a while, as `kubectl drain` does it: cordoned, emptied, and given back.

Pods are evicted through the API, so within disruption budgets; what a budget forbids is asked for again every five
seconds (``pkg/drain/drain.go``). Pods of DaemonSets stay.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from batkube.bridge.plan import Plan
from batkube.bridge.run_times import owner_kind
from batkube.bridge.time import SimulatedTime
from batkube.controllers.pods import is_deleted, is_ended
from batkube.kube.apimachinery.status import ApiError
from batkube.kube.kinds.pods.annotations import MIRROR
from batkube.kube.server import ApiServer
from batkube.results.events import EventLog

JSON = dict[str, Any]

RETRY_EVERY = 5.0
"""Simulated seconds between two evictions of a pod that its budget protects."""
_TOO_MANY = 429


@dataclass(frozen=True)
class Drain:
    """Nodes, and from when to when they are out of use, in simulated seconds."""

    begin: float
    end: float
    """Infinity where they stay cordoned."""
    nodes: tuple[str, ...]


class Drains:
    """Carries out what was planned."""

    def __init__(self, drains: Sequence[Drain], server: ApiServer, time: SimulatedTime, events: EventLog) -> None:
        self._server = server
        self._time = time
        self._events = events
        self._plan = Plan()
        self._retries = Plan()
        """The evictions that are asked for again."""
        self._until: dict[str, float] = {}
        """The nodes that are being drained, and until when."""
        self._cordoned: set[str] = set()
        """The nodes that were in use before."""
        for drain in drains:
            for node in drain.nodes:
                self._plan.add(drain.begin, partial(self._begin, node, drain.end), lambda: True)

    @property
    def next_date(self) -> float | None:
        """The date of the next act; None if none is planned. Never the present."""
        dates = (plan.next_stop(self._time.now) for plan in (self._plan, self._retries))
        return min((date for date in dates if date is not None), default=None)

    @property
    def any_to_come(self) -> bool:
        """True if a drain will begin or end. What a budget forbids now it forbids until something else happens."""
        return self._plan.next_stop(self._time.now) is not None

    def advance(self) -> bool:
        """Do what is due; False if there was nothing."""
        done = [plan.used and plan.act_until(self._time.now) for plan in (self._plan, self._retries)]
        return any(done)

    def empties(self, node: str | None) -> bool:
        """Tell whether pods are being driven from the node."""
        return node in self._until

    def _begin(self, node: str, end: float) -> None:
        if self._server.store.get("nodes", "", node) is None:
            return
        until = max(end, self._until.get(node, -math.inf))
        self._until[node] = until
        if until == end and end < math.inf:
            self._plan.add(end, partial(self._end, node, end), lambda: self._until.get(node) == end)
        self._events.write(self._time.now, "node_drained", node=node)
        if self._cordon(node, True):
            self._cordoned.add(node)
        self._evict(node)

    def _end(self, node: str, end: float) -> None:
        del self._until[node]
        if node in self._cordoned:
            self._cordoned.discard(node)
            self._cordon(node, False)
        self._events.write(self._time.now, "node_drain_over", node=node)

    def _cordon(self, name: str, wanted: bool) -> bool:
        """Cordon or uncordon a node; False if it was so already, or is gone."""
        node: JSON | None = self._server.store.get("nodes", "", name)
        if node is None or bool(node["spec"].get("unschedulable")) == wanted:
            return False
        spec = {key: value for key, value in node["spec"].items() if key != "unschedulable"}
        self._server.update("nodes", {**node, "spec": {**spec, "unschedulable": True} if wanted else spec})
        return True

    def _evict(self, node: str) -> None:
        """Evict what is on the node, and try again later where a budget forbids it."""
        refused = False
        for pod in self._server.list("pods", field_selector=f"spec.nodeName={node}"):
            metadata = pod["metadata"]
            if _stays(pod):
                continue
            try:
                self._server.evict(metadata["name"], metadata["namespace"])
            except ApiError as error:
                if error.code != _TOO_MANY:
                    continue
                refused = True
                self._events.write(
                    self._time.now, "eviction_refused", pod=metadata["name"], node=node, reason=_why(error)
                )
        if refused:
            self._retries.add(self._time.now + RETRY_EVERY, partial(self._evict, node), lambda: self.empties(node))


def _stays(pod: JSON) -> bool:
    """Tell whether a drain leaves the pod alone."""
    metadata = pod["metadata"]
    mirror = MIRROR in (metadata.get("annotations") or {})
    return is_ended(pod) or mirror or is_deleted(pod) or owner_kind(pod) == "DaemonSet"


def _why(error: ApiError) -> str:
    causes = ((error.details or {}).get("causes")) or ()
    return next((str(cause["message"]) for cause in causes), error.message)
