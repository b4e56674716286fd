"""The volumes of claims (``pkg/controller/volume/persistentvolume``), and volumes made for claims.

What a driver's provisioner does in a cluster is played, too: a claim of a StorageClass gets a volume that is made for
it, at once, or on the node that a scheduler has chosen. It takes no time, and there is always room.
"""

from batkube.controllers.controller import JSON, NORMAL, WARNING, Change, Controller
from batkube.controllers.owners import key_of
from batkube.controllers.volumes.claims import (
    BIND_COMPLETED,
    BOUND_BY_CONTROLLER,
    CLAIMS,
    CLASSES,
    VOLUMES,
    annotations,
    best_volume,
    claims_of,
    class_name,
    is_bound_to,
    reference_to,
    waits_for_scheduler,
)
from batkube.controllers.volumes.provisioning import BY_CLAIM, made_for, provisioner_of, refusal
from batkube.kube.storage.store import DELETED

Key = tuple[str, str, str]
"""Kind, namespace and name."""
RESYNC: Key = ("", "", "")


class VolumeBinder(Controller):
    """Binds claims and volumes, makes volumes for claims, and takes volumes away whose claim is gone."""

    name = "persistent-volume-binder"
    component = "persistentvolume-controller"
    wakes = (CLAIMS, VOLUMES)
    follows = (CLAIMS, VOLUMES, CLASSES)

    def changed(self, change: Change) -> None:
        obj = change.version.obj
        if obj["kind"] == "StorageClass":
            self._look_again()
        elif obj["kind"] == "PersistentVolume":
            if change.type != DELETED:
                self.queue.add((VOLUMES, *key_of(obj)))
            reference = obj["spec"].get("claimRef")
            if change.type == DELETED and reference is not None:
                self.queue.add((CLAIMS, reference.get("namespace", ""), reference.get("name", "")))
            elif reference is None and change.type != DELETED:
                self._look_again()
        elif change.type != DELETED:
            self.queue.add((CLAIMS, *key_of(obj)))
        elif name := obj["spec"].get("volumeName"):
            self.queue.add((VOLUMES, "", name))

    def _look_again(self) -> None:
        """Look at the claims without a volume at the next resync, as a volume that comes wakes no claim."""
        self.queue.add_at_next(RESYNC, self.cluster.flags.pvclaimbinder_sync_period)

    def sync(self, key: Key) -> None:
        if key == RESYNC:
            for claim in self.cluster.list(CLAIMS):
                if BIND_COMPLETED not in annotations(claim):
                    self._sync_unbound(claim)
            return
        kind, namespace, name = key
        obj = self.cluster.get(kind, namespace, name)
        if obj is None:
            return
        if kind == VOLUMES:
            self._sync_volume(obj)
        elif BIND_COMPLETED in annotations(obj):
            self._sync_bound(obj)
        else:
            self._sync_unbound(obj)

    def _sync_unbound(self, claim: JSON) -> None:
        name = claim["spec"].get("volumeName")
        if name:
            volume = self.cluster.get(VOLUMES, "", name)
            if volume is not None and (volume["spec"].get("claimRef") is None or is_bound_to(volume, claim)):
                self._bind(volume, claim)
            return
        waits = waits_for_scheduler(self.cluster, claim)
        volume = best_volume(self.cluster.list(VOLUMES), claim, kept_only=waits)
        if volume is not None:
            self._bind(volume, claim)
        elif waits:
            self._tell_who_is_waited_for(claim)
        elif class_name(claim):
            self._provision(claim)
        else:
            message = "no persistent volumes available for this claim and no storage class is set"
            self.recorder.event(claim, NORMAL, "FailedBinding", message)

    def _tell_who_is_waited_for(self, claim: JSON) -> None:
        metadata = claim["metadata"]
        pods = [
            pod["metadata"]["name"]
            for pod in self.cluster.list("pods", metadata["namespace"])
            if not pod["spec"].get("nodeName") and metadata["name"] in claims_of(pod)
        ]
        if pods:
            message = f"waiting for pod{'s' if len(pods) > 1 else ''} {','.join(pods)} to be scheduled"
            self.recorder.event(claim, NORMAL, "WaitForPodScheduled", message)
        else:
            message = "waiting for first consumer to be created before binding"
            self.recorder.event(claim, NORMAL, "WaitForFirstConsumer", message)

    def _provision(self, claim: JSON) -> None:
        found = self.cluster.get(CLASSES, "", class_name(claim))
        why = refusal(found, class_name(claim))
        if found is None or why is not None:
            self.recorder.event(claim, WARNING, "ProvisioningFailed", why or "")
            return
        provisioner = provisioner_of(found)
        if any(annotations(claim).get(name) != provisioner for name in BY_CLAIM):
            told = dict.fromkeys(BY_CLAIM, provisioner)
            claim = self.client.modify(CLAIMS, *key_of(claim), lambda obj: _annotate(obj, told))
        message = (
            f"Waiting for a volume to be created either by the external provisioner '{provisioner}' or manually by the "
            "system administrator. If volume creation is delayed, please verify that the provisioner is running and "
            "correctly registered."
        )
        self.recorder.event(claim, NORMAL, "ExternalProvisioning", message)
        self.client.create(VOLUMES, made_for(self.cluster, claim, found))

    def _bind(self, volume: JSON, claim: JSON) -> None:
        """Bind the two, as far as they are not: the volume first, so that nobody else takes it."""
        if volume["spec"].get("claimRef", {}).get("uid") != claim["metadata"]["uid"]:
            ours = volume["spec"].get("claimRef") is None

            def take(obj: JSON) -> None:
                obj["spec"]["claimRef"] = reference_to(claim)
                if ours:
                    _annotate(obj, {BOUND_BY_CONTROLLER: "yes"})

            volume = self.client.modify(VOLUMES, *key_of(volume), take)
        self._set_phase(volume, "Bound")
        if claim["spec"].get("volumeName") != volume["metadata"]["name"] or BIND_COMPLETED not in annotations(claim):
            chosen = not claim["spec"].get("volumeName")

            def complete(obj: JSON) -> None:
                obj["spec"]["volumeName"] = volume["metadata"]["name"]
                _annotate(obj, {BIND_COMPLETED: "yes"} | ({BOUND_BY_CONTROLLER: "yes"} if chosen else {}))

            claim = self.client.modify(CLAIMS, *key_of(claim), complete)
        spec = volume["spec"]
        status = {"phase": "Bound", "accessModes": spec["accessModes"], "capacity": spec["capacity"]}
        if claim.get("status", {}) | status != claim.get("status", {}):
            self.client.modify(
                CLAIMS, *key_of(claim), lambda obj: obj.update(status=obj.get("status", {}) | status), "status"
            )

    def _sync_bound(self, claim: JSON) -> None:
        name = claim["spec"].get("volumeName", "")
        volume = self.cluster.get(VOLUMES, "", name) if name else None
        if volume is None:
            self._lose(claim, "ClaimLost", "Bound claim has lost its PersistentVolume. Data on the volume is lost!")
        elif volume["spec"].get("claimRef") is None or is_bound_to(volume, claim):
            self._bind(volume, claim)
        else:
            message = "Two claims are bound to the same volume, this one is bound incorrectly"
            self._lose(claim, "ClaimMisbound", message)

    def _lose(self, claim: JSON, reason: str, message: str) -> None:
        if claim.get("status", {}).get("phase") != "Lost":
            self.client.modify(CLAIMS, *key_of(claim), lambda obj: obj.update(status={"phase": "Lost"}), "status")
            self.recorder.event(claim, WARNING, reason, message)

    def _sync_volume(self, volume: JSON) -> None:
        reference = volume["spec"].get("claimRef")
        if reference is None or not reference.get("uid"):
            self._set_phase(volume, "Available")
            return
        claim = self.cluster.get(CLAIMS, reference.get("namespace", ""), reference.get("name", ""))
        if claim is None or claim["metadata"]["uid"] != reference["uid"]:
            self._set_phase(volume, "Released")
            if volume["spec"].get("persistentVolumeReclaimPolicy") == "Delete":
                self.client.delete(VOLUMES, *key_of(volume), uid=volume["metadata"]["uid"])
        elif not claim["spec"].get("volumeName"):
            self.queue.add((CLAIMS, *key_of(claim)))
        elif claim["spec"]["volumeName"] == volume["metadata"]["name"]:
            self._set_phase(volume, "Bound")

    def _set_phase(self, volume: JSON, phase: str) -> None:
        if volume.get("status", {}).get("phase") == phase:
            return

        def change(obj: JSON) -> None:
            obj["status"] = {**obj.get("status", {}), "phase": phase, "lastPhaseTransitionTime": self.cluster.text()}

        self.client.modify(VOLUMES, *key_of(volume), change, "status")


def _annotate(obj: JSON, added: dict[str, str]) -> None:
    obj["metadata"]["annotations"] = {**(obj["metadata"].get("annotations") or {}), **added}
