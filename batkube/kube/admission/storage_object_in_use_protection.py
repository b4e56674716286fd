"""StorageObjectInUseProtection: deleted volumes, claims and classes stay until they are no longer used."""

from __future__ import annotations

from .plugin import Attributes, Plugin

_FINALIZERS = {
    "persistentvolumeclaims": "kubernetes.io/pvc-protection",
    "persistentvolumes": "kubernetes.io/pv-protection",
    "volumeattributesclasses.storage.k8s.io": "kubernetes.io/vac-protection",
}


class StorageObjectInUseProtection(Plugin):
    name = "StorageObjectInUseProtection"
    handles = tuple(_FINALIZERS)

    def admit(self, write: Attributes) -> None:
        if write.old is not None:
            return
        finalizer, metadata = _FINALIZERS[write.context.resource.storage], write.obj["metadata"]
        finalizers = metadata.get("finalizers") or []
        if finalizer not in finalizers:
            metadata["finalizers"] = [*finalizers, finalizer]
