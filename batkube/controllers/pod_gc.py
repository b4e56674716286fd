"""Pods that nobody else takes away: on nodes that are gone, or deleted before they got one (``pkg/controller/podgc``).

It looks every twenty seconds, from the beginning of the simulation, and here only where there is something to see.
Ended pods go, the oldest first, where a user says how many may stay.
"""

from typing import Any

from batkube.controllers.conditions import is_true
from batkube.controllers.controller import JSON, Change, Controller
from batkube.controllers.flags import Flags
from batkube.controllers.owners import key_of
from batkube.controllers.pods import is_deleted, is_ended, target_for_disruption
from batkube.kube.apimachinery.status import ApiError
from batkube.kube.storage.store import DELETED

PERIOD, QUARANTINE = 20.0, 40.0
"""Simulated seconds: between two looks, and after which a node counts as gone for good, at the look after that."""
_OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"


class PodGarbageCollector(Controller):
    """Deletes such pods by force."""

    name = "pod-garbage-collector"
    wakes = ("pods", "nodes")
    follows = ("pods", "nodes")

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._gone: dict[str, float] = {}
        """The nodes that were not there at a look, and the date from which they count as gone."""

    @classmethod
    def wanted(cls, obj: JSON, flags: Flags) -> bool:
        if obj["kind"] == "Node":
            return _is_out_of_service(obj)
        return (is_deleted(obj) and not obj["spec"].get("nodeName")) or _is_counted(obj, flags)

    @classmethod
    def missed(cls, obj: JSON) -> bool:
        return str(obj["kind"]) == "Node"

    def changed(self, change: Change) -> None:
        obj = change.version.obj
        if obj["kind"] == "Node":
            needed = change.type == DELETED or _is_out_of_service(obj)
        else:
            node = obj["spec"].get("nodeName")
            needed = change.type != DELETED and (
                _is_counted(obj, self.cluster.flags)
                or (is_deleted(obj) if not node else self.cluster.get("nodes", "", node) is None)
            )
        if needed:
            self.queue.add_at_next("pods", PERIOD)

    def sync(self, key: str) -> None:
        self._end_old(self.cluster.flags.terminated_pod_gc_threshold)
        now, pods = self.cluster.now, self.cluster.list("pods")
        nodes = {pod["spec"].get("nodeName") or "": None for pod in pods}
        found = {name: self.cluster.get("nodes", "", name) for name in nodes if name}
        missing = [name for name, node in found.items() if node is None]
        gone = {name for name, date in self._gone.items() if date < now and name in missing}
        self._gone = {name: self._gone.get(name, now + QUARANTINE) for name in missing if name not in gone}
        for pod in pods:
            node = pod["spec"].get("nodeName") or ""
            if node in gone:
                self._end(pod, "PodGC: node no longer exists")
            elif is_deleted(pod) and (not node or _is_out_of_service(found.get(node))):
                self._end(pod)
        if self._gone:
            self.queue.add_at_next("pods", PERIOD)

    def _end_old(self, most: int) -> None:
        """Delete ended pods of which there are more than so many: evicted ones first, then the oldest."""
        ended = [pod for pod in self.cluster.list("pods") if most and is_ended(pod)]
        if len(ended) > most:
            ended.sort(key=_by_eviction_and_creation)
            for pod in ended[: len(ended) - most]:
                self._end(pod)

    def _end(self, pod: JSON, why: str | None = None) -> None:
        """Let the pod fail, if it has not ended, and go at once. ``why``: it is disrupted."""

        def fail(new: JSON) -> None:
            status = new["status"]
            status["phase"] = "Failed"
            if generation := new["metadata"].get("generation"):
                status["observedGeneration"] = generation
            if why is not None:
                target_for_disruption(new, self.cluster.text(), "DeletionByPodGC", why)

        try:
            if not is_ended(pod):
                self.client.modify("pods", *key_of(pod), fail, "status")
                self.cluster.let_others_act()  # a StatefulSet deletes it, and makes another of its name
            self.client.delete("pods", *key_of(pod), uid=pod["metadata"]["uid"], grace_seconds=0)
        except ApiError as error:
            if error.code not in (404, 409):
                self.queue.add_at_next("pods", PERIOD)


def _is_counted(pod: JSON, flags: Flags) -> bool:
    return flags.terminated_pod_gc_threshold > 0 and is_ended(pod)


def _by_eviction_and_creation(pod: JSON) -> tuple[bool, str, str]:
    metadata, status = pod["metadata"], pod["status"]
    evicted = status["phase"] == "Failed" and status.get("reason") == "Evicted"
    return not evicted, metadata["creationTimestamp"], metadata["name"]


def _is_out_of_service(node: JSON | None) -> bool:
    if node is None:
        return False
    taints = node.get("spec", {}).get("taints") or ()
    return not is_true(node, "Ready") and any(taint["key"] == _OUT_OF_SERVICE for taint in taints)
