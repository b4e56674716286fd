"""Nodes whose kubelets are silent, and what becomes of their pods (``pkg/controller/nodelifecycle``).

The real one looks at all leases every five seconds. This one looks at these dates, only where there is something to
see, and at those nodes alone. A grace period of 0 is not the real one's: it looks at once then.
"""

import math
from typing import Any

from batkube.controllers.controller import JSON, NORMAL, WARNING, Change, Controller
from batkube.controllers.flags import Flags
from batkube.controllers.node_lifecycle.taints import (
    NO_EXECUTE,
    NO_SCHEDULE,
    NOT_READY,
    UNREACHABLE,
    is_tainted,
    make_unknown,
    ready_status,
    swap,
    to_follow,
)
from batkube.controllers.node_lifecycle.zones import Readiness, State, Zone, zone_of
from batkube.controllers.owners import key_of, unless_gone
from batkube.controllers.pods import comes_to_an_end
from batkube.kube.kinds.pods.conditions import set_condition
from batkube.kube.storage.store import DELETED

_LOOK = "look"
_OPPOSITE = {NOT_READY: UNREACHABLE, UNREACHABLE: NOT_READY}
_NO_EXECUTE_BY_READY = {"False": NOT_READY, "Unknown": UNREACHABLE}


class NodeLifecycleController(Controller):
    """Marks such nodes and their pods, and taints the nodes, at the rates of their zones."""

    name = "node-controller"
    wakes = ("nodes",)
    follows = ("nodes",)

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._kubelets = self.cluster.kubelets
        self._zones: dict[str, Zone] = {}
        self._readiness = Readiness()
        self._to_see: set[str] = set()
        """The nodes at which there is something to see, beside those whose kubelets are silent."""
        self._excused = 0.0
        """The date from which the grace of all begins anew, as the cluster has come back."""
        self._kubelets.listeners.append(self._heard)

    @classmethod
    def wanted(cls, obj: JSON, flags: Flags) -> bool:
        return ready_status(obj) not in (None, "True") or any(to_follow(obj))

    def changed(self, change: Change) -> None:
        new, gone = change.version.obj, change.type == DELETED
        old, name = None if change.before is None else change.before.obj, new["metadata"]["name"]
        self._readiness.note(name, old, None if gone else new)
        if not gone:
            self.queue.add(("node", name))
        same = old is not None and not gone and zone_of(old) == zone_of(new)
        if not same or any(each is not None and _concerns(each) for each in (old, new)):
            self._to_see.add(name)
            self._look_soon()

    def sync(self, key: Any) -> None:
        if key == _LOOK:
            self._look()
        elif key[0] == "node":
            node = self.cluster.get("nodes", "", key[1])
            if node is not None:
                self._swap(node, NO_SCHEDULE, *to_follow(node))
        else:
            self._taint(key[1])

    def _heard(self, node: str) -> None:
        """Look at a node when it is time to, whose kubelet is silent."""
        if self._kubelets.is_silent(node):
            self._plan_look(self._noticed_at(node))

    def _look_soon(self) -> None:
        now = self.cluster.now
        self._plan_look(now if not self._kubelets.grace else self._next_look(now))

    def _plan_look(self, date: float) -> None:
        seconds = date - self.cluster.now
        self.queue.add_after(_LOOK, seconds, awaited=seconds > 0 and self._awaited())

    def _awaited(self) -> bool:
        """Tell whether there are pods on nodes that come to an end: nobody waits for servers."""
        placed, get = self.cluster.placed_pods, self.cluster.get
        return any(
            get("nodes", "", name) is not None and any(map(comes_to_an_end, placed.on(name))) for name in placed.nodes
        )

    def _pods(self, node: JSON) -> list[JSON]:
        return self.cluster.placed_pods.on(node["metadata"]["name"])

    def _noticed_at(self, node: str) -> float:
        """Return the date of the look at which a silent kubelet is noticed: the first after its grace.

        That begins with the look at which its lease was seen to be renewed.
        """
        if not self._kubelets.grace:
            return self.cluster.now
        renewed = max(self._kubelets.renewed(node, self.cluster.now), self._excused)
        return self._next_look(self._next_look(renewed) + self._kubelets.grace)

    def _next_look(self, date: float) -> float:
        """Return the date of the first look that sees what there is at a date."""
        period = self.cluster.flags.node_monitor_period
        return math.ceil(date / period) * period

    def _look(self) -> None:
        """Look at the nodes (``monitorNodeHealth``); at most of them there is nothing to see."""
        names = sorted({*self._to_see, *self._kubelets.silent})
        nodes = {name: node for name in names if (node := self.cluster.get("nodes", "", name)) is not None}
        self._to_see.intersection_update(name for name, node in nodes.items() if _concerns(node))
        for node in nodes.values():
            if (key := zone_of(node)) not in self._zones:
                self._zones[key] = Zone(self.cluster.flags)
        later = []
        for name, node in nodes.items():
            observed = ready_status(node)
            if self._kubelets.is_silent(name) and observed != "Unknown":
                noticed = self._noticed_at(name)
                if noticed > self.cluster.now:
                    later.append(noticed)
                else:
                    self._modify(name, lambda new: make_unknown(new, self.cluster.text()), "status")
                    self.sync(("node", name))
                    node = self.cluster.get("nodes", "", name) or node
            current = ready_status(node)
            if current is None:
                continue
            self._heed(node, current)
            if current != "True" and observed == "True":
                self._tell_not_ready(node)
        if later:
            self._plan_look(min(later))
        self._disrupt(self._readiness.by_zone())
        for key in self._zones:
            self._taint(key)

    def _heed(self, node: JSON, ready: str) -> None:
        """Have a node tainted, or its taints taken away (``processTaintBaseEviction``)."""
        key = _NO_EXECUTE_BY_READY.get(ready)
        if key is None:
            self._make_reachable(node)
        elif is_tainted(node, _OPPOSITE[key], NO_EXECUTE):
            self._swap(node, NO_EXECUTE, [key], [_OPPOSITE[key]])
        else:
            zone = self._zones[zone_of(node)]
            if not is_tainted(node, key, NO_EXECUTE):
                zone.remove(node["metadata"]["name"])
            zone.add(node["metadata"]["name"])

    def _make_reachable(self, node: JSON) -> None:
        if any(is_tainted(node, key, NO_EXECUTE) for key in _OPPOSITE):
            self._swap(node, NO_EXECUTE, [], _OPPOSITE)
        self._zones[zone_of(node)].remove(node["metadata"]["name"])

    def _tell_not_ready(self, node: JSON) -> None:
        """Tell that a node is lost, and note that its pods are not ready."""
        name = node["metadata"]["name"]
        reference = {"kind": "Node", "apiVersion": "v1", "name": name, "uid": node["metadata"]["uid"]}
        said = f"Node {name} status is now: NodeNotReady"
        self.recorder.event({}, NORMAL, "NodeNotReady", said, reference=reference)
        for pod in self._pods(node):
            ready = next((each for each in pod["status"].get("conditions") or () if each["type"] == "Ready"), None)
            if ready is None or ready["status"] == "False":
                continue
            told = {**ready, "status": "False", "lastTransitionTime": self.cluster.text()}

            def mark(new: JSON, told: JSON = told) -> None:
                set_condition(new["status"], told)

            with unless_gone():
                marked = self.client.modify("pods", *key_of(pod), mark, "status")
                self.recorder.event(marked, WARNING, "NodeNotReady", "Node is not ready")

    def _disrupt(self, ready: dict[str, list[bool]]) -> None:
        """Let zones of which much is lost taint fewer nodes, or none if all is lost (``handleDisruption``)."""
        now = self.cluster.now
        states = {key: State.of(found, self.cluster.flags) for key, found in ready.items()}
        zones = {key: zone for key, zone in self._zones.items() if key in states}
        all_are = all(state is State.FULL_DISRUPTION for state in states.values())
        all_were = all(zone.state is State.FULL_DISRUPTION for zone in zones.values())
        if all_are and all_were:
            return
        if all_are:
            for node in self.cluster.list("nodes"):
                self._make_reachable(node)
            for zone in zones.values():
                zone.limit(0.0, now)
                zone.state = State.FULL_DISRUPTION
            return
        if all_were:
            self._excused = now
        for key, zone in zones.items():
            if all_were or zone.state is not states[key]:
                zone.enter(states[key], len(ready[key]), now)

    def _taint(self, key: str) -> None:
        """Taint the next nodes of a zone, as far as its rate allows (``doNoExecuteTaintingPass``)."""
        zone, now = self._zones[key], self.cluster.now
        while (name := self._without_pods(zone) or zone.take(now)) is not None:
            node = self.cluster.get("nodes", "", name)
            taint = None if node is None else _NO_EXECUTE_BY_READY.get(ready_status(node) or "")
            if node is not None and taint is not None:
                self._swap(node, NO_EXECUTE, [taint], [_OPPOSITE[taint]])
        date = zone.next_date(now)
        if date is not None:
            self.queue.add_after(("zone", key), date - now, awaited=self._awaited())

    def _without_pods(self, zone: Zone) -> str | None:
        """Return the next node to taint that no pod is to leave, where there is no grace: nothing is asked of it."""
        if self._kubelets.grace:
            return None
        pods = self.cluster.placed_pods
        return zone.take_any(lambda node: not any(map(self._kubelets.outlives, pods.on(node))))

    def _swap(self, node: JSON, effect: str, add: Any, remove: Any) -> None:
        add, remove, now = list(add), list(remove), self.cluster.text()
        if add or remove:
            self._modify(node["metadata"]["name"], lambda new: swap(new, effect, add, remove, now))

    def _modify(self, name: str, change: Any, subresource: str | None = None) -> None:
        with unless_gone():
            self.client.modify("nodes", "", name, change, subresource)


def _concerns(node: JSON) -> bool:
    """Tell whether there is something to see at a node."""
    return ready_status(node) not in (None, "True") or any(is_tainted(node, key, NO_EXECUTE) for key in _OPPOSITE)
