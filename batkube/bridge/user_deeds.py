"""Users' deeds while a simulation runs, in ``events.jsonl``: they would not happen again by themselves."""

from typing import Any

from batkube.bridge.time import SimulatedTime
from batkube.kube.http.endpoint import Written
from batkube.kube.server import ApiServer
from batkube.results.events import EventLog

KUBECTL = "kubectl"
_NOT_DEEDS = frozenset(("events", "leases"))
"""The resources that programs write for themselves: nothing happens because of them."""


class UserDeeds:
    """Writes down each request of a user that was carried out, and each control of the clock.

    A user is a client that is known not to be the scheduler. Where the scheduler takes turns (on the simulated clock),
    or is inside batkube, that is known of every client; else kubectl alone is taken for a user. ``alone``: the
    scheduler is inside batkube.
    """

    def __init__(self, server: ApiServer, time: SimulatedTime, events: EventLog, *, alone: bool) -> None:
        self.requests = self.clock = 0
        """The number of requests, and of controls of the clock."""
        self._alone = alone
        self._server = server
        self._time = time
        self._events = events
        self._over = False
        server.on_write.append(self._on_write)

    def stop(self) -> None:
        """Stop looking at changes. Stopping twice does nothing."""
        if self._on_write in self._server.on_write:
            self._server.on_write.remove(self._on_write)
        self._over = True

    def controlled(self, action: str, **details: Any) -> None:
        """Note that a user has paused the clock, or the like."""
        if not self._over:
            self.clock += 1
            self._events.write(self._time.now, "clock_control", action=action, **details)

    def interrupted(self) -> None:
        """Note that the user ends the run before its time."""
        if not self._over:
            self._events.write(self._time.now, "interrupted")

    def _on_write(self, done: Written) -> None:
        if done.takes_turns or done.resource in _NOT_DEEDS:
            return
        if not (self._alone or self._server.turns.in_use or (done.client == KUBECTL and not done.subresource)):
            return
        self.requests += 1
        where = {name: value for name in ("namespace", "name", "subresource") if (value := getattr(done, name))}
        self._events.write(
            self._time.now, "user_request", verb=done.verb, resource=done.resource, **where, client=done.client,
            **self._shown(done),
        )  # fmt: skip

    def _shown(self, done: Written) -> dict[str, Any]:
        """Return what a cordon, a taint, or the like has made of a node."""
        if done.resource != "nodes" or not done.name:
            return {}
        node = self._server.store.get("nodes", "", done.name)
        if node is None:
            return {}
        spec = node.get("spec", {})
        taints = [f"{taint['key']}={taint.get('value', '')}:{taint['effect']}" for taint in spec.get("taints", [])]
        return {"unschedulable": bool(spec.get("unschedulable")), "taints": taints}
