"""PersistentVolumeClaimResize: only bound claims grow, and only those of a class that allows it."""

from __future__ import annotations

from ..apimachinery.quantity import Quantity
from ..apimachinery.status import ApiError
from ..kinds.storage.storage_classes import STORAGE
from .plugin import Attributes, Plugin


class PersistentVolumeClaimResize(Plugin):
    name = "PersistentVolumeClaimResize"
    handles = ("persistentvolumeclaims",)

    def validate(self, write: Attributes) -> None:
        new, old = write.obj, write.old
        if old is None:
            return
        after, before = (Quantity.parse(claim["spec"]["resources"]["requests"]["storage"]) for claim in (new, old))
        if not before < after:
            return
        name, class_name = new["metadata"]["name"], new["spec"].get("storageClassName")
        found = write.context.store.get(STORAGE, "", class_name) if class_name else None
        why = ""
        if (old.get("status") or {}).get("phase") != "Bound":
            why = "Only bound persistent volume claims can be expanded"
        elif found is None or not found.get("allowVolumeExpansion"):
            why = (
                "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must "
                "support resize"
            )
        if why:
            raise ApiError.forbidden(write.context.resource.qualified, name, why)
