"""Storage classes and classes of volume attributes (`pkg/apis/storage/validation` of Kubernetes)."""

from __future__ import annotations

from typing import Any

from ..metadata import Errors, immutable, problems
from ..names import qualified_name
from ..status import FieldError
from ..strategy import Context, Strategy

JSON = dict[str, Any]

STORAGE = "storageclasses.storage.k8s.io"
DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
"""Annotation of the class that claims get which ask for none."""

_MAX_PARAMETERS = 256 * 1024  # bytes, keys and values of all
_RECLAIM_POLICIES = ("Delete", "Retain")
_BINDING_MODES = ("Immediate", "WaitForFirstConsumer")


class StorageClasses(Strategy):
    """What makes volumes and when. All but the topology and the annotations is immutable."""

    counts_generation = False

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        _default(obj)

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return super().validate_create(obj, ctx) + _validate(obj)

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        _default(new)

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx)
        for field in ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"):
            errors += immutable(field, new.get(field), old.get(field))
        return errors


class VolumeAttributesClasses(Strategy):
    """Attributes of volumes that may change later."""

    counts_generation = False

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return super().validate_create(obj, ctx) + _validate_attributes(obj)

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx)
        for field in ("driverName", "parameters"):
            if new.get(field) != old.get(field):
                errors.append(FieldError.forbidden(field, f"updates to {field} are forbidden."))
        return errors + _validate_attributes(new)


def default_class(ctx: Context) -> str | None:
    """The class that claims get which ask for none: of several defaults the newest (admission plugin
    DefaultStorageClass).
    """
    defaults = [
        found["metadata"]
        for found in ctx.store.list(STORAGE)
        if (found["metadata"].get("annotations") or {}).get(DEFAULT_CLASS) == "true"
    ]
    newest = max((metadata["creationTimestamp"] for metadata in defaults), default="")
    names = [metadata["name"] for metadata in defaults if metadata["creationTimestamp"] == newest]
    return min(names, default=None)


def _default(obj: JSON) -> None:
    obj.setdefault("reclaimPolicy", "Delete")
    obj.setdefault("volumeBindingMode", "Immediate")


def _validate(obj: JSON) -> Errors:
    errors = _validate_provisioner(obj.get("provisioner") or "", "provisioner")
    errors += _validate_parameters(obj.get("parameters") or {})
    if obj["reclaimPolicy"] not in _RECLAIM_POLICIES:
        errors.append(FieldError.not_supported("reclaimPolicy", obj["reclaimPolicy"], _RECLAIM_POLICIES))
    if obj["volumeBindingMode"] not in _BINDING_MODES:
        errors.append(FieldError.not_supported("volumeBindingMode", obj["volumeBindingMode"], _BINDING_MODES))
    for index, term in enumerate(obj.get("allowedTopologies") or ()):
        for place, requirement in enumerate(term.get("matchLabelExpressions") or ()):
            at = f"allowedTopologies[{index}].matchLabelExpressions[{place}]"
            errors += problems(f"{at}.key", requirement.get("key", ""), qualified_name(requirement.get("key", "")))
            if not requirement.get("values"):
                errors.append(FieldError.required(f"{at}.values"))
    return errors


def _validate_attributes(obj: JSON) -> Errors:
    errors = _validate_provisioner(obj.get("driverName") or "", "driverName")
    errors += _validate_parameters(obj.get("parameters") or {})
    if not obj.get("parameters"):
        errors.append(FieldError.required("parameters", "must contain at least one key/value pair"))
    return errors


def _validate_provisioner(name: str, field: str) -> Errors:
    if not name:
        return [FieldError.required(field)]
    return problems(field, name.lower(), qualified_name(name.lower()))


def _validate_parameters(parameters: dict[str, str]) -> Errors:
    errors: Errors = []
    if "" in parameters:
        errors.append(FieldError.invalid("parameters", "", "field can not be empty."))
    if sum(len(key.encode()) + len(value.encode()) for key, value in parameters.items()) > _MAX_PARAMETERS:
        errors.append(FieldError.too_long("parameters", _MAX_PARAMETERS))
    return errors
