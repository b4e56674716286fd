"""Storage classes and classes of volume attributes (`pkg/apis/storage/validation` of Kubernetes)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...apimachinery.metadata import Errors, immutable, problems
from ...apimachinery.names import qualified_name
from ...apimachinery.status import FieldError
from ..node_labels import DEPRECATED
from ..published import validate_field
from ..strategy import Context, Strategy

JSON = dict[str, Any]

STORAGE = "storageclasses.storage.k8s.io"
DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
"""The annotation of the class for claims that name none."""

_MAX_PARAMETERS = 512
_MAX_PARAMETERS_SIZE = 256 * 1024  # bytes, keys and values of all
_RECLAIM_POLICIES = ("Delete", "Retain")


class StorageClasses(Strategy):
    """The classes of volumes: what makes volumes and when. All but the topology and the annotations is immutable."""

    revalidates_metadata = True
    counts_generation = False
    answers_deleted_object = True

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        _default(obj)

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return super().validate_create(obj, ctx) + _validate(obj, ctx)

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        _default(new)

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx) + _validate(new, ctx)
        for field in ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"):
            errors += immutable(field, new.get(field), old.get(field))
        return errors


class VolumeAttributesClasses(Strategy):
    """The attributes of volumes that may change later."""

    revalidates_metadata = True
    counts_generation = False
    answers_deleted_object = True

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return super().validate_create(obj, ctx) + _validate_attributes(obj)

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx)
        for field in ("driverName", "parameters"):
            if new.get(field) != old.get(field):
                errors.append(FieldError.forbidden(field, f"updates to {field} are forbidden."))
        return errors + _validate_attributes(new)


def _default(obj: JSON) -> None:
    obj.setdefault("reclaimPolicy", "Delete")
    obj.setdefault("volumeBindingMode", "Immediate")


def _validate(obj: JSON, ctx: Context) -> Errors:
    errors = _validate_driver("storage/v1.StorageClass", obj, "provisioner")
    errors += _validate_parameters(obj.get("parameters") or {})
    if obj["reclaimPolicy"] and obj["reclaimPolicy"] not in _RECLAIM_POLICIES:
        errors.append(FieldError.not_supported("reclaimPolicy", obj["reclaimPolicy"], _RECLAIM_POLICIES))
    errors += validate_field("storage/v1.StorageClass", obj, "volumeBindingMode", "")
    topologies = obj.get("allowedTopologies") or []
    errors += _validate_topologies(topologies)
    if not errors:
        ctx.warnings.extend(_warnings_of_topologies(topologies))
    return errors


def _validate_topologies(topologies: list[JSON]) -> Errors:
    """Check that terms do not repeat one another. An empty term counts as repeated (a quirk of the real server)."""
    errors: Errors = []
    seen: list[dict[str, set[str]]] = [{} for _ in topologies]
    for index, term in enumerate(topologies):
        at = f"allowedTopologies[{index}].matchLabelExpressions"
        values: dict[str, set[str]] = {}
        for place, requirement in enumerate(term.get("matchLabelExpressions") or ()):
            errors += _validate_topology(requirement, f"{at}[{place}]", values)
        errors += [FieldError.duplicate(at, "") for other in seen if other == values]
        seen.append(values)
    return errors


def _validate_topology(requirement: JSON, path: str, known: dict[str, set[str]]) -> Errors:
    key, values = requirement.get("key") or "", requirement.get("values") or []
    errors = validate_field("core/v1.TopologySelectorLabelRequirement", requirement, "values", path)
    errors += [
        FieldError.duplicate(f"{path}.values[{index}]", value)
        for index, value in enumerate(values)
        if value in values[:index]
    ]
    errors += problems(f"{path}.key", key, qualified_name(key))
    if key in known:
        errors.append(FieldError.duplicate(f"{path}.key", key))
    known[key] = set(values)
    return errors


def _warnings_of_topologies(topologies: list[JSON]) -> Iterator[str]:
    for index, term in enumerate(topologies):
        for place, requirement in enumerate(term.get("matchLabelExpressions") or ()):
            if requirement.get("key") in DEPRECATED:
                at = f"allowedTopologies[{index}].matchLabelExpressions[{place}].key"
                yield f"{at}: {DEPRECATED[requirement['key']]}"


def _validate_attributes(obj: JSON) -> Errors:
    errors = _validate_driver("storage/v1.VolumeAttributesClass", obj, "driverName")
    errors += _validate_parameters(obj.get("parameters") or {})
    if not obj.get("parameters"):
        errors.append(FieldError.required("parameters", "must contain at least one key/value pair"))
    return errors


def _validate_driver(type_name: str, obj: JSON, field: str) -> Errors:
    """Check the name of a driver. The error shows it in small letters, by which it is judged."""
    name = (obj.get(field) or "").lower()
    return validate_field(type_name, obj, field, "") or problems(field, name, qualified_name(name))


def _validate_parameters(parameters: dict[str, str]) -> Errors:
    if len(parameters) > _MAX_PARAMETERS:
        return [FieldError.too_long("parameters", _MAX_PARAMETERS)]
    errors: Errors = []
    if "" in parameters:
        errors.append(FieldError.invalid("parameters", "", "field can not be empty."))
    if sum(len(key.encode()) + len(value.encode()) for key, value in parameters.items()) > _MAX_PARAMETERS_SIZE:
        errors.append(FieldError.too_long("parameters", _MAX_PARAMETERS_SIZE))
    return errors
