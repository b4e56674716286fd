"""Pods on nodes with NoExecute taints that they do not tolerate, or not for longer (``pkg/controller/tainteviction``).

Not for the taint of a node that is unreachable: here that is a host that has failed, and what ran there has ended.
Ended pods stay.
"""

from typing import Any

from batkube.controllers.cluster import Key
from batkube.controllers.controller import JSON, NORMAL, Change, Controller
from batkube.controllers.flags import Flags
from batkube.controllers.owners import key_of, unless_gone
from batkube.controllers.pods import is_ended, target_for_disruption
from batkube.kube.apimachinery.taints import tolerates
from batkube.kube.storage.store import DELETED

_SAME = 1e-6
"""Simulated seconds by which a date may be missed: calls come at whole microseconds."""
_UNREACHABLE = "node.kubernetes.io/unreachable"


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
            for pod in self.cluster.list("pods"):
                if pod["spec"].get("nodeName") == name:
                    self.queue.add(key_of(pod))
        elif obj["spec"].get("nodeName") in self._tainted or key_of(obj) in self._evictions:
            self.queue.add(key_of(obj))

    def sync(self, key: Key) -> None:
        pod = self.cluster.get("pods", *key)
        node = self.cluster.get("nodes", "", pod["spec"].get("nodeName") or "") if pod is not None else None
        if pod is None or node is None or is_ended(pod) or "deletionTimestamp" in pod["metadata"]:
            self._cancel(key)
            return
        now, patience = self.cluster.now, _patience(_no_execute(node), pod["spec"].get("tolerations") or [])
        if patience is None:
            if self._cancel(key):
                self._tell(key, "Cancelling deletion of Pod")
            return
        date = self._evictions.setdefault(key, now + patience) if patience else now
        if date > now + _SAME:
            self.queue.add_after(key, date - now)
            return
        self._cancel(key)
        self._delete(key)

    def _cancel(self, key: Key) -> bool:
        """Plan no deletion of the pod any more; tell whether one was."""
        self.queue.discard(key)
        return self._evictions.pop(key, None) is not None

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


def _no_execute(node: JSON) -> list[JSON]:
    taints = (node.get("spec") or {}).get("taints") or ()
    return [taint for taint in taints if taint["effect"] == "NoExecute" and taint["key"] != _UNREACHABLE]


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
