"""DefaultStorageClass: claims that name no class get the default one."""

from __future__ import annotations

from ..kinds.core.volume_claims import CLASS_ANNOTATION
from ..kinds.storage.storage_classes import DEFAULT_CLASS, STORAGE
from ..kinds.strategy import Reader
from .plugin import Attributes, Plugin


class DefaultStorageClass(Plugin):
    name = "DefaultStorageClass"
    handles = ("persistentvolumeclaims",)

    def admit(self, write: Attributes) -> None:
        claim, spec = write.obj, write.obj["spec"]
        named = "storageClassName" in spec or CLASS_ANNOTATION in (claim["metadata"].get("annotations") or {})
        if write.old is None and not named and (found := _default_class(write.context.store)):
            spec["storageClassName"] = found


def _default_class(store: Reader) -> str | None:
    """Return the default class: the newest of several."""
    defaults = [
        found["metadata"]
        for found in store.list(STORAGE)
        if (found["metadata"].get("annotations") or {}).get(DEFAULT_CLASS) == "true"
    ]
    newest = max((metadata["creationTimestamp"] for metadata in defaults), default="")
    names = [metadata["name"] for metadata in defaults if metadata["creationTimestamp"] == newest]
    return min(names, default=None)
