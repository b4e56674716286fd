"""One look at a StatefulSet: pods that are missing, too many, or of another revision (``stateful_set_control.go``)."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from batkube.controllers import revisions as history
from batkube.controllers.controller import NORMAL, WARNING
from batkube.controllers.owners import key_of, unless_gone
from batkube.controllers.pods import is_deleted, is_ended, is_ready, phase
from batkube.controllers.replicas import in_growing_batches, is_available
from batkube.controllers.stateful_set.claims import Claims
from batkube.controllers.stateful_set.identity import (
    first_ordinal,
    identify,
    in_range,
    is_itself,
    mount_claims,
    new_pod,
    ordinal,
    revision_of,
)
from batkube.kube.apimachinery.status import ApiError

if TYPE_CHECKING:
    from batkube.controllers.controller import Controller

JSON = dict[str, Any]

STATEFUL_SETS = "statefulsets.apps"


class StatefulSetSync:
    """Brings one StatefulSet, with these pods, a step further."""

    def __init__(self, controller: "Controller", stateful_set: JSON, pods: Sequence[JSON]) -> None:
        self._controller = controller
        self._set = stateful_set
        self._pods = pods
        self._min_ready = stateful_set["spec"].get("minReadySeconds", 0)
        self._one_by_one = stateful_set["spec"].get("podManagementPolicy") != "Parallel"
        self._claims = Claims(controller, stateful_set)
        self._collisions = stateful_set.get("status", {}).get("collisionCount", 0)
        self._current: JSON = {}
        self._update: JSON = {}
        self._replicas: list[JSON] = []
        self._condemned: list[JSON] = []
        self._first_unavailable: JSON | None = None
        self.status: JSON = {}

    def run(self) -> None:
        """Do what is to be done. Raises ApiError, once the status is written."""
        revisions = history.listed(self._controller, self._set)
        self._find_revisions(revisions)
        self._count(self._pods)
        self._sort()
        error = None
        if not self._set["metadata"].get("deletionTimestamp"):
            try:
                self._act()
            except ApiError as failed:
                error = failed
        self._tell_status()
        live = {self._current["metadata"]["name"], self._update["metadata"]["name"], *map(revision_of, self._pods)}
        limit = self._set["spec"].get("revisionHistoryLimit")
        if limit is not None and limit >= 0:
            history.truncate(self._controller, revisions, live, limit)
        if error is not None:
            raise error

    # Revisions

    def _find_revisions(self, revisions: list[JSON]) -> None:
        number = revisions[-1]["revision"] + 1 if revisions else 1
        new = history.new_revision(self._set, number, self._collisions)
        equal = [each for each in revisions if each["data"] == new["data"]]
        if equal and equal[-1] is revisions[-1]:
            self._update = revisions[-1]
        elif equal:
            self._update = history.renumber(self._controller, equal[-1], number)
        else:
            self._update, self._collisions = history.create(self._controller, self._set, new, self._collisions)
        name = self._set.get("status", {}).get("currentRevision")
        found = (each for each in revisions if each["metadata"]["name"] == name)
        self._current = next(found, self._update)

    # Pods

    def _sort(self) -> None:
        """Tell wanted pods, made or not, from those that are too many."""
        start, count = first_ordinal(self._set), self._set["spec"]["replicas"]
        there = {ordinal(pod): pod for pod in self._pods if in_range(self._set, pod)}
        self._replicas = [there.get(number) or self._new(number) for number in range(start, start + count)]
        condemned = [pod for pod in self._pods if not in_range(self._set, pod) and ordinal(pod) >= 0]
        self._condemned = sorted(condemned, key=ordinal, reverse=True)
        every = (*self._replicas, *reversed(self._condemned))
        self._first_unavailable = next((pod for pod in every if self._is_unavailable(pod)), None)

    def _new(self, number: int) -> JSON:
        strategy, start = self._set["spec"].get("updateStrategy") or {}, first_ordinal(self._set)
        rolling = strategy.get("rollingUpdate")
        if rolling is not None:
            keeps = number < start + rolling.get("partition", 0)
        else:
            in_current = self._set.get("status", {}).get("currentReplicas", 0)
            keeps = strategy.get("type") == "RollingUpdate" and number < start + in_current
        revision = self._current if keeps else self._update
        return new_pod(history.with_template_of(self._set, revision), number, revision["metadata"]["name"])

    def _is_unavailable(self, pod: JSON) -> bool:
        return is_deleted(pod) or not self._is_available(pod)

    def _is_available(self, pod: JSON) -> bool:
        return is_available(self._controller.cluster, pod, self._min_ready)

    def _act(self) -> None:
        done = self._for_all(self._replicas, self._process) and self._for_all(self._condemned, self._own_claims)
        done = done and self._for_all(self._condemned, self._condemn)
        self._count([*self._replicas, *self._condemned])
        if done and (self._set["spec"].get("updateStrategy") or {}).get("type") != "OnDelete":
            self._roll()

    def _for_all(self, pods: Sequence[JSON], act: Callable[[JSON], bool]) -> bool:
        """Act on one pod after the other while ``act`` says to go on; on all of them where they are managed at once."""
        if self._one_by_one:
            return all(act(pod) for pod in pods)
        left = iter(pods)
        error = in_growing_batches(len(pods), lambda: act(next(left)))
        if error is not None:
            raise error
        return True

    def _process(self, pod: JSON) -> bool:
        """Make a pod, or see that it is what it is to be; tell whether the next one may be looked at."""
        if is_ended(pod):
            if not is_deleted(pod):
                self._delete(pod)
            return False
        if not phase(pod):
            if self._claims.are_stale(pod):
                return False
            self._create(pod)
            if self._one_by_one:
                return False
        if phase(pod) == "Pending":
            self._claims.create_missing(pod)
            self._claims.own(pod)
        if self._one_by_one and (is_deleted(pod) or not self._runs(pod) or not self._is_available(pod)):
            return False
        if phase(pod):
            self._repair(pod)
        return True

    def _runs(self, pod: JSON) -> bool:
        return phase(pod) == "Running" and is_ready(pod)

    def _repair(self, pod: JSON) -> None:
        if is_itself(self._set, pod):
            self._claims.own(pod)
            return

        def change(found: JSON) -> None:
            identify(self._set, found)
            mount_claims(self._set, found)

        self._claims.create_missing(pod)
        self._told("Update", pod, lambda: self._controller.client.modify("pods", *key_of(pod), change))

    def _own_claims(self, pod: JSON) -> bool:
        self._claims.own(pod)
        return True

    def _condemn(self, pod: JSON) -> bool:
        """Delete a pod that is too many; tell whether the next one may be looked at."""
        if is_deleted(pod):
            return not self._one_by_one
        waits = not self._runs(pod) or not self._is_available(pod)
        if self._one_by_one and waits and pod is not self._first_unavailable:
            return False
        self._delete(pod)
        return False

    def _roll(self) -> None:
        """Delete the last pod of another revision, unless one after it is not available yet."""
        rolling = (self._set["spec"].get("updateStrategy") or {}).get("rollingUpdate") or {}
        lowest, update = rolling.get("partition", 0), self._update["metadata"]["name"]
        for pod in self._replicas[: max(lowest - 1, -1) if lowest else None : -1]:
            if revision_of(pod) != update and not is_deleted(pod):
                self._delete(pod)
                self.status["currentReplicas"] -= 1
                return
            if self._is_unavailable(pod):
                return

    def _create(self, pod: JSON) -> None:
        self._claims.create_missing(pod)

        def create() -> None:
            made = self._controller.client.create("pods", pod, pod["metadata"]["namespace"])
            self._claims.own(made)

        self._told("Create", pod, create)

    def _delete(self, pod: JSON) -> None:
        def delete() -> None:
            with unless_gone():
                self._controller.client.delete("pods", *key_of(pod))

        self._told("Delete", pod, delete)

    def _told(self, verb: str, pod: JSON, act: Callable[[], object]) -> None:
        """Act on a pod, and tell how that went. Raises ApiError."""
        what = f"{verb} Pod {pod['metadata']['name']} in StatefulSet {self._set['metadata']['name']}"
        try:
            act()
        except ApiError as error:
            if error.reason != "AlreadyExists":
                text = f"{what} failed error: {error.message}"
                self._controller.recorder.event(self._set, WARNING, f"Failed{verb}", text)
            raise
        self._controller.recorder.event(self._set, NORMAL, f"Successful{verb}", f"{what} successful")

    # Status

    def _count(self, pods: Iterable[JSON]) -> None:
        current, update = self._current["metadata"]["name"], self._update["metadata"]["name"]
        made = [pod for pod in pods if phase(pod)]
        ready = [pod for pod in made if self._runs(pod)]
        alive = [revision_of(pod) for pod in made if not is_deleted(pod)]
        self.status = {
            "observedGeneration": self._set["metadata"]["generation"],
            "replicas": len(made),
            "readyReplicas": len(ready),
            "availableReplicas": sum(self._is_available(pod) for pod in ready),
            "currentReplicas": alive.count(current),
            "updatedReplicas": alive.count(update),
            "currentRevision": current,
            "updateRevision": update,
            "collisionCount": self._collisions,
        }

    def _tell_status(self) -> None:
        status, old = self.status, self._set.get("status", {})
        wanted = self._set["spec"]["replicas"]
        rolling = (self._set["spec"].get("updateStrategy") or {}).get("type") == "RollingUpdate"
        if rolling and status["updatedReplicas"] == status["readyReplicas"] == status["replicas"] == wanted:
            status["currentReplicas"] = status["updatedReplicas"]
            status["currentRevision"] = status["updateRevision"]
        compared = [name for name in status if name not in ("observedGeneration", "collisionCount")]
        newer = status["observedGeneration"] > old.get("observedGeneration", 0)
        if not newer and all(old.get(name, type(status[name])()) == status[name] for name in compared):
            return
        always = ("replicas", "availableReplicas", "collisionCount")
        told = {name: value for name, value in status.items() if value or name in always}
        self._controller.client.modify(
            STATEFUL_SETS, *key_of(self._set), lambda found: {**found, "status": told}, "status"
        )
