"""The common part of persistent volumes and claims, and the spec of a volume (`ValidatePersistentVolumeSpec`)."""

from __future__ import annotations

import posixpath
from math import ceil
from typing import Any

from ...apimachinery.metadata import Errors, problems
from ...apimachinery.names import dns_subdomain
from ...apimachinery.quantity import Quantity
from ...apimachinery.status import FieldError
from ...schema.field_rules import rule_of
from ..pods.defaults import VOLUME_DEFAULTS
from ..pods.scheduling_validation import validate_node_selector
from ..published import validate_field
from ..resource_lists import round_up
from .volume_sources import validate_sources

JSON = dict[str, Any]

_MAY_BE_EMPTY = ("hostPath", "azureDisk")
_ATTRIBUTES = "volumeAttributesClassName"


def validate_access_modes(modes: list[str], path: str, why_needed: str = "") -> Errors:
    """Check the access modes of a volume."""
    errors: Errors = []
    if not modes:
        errors.append(FieldError.required(path, why_needed))
    known = rule_of("core/v1.PersistentVolumeSpec", "accessModes").values
    # The real server does not say which of them is wrong.
    errors += [FieldError.not_supported(path, mode, known) for mode in modes if mode not in known]
    if "ReadWriteOncePod" in modes and any(mode in known and mode != "ReadWriteOncePod" for mode in modes):
        errors.append(FieldError.forbidden(path, "may not use ReadWriteOncePod with other access modes"))
    return errors


def validate_storage(quantity: str, path: str) -> Errors:
    """Check that a size is positive."""
    if Quantity.parse(quantity).value > 0:
        return []
    return [FieldError.invalid(path, quantity, "must be greater than zero")]


def default_volume_spec(spec: JSON) -> None:
    """Round up the amounts, and set the defaults of sources."""
    round_up(spec.get("capacity"))
    for source, defaults in VOLUME_DEFAULTS.items():
        given = spec.get(source)
        if given is None:
            continue
        for field, value in defaults.items():
            # Texts that are empty are as good as absent, but in fields that may be so.
            if given.get(field) is None or (given[field] == "" and source not in _MAY_BE_EMPTY):
                given[field] = value


def validate_volume_spec(spec: JSON, path: str, name: str) -> Errors:
    """Check the spec of the volume of that name."""
    errors = validate_access_modes(spec.get("accessModes") or [], f"{path}.accessModes")
    errors += _validate_capacity(spec.get("capacity"), f"{path}.capacity")
    errors += validate_field("core/v1.PersistentVolumeSpec", spec, "persistentVolumeReclaimPolicy", path)
    affinity, storage_class = spec.get("nodeAffinity"), spec.get("storageClassName")
    if affinity is not None:
        errors += _validate_affinity(affinity, f"{path}.nodeAffinity")
    errors += _validate_kept(spec, path, name, affinity is not None)
    if storage_class:
        errors += problems(f"{path}.storageClassName", storage_class, dns_subdomain(storage_class))
    errors += validate_field("core/v1.PersistentVolumeSpec", spec, "volumeMode", path)
    return errors + _validate_attributes(spec, path)


def validate_inline_spec(spec: JSON, path: str) -> Errors:
    """Check the spec of a volume that is written into the attachment itself."""
    of_inline = "in the context of inline volumes"
    errors = validate_access_modes(spec.get("accessModes") or [], f"{path}.accessModes")
    for field in ("claimRef", "capacity", "nodeAffinity", "storageClassName"):
        if spec.get(field) or (field in ("claimRef", "nodeAffinity") and spec.get(field) is not None):
            errors.append(FieldError.forbidden(f"{path}.{field}", f"may not be specified {of_inline}"))
    if spec.get("csi") is None:
        errors.append(FieldError.required(f"{path}.csi", f"has to be specified {of_inline}"))
    if (spec.get("persistentVolumeReclaimPolicy") or "Retain") != "Retain":
        at = f"{path}.persistentVolumeReclaimPolicy"
        errors.append(FieldError.forbidden(at, f"may only be Retain {of_inline}"))
    if spec.get("volumeMode") not in (None, "Filesystem"):
        why = f"may not specify volumeMode other than Filesystem {of_inline}"
        errors.append(FieldError.forbidden(f"{path}.volumeMode", why))
    return errors + _validate_kept(spec, path, "", False)


def _validate_kept(spec: JSON, path: str, name: str, has_affinity: bool) -> Errors:
    """Check where the data is, and that the volume may be recycled."""
    errors = validate_sources(spec, path, name)
    place = (spec.get("hostPath") or {}).get("path")
    if spec.get("local") is not None and not has_affinity and not any(e.field == f"{path}.local" for e in errors):
        errors.append(FieldError.required(f"{path}.nodeAffinity", "Local volume requires node affinity"))
    if place and posixpath.normpath(place) in ("/", "//") and spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        why = "may not be 'recycle' for a hostPath mount of '/'"
        errors.append(FieldError.forbidden(f"{path}.persistentVolumeReclaimPolicy", why))
    return errors


def _validate_attributes(spec: JSON, path: str) -> Errors:
    name = spec.get(_ATTRIBUTES)
    if name is None:
        return []
    empty = [FieldError.required(f"{path}.{_ATTRIBUTES}", "an empty string is disallowed")]
    errors = problems(f"{path}.{_ATTRIBUTES}", name, dns_subdomain(name)) if name else empty
    if spec.get("csi") is None:
        errors.append(FieldError.required(f"{path}.csi", f"has to be specified when using {_ATTRIBUTES}"))
    return errors


def _validate_affinity(affinity: JSON, path: str) -> Errors:
    if affinity.get("required") is None:
        return [FieldError.required(f"{path}.required", "must specify required node constraints")]
    return validate_node_selector(affinity["required"], f"{path}.required")


def _validate_capacity(capacity: JSON | None, path: str) -> Errors:
    errors: Errors = [] if capacity else [FieldError.required(path)]
    if not capacity or list(capacity) != ["storage"]:
        errors.append(FieldError.not_supported(path, capacity, ("storage",)))
    for name, quantity in (capacity or {}).items():
        amount = ceil(Quantity.parse(quantity).value)
        if amount < 0:
            errors.append(FieldError.invalid(f"{path}[{name}]", amount, "must be a valid resource quantity"))
        errors += validate_storage(quantity, f"{path}[{name}]")
    return errors
