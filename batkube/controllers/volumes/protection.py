"""Claims and volumes that are deleted and still used (``pkg/controller/volume/pvcprotection``, ``pvprotection``)."""

from batkube.controllers.controller import JSON, Change, Controller
from batkube.controllers.owners import key_of, remove_finalizers, waits_for
from batkube.controllers.volumes.claims import CLAIMS, VOLUMES, claims_of

CLAIM_FINALIZER, VOLUME_FINALIZER = "kubernetes.io/pvc-protection", "kubernetes.io/pv-protection"


class _Protection(Controller):
    """Lets an object go that is deleted, once nobody uses it."""

    def _let_go(self, resource: str, obj: JSON, finalizer: str) -> None:
        self.client.modify(resource, *key_of(obj), lambda found: remove_finalizers(found["metadata"], [finalizer]))


class ClaimProtection(_Protection):
    """Keeps claims that pods with a node use."""

    name = "pvc-protection-controller"
    wakes = (CLAIMS,)
    follows = (CLAIMS, "pods")

    def changed(self, change: Change) -> None:
        obj = change.version.obj
        namespace = obj["metadata"]["namespace"]
        names = claims_of(obj) if obj["kind"] == "Pod" else [obj["metadata"]["name"]]
        for name in sorted(names):
            self.queue.add((namespace, name))

    def sync(self, key: tuple[str, str]) -> None:
        namespace, name = key
        claim = self.cluster.get(CLAIMS, namespace, name)
        if claim is None or not waits_for(claim["metadata"], CLAIM_FINALIZER):
            return
        pods = self.cluster.list("pods", namespace)
        if not any(pod["spec"].get("nodeName") and name in claims_of(pod) for pod in pods):
            self._let_go(CLAIMS, claim, CLAIM_FINALIZER)


class VolumeProtection(_Protection):
    """Keeps volumes that are bound."""

    name = "pv-protection-controller"
    wakes = (VOLUMES,)
    follows = (VOLUMES,)

    def changed(self, change: Change) -> None:
        self.queue.add(change.version.obj["metadata"]["name"])

    def sync(self, key: str) -> None:
        volume = self.cluster.get(VOLUMES, "", key)
        if (
            volume is not None
            and waits_for(volume["metadata"], VOLUME_FINALIZER)
            and volume["status"].get("phase") != "Bound"
        ):
            self._let_go(VOLUMES, volume, VOLUME_FINALIZER)
