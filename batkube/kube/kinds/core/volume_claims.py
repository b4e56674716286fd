"""Persistent volume claims (`pkg/registry/core/persistentvolumeclaim`, `ValidatePersistentVolumeClaim`)."""

from __future__ import annotations

import copy
import math
from typing import Any

from ...apimachinery.label_selectors import validate_label_selector
from ...apimachinery.metadata import Errors, immutable, problems
from ...apimachinery.names import dns_label, dns_subdomain, qualified_name
from ...apimachinery.quantity import Quantity
from ...apimachinery.status import FieldError
from ...schema.field_rules import rule_of
from ...schema.internal_json import differences
from .. import resource_lists
from ..published import validate_field
from ..strategy import Context, Strategy, keep
from .volume_specs import validate_access_modes, validate_storage

JSON = dict[str, Any]

_ATTRIBUTES = "volumeAttributesClassName"
_CURRENT = "currentVolumeAttributesClassName"
_CLAIM = "PersistentVolumeClaim"
_OLD_SOURCES = ((_CLAIM, ""), ("VolumeSnapshot", "snapshot.storage.k8s.io"))
CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"


class VolumeClaims(Strategy):
    """Rules of claims. Of the spec only the volume is set later, and the size of a bound claim grows."""

    answers_deleted_object = True
    revalidates_metadata = True
    counts_generation = False
    set_by_admission = frozenset(("spec.dataSource", "spec.dataSourceRef", "spec.storageClassName"))

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        obj["status"] = {"phase": "Pending"}
        _default(obj.setdefault("spec", {}))

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return _warned(obj, ctx, super().validate_create(obj, ctx) + validate_claim_spec(obj["spec"], "spec"))

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        super().prepare_update(new, old, ctx)
        self._default_changed(new, old)

    def prepare_status(self, new: JSON, old: JSON, ctx: Context) -> None:
        super().prepare_status(new, old, ctx)
        self._default_changed(new, old)

    @staticmethod
    def _default_changed(new: JSON, old: JSON) -> None:
        _default(new.setdefault("spec", {}), old.get("spec"))
        new.setdefault("status", {}).setdefault("phase", "Pending")
        resource_lists.round_up(new["status"].get("capacity"))

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx)
        grouped = any(
            (old["spec"].get(field) or {}).get("apiGroup") is not None for field in ("dataSource", "dataSourceRef")
        )
        errors += validate_claim_spec(new["spec"], "spec", any_group=grouped) + _validate_change(new, old)
        return _warned(new, ctx, errors)

    def validate_status(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        return super().validate_status(new, old, ctx) + _validate_status(new["status"])


def _warned(obj: JSON, ctx: Context, errors: Errors) -> Errors:
    if errors:
        return errors
    if CLASS_ANNOTATION in (obj["metadata"].get("annotations") or {}):
        why = 'deprecated since v1.8; use "storageClassName" attribute instead'
        ctx.warnings.append(f"metadata.annotations[{CLASS_ANNOTATION}]: {why}")
    ctx.warnings.extend(claim_warnings(obj["spec"], "spec"))
    return errors


def claim_warnings(spec: JSON, path: str) -> list[str]:
    """Warn the author of a claim, or of a template of claims, of amounts that are not a whole number of bytes."""
    warnings = []
    for field in ("requests", "limits"):
        amount = ((spec.get("resources") or {}).get(field) or {}).get("storage")
        if amount is not None and Quantity.parse(amount).value.denominator != 1:
            at = f"{path}.resources.{field}[storage]"
            warnings.append(f'{at}: fractional byte value "{amount}" is invalid, must be an integer')
    return warnings


def _validate_status(status: JSON) -> Errors:
    errors: Errors = []
    for name, quantity in (status.get("capacity") or {}).items():
        errors += _validate_amount(quantity, f"status.capacity[{name}]")
    path = "status.allocatedResourceStatuses"
    states = rule_of("core/v1.PersistentVolumeClaimStatus", "allocatedResourceStatuses").values
    for name, state in (status.get("allocatedResourceStatuses") or {}).items():
        errors += _validate_resource(name, path)
        if state not in states:
            errors.append(FieldError.not_supported(path, name, states))
    path = "status.allocatedResources"
    for name, quantity in (status.get("allocatedResources") or {}).items():
        where = f"{path}[{name}]"
        errors += (
            _validate_resource(name, path)
            or _validate_amount(quantity, where)
            or resource_lists.validate_value("storage", quantity, where)
        )
    return errors


def _validate_amount(quantity: str, path: str) -> Errors:
    """Check that an amount is not below zero. The error shows it rounded down (`validateBasicResource`)."""
    amount = Quantity.parse(quantity).value
    if amount >= 0:
        return []
    return [FieldError.invalid(path, math.floor(amount), "must be a valid resource quantity")]


def _validate_resource(name: str, path: str) -> Errors:
    """Check the name of a resource in a claim: the only one of Kubernetes' own resources is storage."""
    if wrong := qualified_name(name):
        return problems(path, name, wrong)
    if resource_lists.is_native(name) and name != "storage":
        return [FieldError.not_supported(path, name, ("storage",))]
    return []


def validate_claim_spec(spec: JSON, path: str, *, any_group: bool = False) -> Errors:
    """Return the errors in the spec of a claim. `any_group`: the group of a source may have a wrong name."""
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
    errors += validate_field("core/v1.PersistentVolumeClaimSpec", spec, "volumeMode", path)
    if name := spec.get(_ATTRIBUTES):
        errors += problems(f"{path}.{_ATTRIBUTES}", name, dns_subdomain(name))
    return errors + _validate_sources(spec, path, any_group)


def _validate_source(source: JSON, path: str, any_group: bool) -> Errors:
    errors = [FieldError.required(f"{path}.{field}") for field in ("name", "kind") if not source.get(field)]
    group, namespace = source.get("apiGroup") or "", source.get("namespace")
    if not group and source.get("kind") != _CLAIM:
        why = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
        errors.append(FieldError.invalid(path, source.get("kind", ""), why))
    if group and not any_group:
        errors += problems(f"{path}.apiGroup", group, dns_subdomain(group))
    return errors + (problems(f"{path}.namespace", namespace, dns_label(namespace)) if namespace else [])


def _validate_sources(spec: JSON, path: str, any_group: bool) -> Errors:
    """Check the sources that a volume is filled from. Two fields name one; they must agree."""
    old, new = spec.get("dataSource"), spec.get("dataSourceRef")
    errors: Errors = []
    for field, source in (("dataSource", old), ("dataSourceRef", new)):
        if source is not None:
            errors += _validate_source(source, f"{path}.{field}", any_group)
    if old is None or new is None:
        return errors
    if new.get("namespace"):
        why = "may not be specified when dataSourceRef.namespace is specified"
        errors.append(FieldError.invalid(path, f"{path}.dataSource", why))
    elif any(old.get(field) != new.get(field) for field in ("apiGroup", "kind", "name")):
        errors.append(FieldError.invalid(path, f"{path}.dataSource", "must match dataSourceRef"))
    return errors


def _default(spec: JSON, before: JSON | None = None) -> None:
    spec.setdefault("volumeMode", "Filesystem")
    for field in ("requests", "limits"):
        resource_lists.round_up((spec.get("resources") or {}).get(field))
    old, new, before = spec.get("dataSource"), spec.get("dataSourceRef"), before or {}
    # To fill a volume from another namespace is alpha (CrossNamespaceVolumeDataSource).
    if new is not None and new.get("namespace") and "dataSourceRef" not in before:
        del spec["dataSourceRef"]
        new = None
    # The older field is for claims and snapshots; what else stands there was never heeded.
    known = old is None or (old.get("kind"), old.get("apiGroup") or "") in _OLD_SOURCES
    if new is None and not known and not {"dataSource", "dataSourceRef"} & before.keys():
        del spec["dataSource"]
        old = None
    # Of the older the newer is made, and the other way round within a namespace.
    if old is not None and new is None:
        spec["dataSourceRef"] = dict(old)
    elif new is not None and old is None and not new.get("namespace"):
        spec["dataSource"] = {field: value for field, value in new.items() if field != "namespace"}


def _validate_change(new: JSON, old: JSON) -> Errors:
    errors: Errors = []
    spec, before = copy.deepcopy(new["spec"]), copy.deepcopy(old["spec"])
    if not before.get("volumeName"):
        keep(before, spec, "volumeName")
    noted, annotated = ((one["metadata"].get("annotations") or {}).get(CLASS_ANNOTATION) for one in (old, new))
    chosen = spec.get("storageClassName")
    # A class may be named later, above all the one that an annotation names, as it was in beta.
    named = "storageClassName" not in before and chosen is not None and noted in (None, chosen)
    if named:
        spec.pop("storageClassName")
    if not named or noted is None or annotated not in (None, noted):
        errors += immutable(f"metadata.annotations.{CLASS_ANNOTATION}", annotated or "", noted or "")
    size, old_size = _size(spec), _size(before)
    if new["status"]["phase"] == "Bound":
        asked, had = ((each.get("resources") or {}).get("requests") or {} for each in (spec, before))
        keep(asked, had, "storage")
        keep(spec, before, _ATTRIBUTES)
    if spec != before:
        why = (
            "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
            f"\n{differences('core/v1.PersistentVolumeClaimSpec', before, spec)}"
        )
        errors.append(FieldError.forbidden("spec", why))
    if size < old_size:
        granted = (old.get("status", {}).get("capacity") or {}).get("storage", "0")
        if size <= Quantity.parse(granted):
            why = "field can not be less than status.capacity"
            errors.append(FieldError.forbidden("spec.resources.requests.storage", why))
    errors += immutable("volumeMode", new["spec"].get("volumeMode"), old["spec"].get("volumeMode"))
    attributes, applied = new["spec"].get(_ATTRIBUTES), (old.get("status") or {}).get(_CURRENT)
    if attributes != old["spec"].get(_ATTRIBUTES) and applied is not None and not attributes:
        what = "nil" if attributes is None else "empty string"
        why = f"update to {what} is forbidden when status.{_CURRENT} is not nil"
        errors.append(FieldError.forbidden(f"spec.{_ATTRIBUTES}", why))
    return errors


def _size(spec: JSON) -> Quantity:
    return Quantity.parse(((spec.get("resources") or {}).get("requests") or {}).get("storage", "0"))
