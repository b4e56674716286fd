"""Claims of devices (DRA): the part of the resourceclaim controller, which no scheduler plays.

A pod that names a template gets a claim of its own. When a pod has ended its claims are freed: the scheduler has
allocated them and reserved them for the pod, and a controller has to take that back (kube-controller-manager's
``pkg/controller/resourceclaim``, of Kubernetes 1.36).
"""

from collections.abc import Iterator
from typing import Any

from batkube.controllers.cluster import Key
from batkube.controllers.controller import WARNING, Change, Controller
from batkube.controllers.flags import Flags
from batkube.controllers.owners import controller_of, remove_finalizers
from batkube.controllers.pods import is_deleted, is_ended
from batkube.kube.apimachinery.status import ApiError
from batkube.kube.server import ApiServer
from batkube.kube.storage.store import DELETED

JSON = dict[str, Any]

CLAIMS = "resourceclaims.resource.k8s.io"
TEMPLATES = "resourceclaimtemplates.resource.k8s.io"
CLASSES = "deviceclasses.resource.k8s.io"
CLASS_PREFIX = "deviceclass.resource.kubernetes.io/"
"""The prefix that makes the name of a DeviceClass the extended resource that it stands for in any case."""
CLAIM_NAME = "resource.kubernetes.io/pod-claim-name"
"""The annotation of a claim that was made for a pod: the name of the claim within the pod."""
PROTECTION = "resource.kubernetes.io/delete-protection"
"""The finalizer of a claim that is allocated."""
_PODS = "pods"
_LONGEST_PREFIX = 57


class ResourceClaimController(Controller):
    """Makes the claims that pods need, and frees those that no pod needs any more."""

    name = "resource-claim-controller"
    component = "resource_claim"
    wakes = ("pods", CLAIMS)
    follows = ("pods", CLAIMS, TEMPLATES)

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._without_template: dict[Key, None] = {}
        """The pods whose claims could not be made, in the order of the changes."""

    @classmethod
    def wanted(cls, obj: JSON, flags: Flags) -> bool:
        if obj["kind"] != "Pod":
            return True
        return bool(obj["spec"].get("resourceClaims")) or "extendedResourceClaimStatus" in obj.get("status", {})

    def changed(self, change: Change) -> None:
        storage, key = change.resource.storage, change.version.key
        if storage == CLAIMS and change.type != DELETED:
            self.queue.add((CLAIMS, key))
        elif storage == TEMPLATES and change.type != DELETED:
            for each in self._without_template:
                self.queue.add((_PODS, each))
        elif storage == _PODS:
            pod = change.version.obj
            if change.type == DELETED or _is_done(pod):
                self._without_template.pop(key, None)
                for claim in _claims_of(pod):
                    self.queue.add((CLAIMS, (key[0], claim)))
            elif change.before is None and pod["spec"].get("resourceClaims"):
                self.queue.add((_PODS, key))

    def sync(self, key: tuple[str, Key]) -> None:
        resource, of = key
        if resource == _PODS:
            self._sync_pod(of)
        else:
            self._sync_claim(of)

    def _sync_pod(self, key: Key) -> None:
        pod = self.cluster.get("pods", *key)
        if pod is None or is_ended(pod) or is_deleted(pod):
            return
        statuses = list(pod["status"].get("resourceClaimStatuses") or ())
        made = {status["name"] for status in statuses}
        try:
            for asked in pod["spec"]["resourceClaims"]:
                template = asked.get("resourceClaimTemplateName")
                if template and asked["name"] not in made:
                    claim = self.client.create(CLAIMS, self._claim(pod, asked["name"], template), key[0])
                    statuses.append({"name": asked["name"], "resourceClaimName": claim["metadata"]["name"]})
        except ApiError as error:
            self._without_template[key] = None
            self.cluster.warn(f"pod {key[1]}, claim {asked['name']}: {error.message}")
            why = f"PodResourceClaim {asked['name']}: {error.message}"
            self.recorder.event(pod, WARNING, "FailedResourceClaimCreation", why)
        else:
            self._without_template.pop(key, None)
        if len(statuses) > len(made):
            status = {**pod["status"], "resourceClaimStatuses": statuses}
            self.client.update("pods", {**pod, "status": status}, "status")

    def _claim(self, pod: JSON, name: str, template_name: str) -> JSON:
        """Return a claim for the pod. Raises ApiError if there is no such template."""
        metadata = pod["metadata"]
        template = self.cluster.server.get(TEMPLATES, template_name, metadata["namespace"])["spec"]
        given = template.get("metadata") or {}
        owner = {"apiVersion": "v1", "kind": "Pod", "name": metadata["name"], "uid": metadata["uid"]}
        return {
            "metadata": {
                "generateName": _prefix(metadata["name"], name),
                "namespace": metadata["namespace"],
                "labels": given.get("labels") or {},
                "annotations": {**(given.get("annotations") or {}), CLAIM_NAME: name},
                "ownerReferences": [{**owner, "controller": True}],
            },
            "spec": template["spec"],
        }

    def _sync_claim(self, key: Key) -> None:
        claim = self.cluster.get(CLAIMS, *key)
        if claim is None:
            return
        status = claim.get("status") or {}
        reserved = status.get("reservedFor") or []
        remaining = [one for one in reserved if not self._is_over(one, key[0])]
        protected = PROTECTION in (claim["metadata"].get("finalizers") or ())
        deleted = bool(claim["metadata"].get("deletionTimestamp"))
        if len(remaining) < len(reserved) or (protected and deleted and not remaining):
            status = {**status, "reservedFor": remaining}
            if protected and not remaining:
                status.pop("allocation", None)
            claim = self.client.update(CLAIMS, {**claim, "status": status}, "status")
            if protected and not status.get("allocation"):
                self.client.modify(CLAIMS, *key, lambda found: remove_finalizers(found["metadata"], [PROTECTION]))
        if not (remaining or deleted) and self._owner_is_over(claim):
            self.client.delete(CLAIMS, *key)

    def _is_over(self, consumer: JSON, namespace: str) -> bool:
        """Tell whether the consumer is a pod that runs no more."""
        if consumer.get("apiGroup") or consumer["resource"] != "pods":
            return False
        return self._pod_is_over(namespace, consumer["name"], consumer["uid"])

    def _owner_is_over(self, claim: JSON) -> bool:
        """Tell whether the claim was made for a pod that runs no more."""
        owner = controller_of(claim)
        if owner is None or (owner["apiVersion"], owner["kind"]) != ("v1", "Pod"):
            return False
        return self._pod_is_over(claim["metadata"]["namespace"], owner["name"], owner["uid"])

    def _pod_is_over(self, namespace: str, name: str, uid: str) -> bool:
        pod = self.cluster.get("pods", namespace, name)
        return pod is None or pod["metadata"]["uid"] != uid or _is_done(pod)


def is_device(server: ApiServer, resource: str) -> bool:
    """Tell whether a DeviceClass stands for the extended resource: a scheduler may claim a device in its place."""
    return any(
        resource in (device_class["spec"].get("extendedResourceName"), CLASS_PREFIX + device_class["metadata"]["name"])
        for device_class in server.store.list(CLASSES)
    )


def _is_done(pod: JSON) -> bool:
    """Tell whether the pod has ended, or is deleted and on no node."""
    return is_ended(pod) or (is_deleted(pod) and not pod["spec"].get("nodeName"))


def _claims_of(pod: JSON) -> Iterator[str]:
    """Yield the names of the pod's claims.

    These are its own, those made for it, and the one that a scheduler has made for extended resources that are devices.
    """
    status = pod.get("status", {})
    for one in (*(pod["spec"].get("resourceClaims") or ()), *(status.get("resourceClaimStatuses") or ())):
        if one.get("resourceClaimName"):
            yield one["resourceClaimName"]
    if extended := status.get("extendedResourceClaimStatus"):
        yield extended["resourceClaimName"]


def _prefix(pod: str, claim: str) -> str:
    """Return the prefix for a generated name. Both parts are shortened if they are too long."""
    whole = f"{pod}-{claim}-"
    if len(whole) <= _LONGEST_PREFIX:
        return whole
    return f"{pod[: len(pod) * _LONGEST_PREFIX // len(whole)]}-{claim[: len(claim) * _LONGEST_PREFIX // len(whole)]}"
