"""The ReplicaSets of one Deployment, as they are made, scaled and deleted while it is looked at."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from batkube.controllers.conditions import condition
from batkube.controllers.controller import NORMAL, WARNING
from batkube.controllers.deployment.conditions import PROGRESSING, new_condition, set_condition
from batkube.controllers.deployment.limits import history_limit, progress_deadline, replicas
from batkube.controllers.deployment.revisions import (
    REVISION,
    annotate_new,
    annotate_size,
    by_age,
    find_new,
    highest_revision,
    revision,
    same_template,
    sizes,
)
from batkube.controllers.deployment.scaling import size_of_new
from batkube.controllers.owners import is_controlled_by, key_of, reference_to, unless_gone
from batkube.controllers.pods import namespace_goes
from batkube.controllers.replica_set import REPLICA_SETS
from batkube.controllers.templates.hash import POD_TEMPLATE_HASH, template_hash
from batkube.kube.apimachinery.deep_copy import deep_copy
from batkube.kube.apimachinery.status import ApiError

if TYPE_CHECKING:
    from batkube.controllers.deployment.controller import DeploymentController

JSON = dict[str, Any]

_LONGEST_NAME = 253
_ALREADY_EXISTS = "AlreadyExists"


class ReplicaSets:
    """``owned``: those of the Deployment, as they were when it began to be looked at."""

    def __init__(self, controller: "DeploymentController", deployment: JSON, owned: Sequence[JSON]) -> None:
        self._controller = controller
        self._client = controller.client
        self._cluster = controller.cluster
        self._deployment = deployment
        self._owned = list(owned)
        self._latest: dict[str, JSON] = {}
        self.new: JSON | None = None
        """The one with the Deployment's template."""

    @property
    def old(self) -> list[JSON]:
        """All but the new one, the oldest first."""
        new = find_new(self._deployment, self._owned)
        return [each for each in by_age(self._owned) if each is not new]

    @property
    def every(self) -> list[JSON]:
        """The old ones and the new one."""
        return [*self.old, *([self.new] if self.new is not None else [])]

    def latest(self, replica_set: JSON) -> JSON:
        """Return a ReplicaSet as it is once it was scaled."""
        return self._latest.get(replica_set["metadata"]["name"], replica_set)

    def find(self, *, create: bool) -> JSON | None:
        """Find the new one, with its revision brought up to date; make it if there is none and ``create``."""
        number = highest_revision(self.old) + 1
        found = find_new(self._deployment, self._owned)
        if found is not None:
            self.new = self._brought_up_to_date(found, number)
        elif create:
            self.new = self._made(number)
        return self.new

    def _brought_up_to_date(self, found: JSON, number: int) -> JSON:
        deployment, changed = self._deployment, deep_copy(found)
        seconds = deployment["spec"].get("minReadySeconds", 0)
        annotated = annotate_new(deployment, changed, number, exists=True)
        if annotated or changed["spec"].get("minReadySeconds", 0) != seconds:
            changed["spec"]["minReadySeconds"] = seconds
            return self._client.update(REPLICA_SETS, changed)
        needed = self._set_revision(changed["metadata"]["annotations"].get(REVISION, ""))
        status: JSON = deployment.setdefault("status", {})
        if progress_deadline(deployment) is not None and condition(status, PROGRESSING) is None:
            text = f'Found new replica set "{changed["metadata"]["name"]}"'
            set_condition(status, new_condition(self._cluster, PROGRESSING, "True", "FoundNewReplicaSet", text))
            needed = True
        if needed:
            self._tell_deployment()
        return changed

    def _made(self, number: int) -> JSON:
        deployment = self._deployment
        status: JSON = deployment.setdefault("status", {})
        template = deep_copy(deployment["spec"]["template"])
        code = template_hash(template, status.get("collisionCount"))
        labels = {**(template["metadata"].get("labels") or {}), POD_TEMPLATE_HASH: code}
        template["metadata"]["labels"] = labels
        selector = deep_copy(deployment["spec"]["selector"])
        selector["matchLabels"] = {**(selector.get("matchLabels") or {}), POD_TEMPLATE_HASH: code}
        metadata = deployment["metadata"]
        new: JSON = {
            "metadata": {
                "name": f"{metadata['name'][: _LONGEST_NAME - 1 - len(code)]}-{code}",
                "namespace": metadata["namespace"],
                "ownerReferences": [reference_to(deployment)],
                "labels": dict(labels),
            },
            "spec": {
                "replicas": 0,
                "minReadySeconds": deployment["spec"].get("minReadySeconds", 0),
                "selector": selector,
                "template": template,
            },
        }
        size = new["spec"]["replicas"] = size_of_new(deployment, self._owned, 0)
        annotate_new(deployment, new, number, exists=False)
        made, is_new = self._create(new)
        name = made["metadata"]["name"]
        if is_new and size > 0:
            self._event("ScalingReplicaSet", f"Scaled up replica set {name} from 0 to {size}")
        needed = self._set_revision(str(number))
        if is_new and progress_deadline(deployment) is not None:
            text = f'Created new replica set "{name}"'
            set_condition(status, new_condition(self._cluster, PROGRESSING, "True", "NewReplicaSetCreated", text))
            needed = True
        if needed:
            self._tell_deployment()
        return made

    def _create(self, new: JSON) -> tuple[JSON, bool]:
        """Create the ReplicaSet; return the stored one, and whether it is new. Raises ApiError."""
        deployment, metadata = self._deployment, new["metadata"]
        try:
            return self._client.create(REPLICA_SETS, new, metadata["namespace"]), True
        except ApiError as error:
            if error.reason == _ALREADY_EXISTS:
                there = self._cluster.get(REPLICA_SETS, metadata["namespace"], metadata["name"])
                same = there is not None and same_template(deployment["spec"]["template"], there["spec"]["template"])
                if there is not None and same and is_controlled_by(there, deployment):
                    return there, False
                deployment["status"]["collisionCount"] = deployment["status"].get("collisionCount", 0) + 1
                self._tell_deployment()
            elif not namespace_goes(error):
                text = f'Failed to create new replica set "{metadata["name"]}": {error.message}'
                if progress_deadline(deployment) is not None:
                    told = new_condition(self._cluster, PROGRESSING, "False", "ReplicaSetCreateError", text)
                    set_condition(deployment["status"], told)
                    self._tell_deployment()
                self._controller.recorder.event(deployment, WARNING, "ReplicaSetCreateError", text)
            raise

    def _set_revision(self, text: str) -> bool:
        metadata = self._deployment["metadata"]
        annotations = metadata.get("annotations") or {}
        metadata["annotations"] = {**annotations, REVISION: text}
        return annotations.get(REVISION) != text

    def _tell_deployment(self) -> None:
        self._client.update("deployments.apps", self._deployment, "status")

    def _event(self, reason: str, text: str) -> None:
        self._controller.recorder.event(self._deployment, NORMAL, reason, text)

    def scale(self, replica_set: JSON, size: int, *, forced: bool = False) -> bool:
        """Bring a ReplicaSet to a size; tell whether that has changed it.

        ``forced``: the annotations with the Deployment's size are renewed in any case.
        """
        before = replicas(replica_set)
        if before == size and not forced:
            return False
        annotations = replica_set["metadata"].get("annotations") or {}
        if before == size and all(annotations.get(key) == value for key, value in sizes(self._deployment).items()):
            return False
        changed = deep_copy(replica_set)
        changed["spec"]["replicas"] = size
        annotate_size(self._deployment, changed)
        name = replica_set["metadata"]["name"]
        self._latest[name] = self._client.update(REPLICA_SETS, changed)
        if before == size:
            return False
        way = "up" if before < size else "down"
        self._event("ScalingReplicaSet", f"Scaled {way} replica set {name} from {before} to {size}")
        return True

    def clean_up(self) -> None:
        """Delete the oldest ReplicaSets of which more are left than are to be kept."""
        limit = history_limit(self._deployment)
        if limit is None:
            return
        alive = [each for each in self.old if not each["metadata"].get("deletionTimestamp")]
        by_revision = sorted(by_age(alive), key=lambda each: revision(each) or 0)
        for each in by_revision[: max(len(alive) - limit, 0)]:
            status = each.get("status", {})
            behind = each["metadata"]["generation"] > status.get("observedGeneration", 0)
            if status.get("replicas", 0) or replicas(each) or behind:
                continue
            with unless_gone():
                self._client.delete(REPLICA_SETS, *key_of(each))
