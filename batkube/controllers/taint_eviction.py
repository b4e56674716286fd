"""Pods on nodes with NoExecute taints that they do not tolerate, or not for longer (``pkg/controller/tainteviction``).

Ended pods stay, which upstream deletes as well. Nobody waits for the deletion of servers from nodes that are lost.
"""

import math
from typing import Any

from batkube.controllers.cluster import Key
from batkube.controllers.controller import JSON, NORMAL, Change, Controller
from batkube.controllers.flags import Flags
from batkube.controllers.node_lifecycle.taints import NO_EXECUTE, NOT_READY, UNREACHABLE
from batkube.controllers.owners import key_of, unless_gone
from batkube.controllers.pods import comes_to_an_end, is_ended, target_for_disruption
from batkube.kube.apimachinery.taints import tolerates
from batkube.kube.storage.store import DELETED

_SAME = 1e-6
"""Simulated seconds by which a date may be missed: calls come at whole microseconds."""


class TaintEvictionController(Controller):
    """Deletes such pods when their patience is over."""

    name = "node-controller"
    component = "taint-eviction-controller"
    wakes = ("nodes",)
    follows = ("nodes", "pods")

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._evictions: dict[Key, float] = {}
        """The dates of the deletions that are to come."""
        self._tainted: set[str] = set()
        """The nodes with such taints."""

    @classmethod
    def wanted(cls, obj: JSON, flags: Flags) -> bool:
        return bool(_no_execute(obj))

    def changed(self, change: Change) -> None:
        obj = change.version.obj
        if obj["kind"] == "Node":
            name = obj["metadata"]["name"]
            tainted = change.type != DELETED and bool(_no_execute(obj))
            if not tainted and name not in self._tainted:
                return
            (self._tainted.add if tainted else self._tainted.discard)(name)
            if change.before is not None and _no_execute(change.before.obj) == _no_execute(obj):
                return
            for key in (*map(key_of, self.cluster.placed_pods.on(name)), *self._evictions):
                self.queue.add(key)
        elif obj["spec"].get("nodeName") in self._tainted or key_of(obj) in self._evictions:
            ended = is_ended(obj) and (change.before is None or not is_ended(change.before.obj))
            if change.type == DELETED or ended or change.before is None or _placing(change.before.obj) != _placing(obj):
                self.queue.add(key_of(obj))

    def sync(self, key: Key) -> None:
        pod = self.cluster.get("pods", *key)
        if pod is None:
            if self._cancel(key):
                self._tell(key, "Cancelling deletion of Pod")
            return
        now, node = self.cluster.now, self.cluster.get("nodes", "", pod["spec"].get("nodeName") or "")
        patience: float | None = math.inf  # of a node that is gone what was planned happens all the same
        if node is not None:
            patience = _patience(_no_execute(node), pod["spec"].get("tolerations") or [])
        if patience is None:
            if self._cancel(key):
                self._tell(key, "Cancelling deletion of Pod")
            return
        if is_ended(pod) or (_is_lost(node) and not self.cluster.kubelets.outlives(pod)):
            self.queue.discard(key)
            return
        date = self._evictions.get(key)
        if not patience and date is not None and date > now + _SAME:
            self._tell(key, "Cancelling deletion of Pod")
            date = now
        date = now + patience if date is None else date
        if date == math.inf:
            return
        if date > now + _SAME:
            self._evictions[key] = date
            self.queue.add_after(key, date - now, awaited=_is_awaited(pod, node))
            return
        self._cancel(key)
        self._delete(key)

    def _cancel(self, key: Key) -> bool:
        """Plan no deletion of the pod any more; tell whether one was to come."""
        self.queue.discard(key)
        return self._evictions.pop(key, 0.0) > self.cluster.now

    def _delete(self, key: Key) -> None:
        self._tell(key, "Marking for deletion Pod")

        def disrupt(new: JSON) -> None:
            why = "Taint manager: deleting due to NoExecute taint"
            target_for_disruption(new, self.cluster.text(), "DeletionByTaintManager", why)

        with unless_gone():
            self.client.modify("pods", *key, disrupt, "status")
            self.client.delete("pods", *key)

    def _tell(self, key: Key, what: str) -> None:
        namespace, name = key
        reference = {"kind": "Pod", "apiVersion": "v1", "namespace": namespace, "name": name}
        self.recorder.event({}, NORMAL, "TaintManagerEviction", f"{what} {namespace}/{name}", reference=reference)


def _placing(pod: JSON) -> tuple[object, object]:
    """Return the members of a pod on which its patience depends."""
    return pod["spec"].get("nodeName"), pod["spec"].get("tolerations")


def _is_awaited(pod: JSON, node: JSON | None) -> bool:
    """Tell whether the simulation goes on for a deletion: not for that of a server from a node that is lost."""
    return comes_to_an_end(pod) or not _is_lost(node)


def _is_lost(node: JSON | None) -> bool:
    """Tell whether the node has no other such taints than those of a lost node."""
    return node is None or all(taint["key"] in (NOT_READY, UNREACHABLE) for taint in _no_execute(node))


def _no_execute(node: JSON) -> list[JSON]:
    taints = (node.get("spec") or {}).get("taints") or ()
    return [taint for taint in taints if taint["effect"] == NO_EXECUTE]


def _patience(taints: list[JSON], tolerations: list[JSON]) -> float | None:
    """Return the seconds for which a pod stays with these taints; None for ever (``getMinTolerationTime``)."""
    if not taints:
        return None
    used = []
    for taint in taints:
        found = next((one for one in tolerations if tolerates(one, taint)), None)
        if found is None:
            return 0.0
        used.append(found)
    limits = [one["tolerationSeconds"] for one in used if one.get("tolerationSeconds") is not None]
    return max(0.0, float(min(limits))) if limits else None
