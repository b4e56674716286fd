"""The claims of volumes, and the volumes that fit them (k8s.io/component-helpers/storage/volume)."""

from collections.abc import Iterable
from typing import Any

from batkube.controllers.cluster import Cluster
from batkube.kube.apimachinery.label_selectors import matches
from batkube.kube.apimachinery.quantity import Quantity

JSON = dict[str, Any]

CLAIMS, VOLUMES, CLASSES = "persistentvolumeclaims", "persistentvolumes", "storageclasses.storage.k8s.io"

BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
"""The annotation by which a scheduler asks for a volume on a node."""
_CLASS = "volume.beta.kubernetes.io/storage-class"


def annotations(obj: JSON) -> dict[str, str]:
    """Return the annotations of an object."""
    return obj["metadata"].get("annotations") or {}


def class_name(obj: JSON) -> str:
    """Return the name of the StorageClass of a claim or a volume; empty for none."""
    return annotations(obj).get(_CLASS) or str(obj["spec"].get("storageClassName") or "")


def waits_for_scheduler(cluster: Cluster, claim: JSON) -> bool:
    """Tell whether a scheduler is to choose the node first: WaitForFirstConsumer, and none is chosen."""
    found = cluster.get(CLASSES, "", class_name(claim))
    return (
        found is not None
        and found.get("volumeBindingMode") == "WaitForFirstConsumer"
        and SELECTED_NODE not in annotations(claim)
    )


def is_bound_to(volume: JSON, claim: JSON) -> bool:
    """Tell whether a volume is bound to a claim, or kept for it."""
    reference, metadata = volume["spec"].get("claimRef"), claim["metadata"]
    if reference is None or [reference.get(name) for name in ("name", "namespace")] != [
        metadata["name"],
        metadata["namespace"],
    ]:
        return False
    return reference.get("uid", "") in ("", metadata["uid"])


def best_volume(volumes: Iterable[JSON], claim: JSON, *, kept_only: bool) -> JSON | None:
    """Return the volume that is kept for a claim, else the smallest that fits it.

    ``kept_only``: only one that is kept for it, as a scheduler chooses among the others.
    """
    spec = claim["spec"]
    wanted = _storage((spec.get("resources") or {}).get("requests"))
    best: JSON | None = None
    for volume in volumes:
        offered = volume["spec"]
        if offered.get("claimRef") is not None and not is_bound_to(volume, claim):
            continue
        size = _storage(offered.get("capacity"))
        if size < wanted or "deletionTimestamp" in volume["metadata"]:
            continue
        if any(
            offered.get(name, default) != spec.get(name, default)
            for name, default in (("volumeMode", "Filesystem"), ("volumeAttributesClassName", ""))
        ):
            continue
        if is_bound_to(volume, claim):
            return volume
        if kept_only or volume.get("status", {}).get("phase") != "Available":
            continue
        if spec.get("selector") is not None and not matches(spec["selector"], volume["metadata"].get("labels") or {}):
            continue
        if class_name(volume) != class_name(claim) or not {*spec.get("accessModes", ())} <= {
            *offered.get("accessModes", ())
        }:
            continue
        if best is None or size < _storage(best["spec"].get("capacity")):
            best = volume
    return best


def reference_to(claim: JSON) -> JSON:
    """Return the reference to a claim that a volume has."""
    metadata = claim["metadata"]
    return {
        "kind": "PersistentVolumeClaim",
        "apiVersion": "v1",
        **{name: metadata[name] for name in ("namespace", "name", "uid", "resourceVersion")},
    }


def claims_of(pod: JSON) -> set[str]:
    """Return the names of the claims that a pod uses, those of its ephemeral volumes included."""
    found = set()
    for volume in pod["spec"].get("volumes") or ():
        if (used := volume.get("persistentVolumeClaim")) is not None:
            found.add(str(used["claimName"]))
        elif volume.get("ephemeral") is not None:
            found.add(f"{pod['metadata']['name']}-{volume['name']}")
    return found


def _storage(amounts: JSON | None) -> Quantity:
    return Quantity.parse(str((amounts or {}).get("storage", "0")))
