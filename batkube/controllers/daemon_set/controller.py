"""The DaemonSet controller: what it notes of changes."""

from collections.abc import Hashable
from typing import Any

from batkube.controllers.controller import WARNING, Change, Controller
from batkube.controllers.daemon_set import history
from batkube.controllers.daemon_set.placing import HASH, should_run
from batkube.controllers.daemon_set.synchronization import DAEMON_SETS, DaemonSetSync
from batkube.controllers.owners import add_owners, claim, key_of
from batkube.controllers.replicas import look_when_available
from batkube.controllers.revisions import REVISIONS
from batkube.controllers.work_queue import Clock
from batkube.kube.apimachinery.status import ApiError
from batkube.kube.storage.store import DELETED

JSON = dict[str, Any]

FIRST_WAIT, LONGEST_WAIT = 1.0, 900.0
"""Seconds between two failed pods of a node that are deleted: at first, and at most."""


class Failures:
    """The waits between failed pods of a node, longer each time."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waits: dict[Hashable, tuple[float, float]] = {}

    def wait(self, key: Hashable) -> float:
        """Return 0 if a failed pod may go now, and note that it does; else the length of the wait that is not over."""
        now = self._clock.now
        since, length = self._waits.get(key, (now, 0.0))
        if length and now - since > 2 * LONGEST_WAIT:
            length = 0.0
        if length and now - since < length:
            return length
        self._waits[key] = (now, min(2 * length, LONGEST_WAIT) if length else FIRST_WAIT)
        return 0.0


class DaemonSetController(Controller):
    """Makes a pod for each node that a DaemonSet fits, tied to it by its name."""

    name = "daemonset-controller"
    wakes = (DAEMON_SETS,)
    follows = (DAEMON_SETS, "pods", "nodes")

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._pods = self.cluster.owned("pods")
        self.cluster.owned(REVISIONS)
        self.failures = Failures(self.cluster.clock)

    def changed(self, change: Change) -> None:
        obj, storage = change.version.obj, change.resource.storage
        if storage == DAEMON_SETS:
            self.queue.add(key_of(obj))
        elif storage == "nodes":
            self._node_changed(change)
        else:
            owner = add_owners(self, DAEMON_SETS, change)
            look_when_available(self, owner, change, more=1)

    def _node_changed(self, change: Change) -> None:
        node = change.version.obj
        if change.type == DELETED:
            return
        if change.before is not None:
            before = change.before.obj
            same_labels = before["metadata"].get("labels") == node["metadata"].get("labels")
            if same_labels and before.get("spec", {}).get("taints") == node.get("spec", {}).get("taints"):
                return
        name = node["metadata"]["name"]
        for each in self.cluster.list(DAEMON_SETS):
            there = any(pod["spec"].get("nodeName") == name for pod in self._pods.of(each["metadata"]["uid"]))
            runs, stays = should_run(each, node)
            astray = each.get("status", {}).get("numberMisscheduled", 0)
            if (runs and not there) or (there and (not stays or astray)):
                self.queue.add(key_of(each))

    def sync(self, key: Any) -> None:
        daemon_set = self.cluster.get(DAEMON_SETS, *key)
        if daemon_set is None or daemon_set["metadata"].get("deletionTimestamp"):
            return
        if not daemon_set["spec"]["selector"]:
            text = "This daemon set is selecting all pods. A non-empty selector is required."
            self.recorder.event(daemon_set, WARNING, "SelectingAll", text)
            return
        current, old = history.find(self, daemon_set)
        look = DaemonSetSync(self, daemon_set, current["metadata"]["labels"][HASH])
        error = None
        try:
            look.run(self._claimed(daemon_set))
            history.clean_up(self, daemon_set, old, self._claimed(daemon_set))
        except ApiError as failed:
            error = failed
        look.tell_status(self._claimed(daemon_set))
        if error is not None:
            raise error

    def _claimed(self, daemon_set: JSON) -> list[JSON]:
        return claim(self, "pods", daemon_set, self._pods.candidates(daemon_set))
