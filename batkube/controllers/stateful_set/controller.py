"""The StatefulSet controller: what it notes of changes."""

from typing import Any

from batkube.controllers import revisions as history
from batkube.controllers.controller import Change, Controller
from batkube.controllers.owners import add_owners, claim, key_of
from batkube.controllers.replicas import look_when_available, next_availability_check
from batkube.controllers.stateful_set.identity import parent_and_ordinal
from batkube.controllers.stateful_set.synchronization import STATEFUL_SETS, StatefulSetSync

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
        owner = add_owners(self, STATEFUL_SETS, change)
        look_when_available(self, owner, change)

    def sync(self, key: Any) -> None:
        stateful_set = self.cluster.get(STATEFUL_SETS, *key)
        if stateful_set is None:
            return
        history.adopt_orphans(self, stateful_set, history.listed(self, stateful_set))
        metadata = stateful_set["metadata"]

        def is_member(pod: JSON) -> bool:
            return bool(parent_and_ordinal(pod)[0] == metadata["name"])

        pods = claim(self, "pods", stateful_set, self._pods.candidates(stateful_set), only=is_member)
        look = StatefulSetSync(self, stateful_set, pods)
        look.run()
        min_ready = stateful_set["spec"].get("minReadySeconds", 0)
        if min_ready and look.status["readyReplicas"] != look.status["availableReplicas"]:
            seconds = next_availability_check(self.cluster, pods, min_ready)
            self.queue.add_after(key, min_ready if seconds is None else seconds)
