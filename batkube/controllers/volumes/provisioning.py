"""The volumes that are made for claims, as provisioners of CSI drivers do (kubernetes-csi/external-provisioner)."""

from typing import Any

from batkube.controllers.cluster import Cluster
from batkube.controllers.volumes.claims import SELECTED_NODE, annotations, class_name, reference_to

JSON = dict[str, Any]

BY_CLAIM = ("volume.beta.kubernetes.io/storage-provisioner", "volume.kubernetes.io/storage-provisioner")
"""The annotations of a claim that name its provisioner."""
BY_VOLUME = "pv.kubernetes.io/provisioned-by"
ZONE = "topology.kubernetes.io/zone"
_NONE = "kubernetes.io/no-provisioner"


def provisioner_of(storage_class: JSON) -> str:
    """Return who makes the volumes of a StorageClass."""
    return str(storage_class["provisioner"])


def refusal(storage_class: JSON | None, name: str) -> str | None:
    """Return why no volume is made for a claim of this class, in kube-controller-manager's words; None if one is."""
    if storage_class is None:
        return f'storageclass.storage.k8s.io "{name}" not found'
    if provisioner_of(storage_class) == _NONE:
        return f"no volume plugin matched name: {_NONE}"
    return None


def made_for(cluster: Cluster, claim: JSON, storage_class: JSON) -> JSON:
    """Return a new volume, kept for the claim: of the size that it asks for, in the zone of the node that is chosen."""
    spec, name = claim["spec"], f"pvc-{claim['metadata']['uid']}"
    volume: JSON = {
        "accessModes": spec["accessModes"],
        "capacity": {"storage": spec["resources"]["requests"]["storage"]},
        "claimRef": reference_to(claim),
        "csi": {"driver": provisioner_of(storage_class), "volumeHandle": name},
        "persistentVolumeReclaimPolicy": storage_class.get("reclaimPolicy", "Delete"),
        "storageClassName": class_name(claim),
        "volumeMode": spec.get("volumeMode", "Filesystem"),
    }
    if options := storage_class.get("mountOptions"):
        volume["mountOptions"] = options
    node = cluster.get("nodes", "", annotations(claim).get(SELECTED_NODE, ""))
    if node is not None and (zone := (node["metadata"].get("labels") or {}).get(ZONE)):
        term = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}
        volume["nodeAffinity"] = {"required": {"nodeSelectorTerms": [term]}}
    metadata = {"name": name, "annotations": {BY_VOLUME: provisioner_of(storage_class)}}
    return {"metadata": metadata, "spec": volume}
