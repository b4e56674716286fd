"""Volumes, claims, storage classes, CSI drivers."""

from __future__ import annotations

from typing import Any

from ..ages import Ages
from .text import JSON, NONE, UNSET, Cells, age, joined, name, spec, status

_MODES = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}
_CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
_DEFAULT_CLASS = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")


def _access_modes(modes: Any) -> str:
    return ",".join(short for mode, short in _MODES.items() if mode in (modes or ()))


def _storage_class(obj: JSON) -> str:
    annotations = obj["metadata"].get("annotations") or {}
    return str(annotations.get(_CLASS_ANNOTATION, spec(obj).get("storageClassName") or ""))


def _phase(obj: JSON) -> str:
    return "Terminating" if obj["metadata"].get("deletionTimestamp") else status(obj).get("phase", "")


def volume(obj: JSON, ages: Ages) -> list[Any]:
    its_spec = spec(obj)
    claim = its_spec.get("claimRef")
    return [
        name(obj),
        (its_spec.get("capacity") or {}).get("storage", "0"),
        _access_modes(its_spec.get("accessModes")),
        its_spec.get("persistentVolumeReclaimPolicy", ""),
        _phase(obj),
        f"{claim.get('namespace', '')}/{claim.get('name', '')}" if claim else "",
        _storage_class(obj),
        its_spec.get("volumeAttributesClassName", UNSET),
        status(obj).get("reason", ""),
        age(obj, ages),
        its_spec.get("volumeMode", UNSET),
    ]


def claim(obj: JSON, ages: Ages) -> list[Any]:
    its_spec, its_status = spec(obj), status(obj)
    bound = bool(its_spec.get("volumeName"))
    return [
        name(obj),
        _phase(obj),
        its_spec.get("volumeName", ""),
        (its_status.get("capacity") or {}).get("storage", "0") if bound else "",
        _access_modes(its_status.get("accessModes")) if bound else "",
        _storage_class(obj),
        its_spec.get("volumeAttributesClassName", UNSET),
        age(obj, ages),
        its_spec.get("volumeMode", UNSET),
    ]


def storage_class(obj: JSON, ages: Ages) -> list[Any]:
    annotations = obj["metadata"].get("annotations") or {}
    default = " (default)" if any(annotations.get(key) == "true" for key in _DEFAULT_CLASS) else ""
    return [
        name(obj) + default,
        obj.get("provisioner", ""),
        obj.get("reclaimPolicy") or "Delete",
        obj.get("volumeBindingMode") or "Immediate",
        bool(obj.get("allowVolumeExpansion")),
        age(obj, ages),
    ]


def attributes_class(obj: JSON, ages: Ages) -> list[Any]:
    return [name(obj), obj.get("driverName", ""), age(obj, ages)]


def attachment(obj: JSON, ages: Ages) -> list[Any]:
    its_spec = spec(obj)
    source = (its_spec.get("source") or {}).get("persistentVolumeName") or ""
    attached = bool(status(obj).get("attached"))
    return [name(obj), its_spec.get("attacher", ""), source, its_spec.get("nodeName", ""), attached, age(obj, ages)]


def csi_node(obj: JSON, ages: Ages) -> list[Any]:
    return [name(obj), len(spec(obj).get("drivers") or ()), age(obj, ages)]


def csi_driver(obj: JSON, ages: Ages) -> list[Any]:
    its_spec = spec(obj)
    requests = its_spec.get("tokenRequests")
    return [
        name(obj),
        its_spec.get("attachRequired", True),
        its_spec.get("podInfoOnMount", False),
        its_spec.get("storageCapacity", False),
        UNSET if requests is None else ",".join(request.get("audience", "") for request in requests),
        its_spec.get("requiresRepublish", False),
        joined(its_spec.get("volumeLifecycleModes")) or NONE,
        age(obj, ages),
    ]


CELLS: dict[str, Cells] = {
    "CSIDriver": csi_driver,
    "CSINode": csi_node,
    "PersistentVolume": volume,
    "PersistentVolumeClaim": claim,
    "StorageClass": storage_class,
    "VolumeAttachment": attachment,
    "VolumeAttributesClass": attributes_class,
}
