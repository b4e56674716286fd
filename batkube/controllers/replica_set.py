"""ReplicaSets: as many pods as they ask for (``pkg/controller/replicaset``)."""

from collections.abc import Iterator
from typing import Any

from batkube.controllers.controller import Change, Controller
from batkube.controllers.owners import add_owners, claim, controller_of, key_of
from batkube.controllers.pods import (
    from_template,
    is_active,
    is_ready,
    is_terminating,
)
from batkube.controllers.replicas import (
    create_pods,
    delete_pods,
    is_available,
    look_when_available,
    next_availability_check,
    to_delete,
)
from batkube.kube.apimachinery.label_selectors import matches
from batkube.kube.apimachinery.status import ApiError

JSON = dict[str, Any]

REPLICA_SETS = "replicasets.apps"
MOST_AT_ONCE = 500
"""The most pods that are made or deleted at a time."""
_FAILURE = "ReplicaFailure"


class ReplicaSetController(Controller):
    """Makes and deletes pods until there are as many as ReplicaSets ask for."""

    name = "replicaset-controller"
    wakes = (REPLICA_SETS,)
    follows = (REPLICA_SETS, "pods")

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._pods = self.cluster.owned("pods")

    def changed(self, change: Change) -> None:
        obj = change.version.obj
        if change.resource.storage == REPLICA_SETS:
            self.queue.add(key_of(obj))
            return
        owner = add_owners(self, REPLICA_SETS, change)
        look_when_available(self, owner, change)

    def sync(self, key: Any) -> None:
        replica_set = self.cluster.get(REPLICA_SETS, *key)
        if replica_set is None:
            return
        mine = self._pods.of(replica_set["metadata"]["uid"])
        candidates = [pod for pod in self._pods.candidates(replica_set) if is_active(pod)]
        active = claim(self, "pods", replica_set, candidates)
        selector = replica_set["spec"].get("selector")
        terminating = [
            pod for pod in mine if is_terminating(pod) and matches(selector, pod["metadata"].get("labels") or {})
        ]
        error = None
        if not replica_set["metadata"].get("deletionTimestamp"):
            error = self._manage(replica_set, active)
        self._tell_status(replica_set, self._status(replica_set, active, terminating, error))
        if error is not None:
            raise error
        seconds = next_availability_check(self.cluster, active, replica_set["spec"].get("minReadySeconds", 0))
        if seconds is not None:
            self.queue.add_after(key, seconds)

    def _manage(self, replica_set: JSON, active: list[JSON]) -> ApiError | None:
        """Make the pods that are missing, or delete those that are too many; return what went wrong."""
        missing = replica_set["spec"]["replicas"] - len(active)
        if missing > 0:
            template = replica_set["spec"]["template"]
            pods = (from_template(template, replica_set) for _ in range(missing))
            return create_pods(self, pods, min(missing, MOST_AT_ONCE), replica_set)
        count = min(-missing, MOST_AT_ONCE)
        return delete_pods(self, to_delete(self.cluster, active, self._related(replica_set), count), replica_set)

    def _related(self, replica_set: JSON) -> Iterator[JSON]:
        """Yield the pods of all ReplicaSets with the same owner."""
        reference, namespace = controller_of(replica_set), replica_set["metadata"]["namespace"]
        if reference is None:
            related = [replica_set]
        else:
            related = [
                each
                for each in self.cluster.list(REPLICA_SETS, namespace)
                if (owner := controller_of(each)) is not None and owner["uid"] == reference["uid"]
            ]
        for pod in self.cluster.list("pods", namespace):
            if any(matches(each["spec"].get("selector"), pod["metadata"].get("labels") or {}) for each in related):
                yield pod

    def _status(self, replica_set: JSON, active: list[JSON], terminating: list[JSON], error: ApiError | None) -> JSON:
        spec, old = replica_set["spec"], replica_set.get("status", {})
        labels = {"matchLabels": spec["template"]["metadata"].get("labels") or {}}
        ready = [pod for pod in active if is_ready(pod)]
        seconds = spec.get("minReadySeconds", 0)
        counts = {
            "fullyLabeledReplicas": sum(matches(labels, pod["metadata"].get("labels") or {}) for pod in active),
            "readyReplicas": len(ready),
            "availableReplicas": sum(is_available(self.cluster, pod, seconds) for pod in ready),
        }
        conditions = old.get("conditions") or []
        failed = any(each["type"] == _FAILURE for each in conditions)
        if error is not None and not failed:
            missing = spec["replicas"] - len(active)
            reason = "FailedCreate" if missing > 0 else "FailedDelete" if missing < 0 else ""
            new = {"type": _FAILURE, "status": "True", "lastTransitionTime": self.cluster.text(), "reason": reason}
            conditions = [*conditions, {**new, "message": error.message}]
        elif error is None and failed:
            conditions = [each for each in conditions if each["type"] != _FAILURE]
        return {
            "replicas": len(active),
            **{name: count for name, count in counts.items() if count},
            "terminatingReplicas": len(terminating),
            **({"conditions": conditions} if conditions else {}),
        }

    def _tell_status(self, replica_set: JSON, status: JSON) -> None:
        old, generation = replica_set.get("status", {}), replica_set["metadata"]["generation"]
        told = {name: value for name, value in old.items() if name != "observedGeneration"}
        if told == status and old.get("observedGeneration") == generation:
            return
        status = {**status, "observedGeneration": generation}
        self.client.modify(REPLICA_SETS, *key_of(replica_set), lambda found: {**found, "status": status}, "status")
