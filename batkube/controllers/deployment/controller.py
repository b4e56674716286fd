"""The Deployment controller: what it notes of changes, and what it does with a Deployment by its strategy."""

from collections.abc import Sequence
from typing import Any

from batkube.controllers.conditions import condition
from batkube.controllers.controller import WARNING, Change, Controller
from batkube.controllers.deployment import scaling
from batkube.controllers.deployment.conditions import PROGRESSING, TIMED_OUT, new_condition, set_condition
from batkube.controllers.deployment.limits import max_unavailable, progress_deadline, replicas
from batkube.controllers.deployment.replica_sets import ReplicaSets
from batkube.controllers.deployment.revisions import DESIRED, ROLLBACK_TO, active, noted_size
from batkube.controllers.deployment.rollback import roll_back
from batkube.controllers.deployment.status import calculated, in_rollout, is_complete, seconds_until_check, total
from batkube.controllers.owners import add_owners, claim, key_of
from batkube.controllers.pods import is_ended, namespace_goes
from batkube.controllers.replica_set import REPLICA_SETS
from batkube.kube.apimachinery.deep_copy import deep_copy
from batkube.kube.apimachinery.status import ApiError
from batkube.kube.storage.store import DELETED

JSON = dict[str, Any]

DEPLOYMENTS = "deployments.apps"
_PAUSED, _RESUMED = "DeploymentPaused", "DeploymentResumed"


class DeploymentController(Controller):
    """Makes a ReplicaSet for each pod template, and scales it up while the old ones are scaled down."""

    name = "deployment-controller"
    wakes = (DEPLOYMENTS,)
    follows = (DEPLOYMENTS, REPLICA_SETS, "pods")

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.pods = self.cluster.owned("pods")
        self.owned = self.cluster.owned(REPLICA_SETS)

    def changed(self, change: Change) -> None:
        obj, storage = change.version.obj, change.resource.storage
        if storage == DEPLOYMENTS:
            self.queue.add(key_of(obj))
        elif storage == REPLICA_SETS:
            add_owners(self, DEPLOYMENTS, change)
        elif change.type == DELETED:
            replica_set = self.cluster.owner(REPLICA_SETS, obj)
            deployment = self.cluster.owner(DEPLOYMENTS, replica_set) if replica_set else None
            if deployment is not None and deployment["spec"]["strategy"]["type"] == "Recreate":
                sets = self.owned.of(deployment["metadata"]["uid"])
                if not any(self.pods.of(each["metadata"]["uid"]) for each in sets):
                    self.queue.add(key_of(deployment))

    def sync(self, key: Any) -> None:
        found = self.cluster.get(DEPLOYMENTS, *key)
        if found is None:
            return
        deployment = deep_copy(found)
        if not deployment["spec"]["selector"]:
            self._selects_all(deployment)
            return
        try:
            self._sync(deployment)
        except ApiError as error:
            if not namespace_goes(error):
                raise

    def _sync(self, deployment: JSON) -> None:
        metadata = deployment["metadata"]
        sets = ReplicaSets(self, deployment, claim(self, REPLICA_SETS, deployment, self.owned.candidates(deployment)))
        if metadata.get("deletionTimestamp"):
            sets.find(create=False)
            self._tell(deployment, calculated(self.cluster, deployment, sets.every, sets.new))
            return
        self._check_paused(deployment)
        if deployment["spec"].get("paused"):
            self._scale(deployment, sets)
            return
        if (metadata.get("annotations") or {}).get(ROLLBACK_TO):
            roll_back(self, deployment, sets)
            return
        sets.find(create=False)
        if self._is_scaled(deployment, sets):
            self._scale(deployment, sets)
        elif deployment["spec"]["strategy"]["type"] == "Recreate":
            self._recreate(deployment, sets)
        else:
            self._roll(deployment, sets)

    def _selects_all(self, deployment: JSON) -> None:
        text = "This deployment is selecting all pods. A non-empty selector is required."
        self.recorder.event(deployment, WARNING, "SelectingAll", text)
        generation, status = deployment["metadata"]["generation"], deployment.get("status", {})
        if status.get("observedGeneration", 0) < generation:
            self._tell(deployment, {**status, "observedGeneration": generation})

    def _check_paused(self, deployment: JSON) -> None:
        """Note that it is paused or goes on: no time counts meanwhile."""
        if progress_deadline(deployment) is None:
            return
        status: JSON = deployment.setdefault("status", {})
        found = condition(status, PROGRESSING) or {}
        if found.get("reason") == TIMED_OUT:
            return
        noted, paused = found.get("reason") == _PAUSED, bool(deployment["spec"].get("paused"))
        if noted == paused:
            return
        reason, text = (_PAUSED, "Deployment is paused") if paused else (_RESUMED, "Deployment is resumed")
        set_condition(status, new_condition(self.cluster, PROGRESSING, "Unknown", reason, text))
        self.client.update(DEPLOYMENTS, deployment, "status")

    # Scaling

    def _is_scaled(self, deployment: JSON, sets: ReplicaSets) -> bool:
        """Tell whether the Deployment's size has changed since its ReplicaSets were scaled."""
        noted = (noted_size(each, DESIRED) for each in active(sets.every))
        return any(size is not None and size != replicas(deployment) for size in noted)

    def _scale(self, deployment: JSON, sets: ReplicaSets) -> None:
        """Bring the ReplicaSets to the Deployment's size, without any progress of a rollout."""
        sets.find(create=False)
        only = scaling.only_active_or_latest(sets.new, sets.old)
        if only is not None:
            sets.scale(only, replicas(deployment))
        elif scaling.is_saturated(deployment, sets.new):
            for each in active(sets.old):
                sets.scale(each, 0)
        elif deployment["spec"]["strategy"]["type"] == "RollingUpdate":
            for each, size in scaling.in_proportion(deployment, active(sets.every)):
                sets.scale(each, size, forced=True)
        if deployment["spec"].get("paused") and not (deployment["metadata"].get("annotations") or {}).get(ROLLBACK_TO):
            sets.clean_up()
        self._tell(deployment, calculated(self.cluster, deployment, sets.every, sets.new))

    # Rollouts

    def _roll(self, deployment: JSON, sets: ReplicaSets) -> None:
        new = sets.find(create=True)
        assert new is not None
        every = sets.every
        wanted = replicas(deployment)
        if replicas(new) != wanted:
            size = wanted if replicas(new) > wanted else scaling.size_of_new(deployment, every, replicas(new))
            if sets.scale(new, size):
                self._tell_rollout(deployment, every, new)
                return
        if not self._shrink(deployment, sets, every, new) and is_complete(deployment, deployment.get("status", {})):
            sets.clean_up()
        self._tell_rollout(deployment, every, new)

    def _shrink(self, deployment: JSON, sets: ReplicaSets, every: Sequence[JSON], new: JSON) -> bool:
        """Scale the old ReplicaSets down as far as it goes now; tell whether any was."""
        old = active(sets.old)
        if not old:
            return False
        unavailable = replicas(new) - new.get("status", {}).get("availableReplicas", 0)
        most = scaling.asked(every) - (replicas(deployment) - max_unavailable(deployment)) - unavailable
        if most <= 0:
            return False
        changed = False
        by_name = {each["metadata"]["name"]: each for each in old}
        try:
            for each, size in scaling.cleaned_up(old, most):
                sets.scale(each, size)
                by_name[each["metadata"]["name"]] = sets.latest(each)
                changed = True
            left = list(by_name.values())
            for each, size in scaling.scaled_down(deployment, [*left, new], left):
                changed = sets.scale(each, size) or changed
        except ApiError:
            return False
        return changed

    def _recreate(self, deployment: JSON, sets: ReplicaSets) -> None:
        new = sets.find(create=False)
        every = sets.every
        scaled = [sets.scale(each, 0) for each in active(sets.old)]
        if any(scaled) or self._old_pods_run(sets):
            self._tell_rollout(deployment, every, new)
            return
        if new is None:
            new = sets.find(create=True)
        assert new is not None
        every = sets.every
        sets.scale(new, replicas(deployment))
        if is_complete(deployment, deployment.get("status", {})):
            sets.clean_up()
        self._tell_rollout(deployment, every, new)

    def _old_pods_run(self, sets: ReplicaSets) -> bool:
        if total(sets.old, "replicas"):
            return True
        return any(not is_ended(pod) for each in sets.old for pod in self.pods.of(each["metadata"]["uid"]))

    # Status

    def _tell_rollout(self, deployment: JSON, every: Sequence[JSON], new: JSON | None) -> None:
        status = in_rollout(self.cluster, deployment, every, new)
        if not self._tell(deployment, status):
            self._look_later(deployment, status)

    def _tell(self, deployment: JSON, status: JSON) -> bool:
        """Write the status; False if it is the same."""
        if deployment.get("status", {}) == status:
            return False
        self.client.update(DEPLOYMENTS, {**deployment, "status": status}, "status")
        return True

    def _look_later(self, deployment: JSON, status: JSON) -> None:
        """Look again when the rollout may be stuck."""
        seconds = seconds_until_check(self.cluster, deployment, status)
        if seconds is None:
            return
        if seconds < 1:
            self.queue.retry(key_of(deployment))
        else:
            self.queue.add_after(key_of(deployment), seconds + 1, awaited=False)
