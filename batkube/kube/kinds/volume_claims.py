"""Persistent volume claims (`pkg/registry/core/persistentvolumeclaim`, `ValidatePersistentVolumeClaim`)."""

from __future__ import annotations

import copy
from typing import Any

from ..label_selectors import validate_label_selector
from ..metadata import Errors, immutable, problems
from ..names import dns_subdomain
from ..quantity import Quantity
from ..status import FieldError
from ..strategy import Context, Strategy
from . import resource_lists
from .storage_classes import default_class
from .volumes import VOLUME_MODES, protect, validate_access_modes, validate_storage

JSON = dict[str, Any]

_PROTECTION = "kubernetes.io/pvc-protection"
_CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"


class VolumeClaims(Strategy):
    """Claims. Of the spec only the volume is set later, and the size of a bound claim grows."""

    revalidates_metadata = True
    counts_generation = False

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        obj["status"] = {"phase": "Pending"}
        spec = obj.setdefault("spec", {})
        _default(spec)
        named = "storageClassName" in spec or _CLASS_ANNOTATION in (obj["metadata"].get("annotations") or {})
        if not named and ctx.admits("DefaultStorageClass") and (found := default_class(ctx)):
            spec["storageClassName"] = found
        if ctx.admits("StorageObjectInUseProtection"):
            protect(obj, _PROTECTION)

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return super().validate_create(obj, ctx) + validate_claim_spec(obj["spec"], "spec")

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        super().prepare_update(new, old, ctx)
        _default(new.setdefault("spec", {}))
        new.setdefault("status", {}).setdefault("phase", "Pending")
        resource_lists.round_up(new["status"].get("capacity"))

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx)
        if ctx.subresource == "status":
            for name, quantity in (new["status"].get("capacity") or {}).items():
                errors += resource_lists.validate_value(name, quantity, f"status.capacity[{name}]")
            return errors
        errors += validate_claim_spec(new["spec"], "spec")
        return errors + _validate_change(new, old)


def validate_claim_spec(spec: JSON, path: str) -> Errors:
    """What is wrong with what a claim asks for."""
    errors = validate_access_modes(
        spec.get("accessModes") or [], f"{path}.accessModes", "at least 1 access mode is required"
    )
    errors += validate_label_selector(spec.get("selector"), f"{path}.selector")
    size = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if size is None:
        errors.append(FieldError.required(f"{path}.resources[storage]"))
    else:
        errors += validate_storage(size, f"{path}.resources[storage]")
    if spec.get("storageClassName"):
        errors += problems(
            f"{path}.storageClassName", spec["storageClassName"], dns_subdomain(spec["storageClassName"])
        )
    if spec.get("volumeMode") not in (None, *VOLUME_MODES):
        errors.append(FieldError.not_supported(f"{path}.volumeMode", spec["volumeMode"], VOLUME_MODES))
    for field in ("dataSource", "dataSourceRef"):
        if field in spec:
            errors += _validate_source(spec[field], f"{path}.{field}")
    return errors


def _validate_source(source: JSON, path: str) -> Errors:
    errors = [FieldError.required(f"{path}.{field}") for field in ("name", "kind") if not source.get(field)]
    if not source.get("apiGroup") and source.get("kind") != "PersistentVolumeClaim":
        why = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
        errors.append(FieldError.invalid(path, source.get("kind", ""), why))
    return errors


def _default(spec: JSON) -> None:
    spec.setdefault("volumeMode", "Filesystem")
    for field in ("requests", "limits"):
        resource_lists.round_up((spec.get("resources") or {}).get(field))
    # Two fields for one thing: of the older the newer is made, and the other way round within a namespace.
    if "dataSource" in spec and "dataSourceRef" not in spec:
        spec["dataSourceRef"] = dict(spec["dataSource"])
    elif "dataSourceRef" in spec and "dataSource" not in spec and not spec["dataSourceRef"].get("namespace"):
        spec["dataSource"] = dict(spec["dataSourceRef"])


def _validate_change(new: JSON, old: JSON) -> Errors:
    errors: Errors = []
    spec, before = copy.deepcopy(new["spec"]), copy.deepcopy(old["spec"])
    if not before.get("volumeName"):
        before.pop("volumeName", None)
        spec.pop("volumeName", None)
    if "storageClassName" not in before:
        spec.pop("storageClassName", None)
    size, old_size = _size(spec), _size(before)
    if new["status"]["phase"] == "Bound":
        for each in (spec, before):
            (each.get("resources", {}).get("requests") or {}).pop("storage", None)
            each.pop("volumeAttributesClassName", None)
    if spec != before:
        why = (
            "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
        )
        errors.append(FieldError.forbidden("spec", why))
    if size < old_size:
        granted = (old.get("status", {}).get("capacity") or {}).get("storage", "0")
        if size <= Quantity.parse(granted):
            why = "field can not be less than status.capacity"
            errors.append(FieldError.forbidden("spec.resources.requests.storage", why))
    return errors + immutable("volumeMode", new["spec"].get("volumeMode"), old["spec"].get("volumeMode"))


def _size(spec: JSON) -> Quantity:
    return Quantity.parse(((spec.get("resources") or {}).get("requests") or {}).get("storage", "0"))
