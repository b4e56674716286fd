"""The StatefulSet controller: what it notes of changes."""

from typing import Any

from batkube.controllers import revisions as history
from batkube.controllers.controller import Change, Controller
from batkube.controllers.owners import claim, controller_of, key_of
from batkube.controllers.pods import is_ready
from batkube.controllers.replicas import next_availability_check
from batkube.controllers.stateful_set.identity import parent_and_ordinal
from batkube.controllers.stateful_set.synchronization import STATEFUL_SETS, StatefulSetSync
from batkube.kube.apimachinery.label_selectors import matches
from batkube.kube.storage.store import DELETED

JSON = dict[str, Any]


class StatefulSetController(Controller):
    """Makes the pods of StatefulSets, each with its name and its volumes, in order."""

    name = "statefulset-controller"
    wakes = (STATEFUL_SETS,)
    follows = (STATEFUL_SETS, "pods")

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._pods = self.cluster.owned("pods")
        self.cluster.owned(history.REVISIONS)

    def changed(self, change: Change) -> None:
        obj = change.version.obj
        if change.resource.storage == STATEFUL_SETS:
            self.queue.add(key_of(obj))
            return
        before = change.before.obj if change.before else None
        owner = self._owner(obj)
        for each in (owner, self._owner(before) if before else None):
            if each is not None:
                self.queue.add(key_of(each))
        if controller_of(obj) is None and change.type != DELETED:
            for each in self.cluster.list(STATEFUL_SETS, obj["metadata"]["namespace"]):
                if matches(each["spec"].get("selector"), obj["metadata"].get("labels") or {}):
                    self.queue.add(key_of(each))
        seconds = (owner or {}).get("spec", {}).get("minReadySeconds", 0)
        if owner is not None and seconds and before is not None and not is_ready(before) and is_ready(obj):
            self.queue.add_after(key_of(owner), seconds)

    def _owner(self, pod: JSON) -> JSON | None:
        reference = controller_of(pod)
        if reference is None or reference["kind"] != "StatefulSet":
            return None
        found = self.cluster.get(STATEFUL_SETS, pod["metadata"]["namespace"], reference["name"])
        return found if found is not None and found["metadata"]["uid"] == reference["uid"] else None

    def sync(self, key: Any) -> None:
        stateful_set = self.cluster.get(STATEFUL_SETS, *key)
        if stateful_set is None:
            return
        history.adopt_orphans(self, stateful_set, history.listed(self, stateful_set))
        metadata = stateful_set["metadata"]
        candidates = [*self._pods.of(metadata["uid"]), *self._pods.of_nobody(metadata["namespace"])]

        def is_member(pod: JSON) -> bool:
            return bool(parent_and_ordinal(pod)[0] == metadata["name"])

        pods = claim(self, "pods", stateful_set, candidates, only=is_member)
        look = StatefulSetSync(self, stateful_set, pods)
        look.run()
        min_ready = stateful_set["spec"].get("minReadySeconds", 0)
        if min_ready and look.status["readyReplicas"] != look.status["availableReplicas"]:
            seconds = next_availability_check(self.cluster, pods, min_ready)
            self.queue.add_after(key, min_ready if seconds is None else seconds)
