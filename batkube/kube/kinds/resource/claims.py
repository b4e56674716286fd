"""Claims for devices, and templates of claims (`pkg/registry/resource`, `pkg/apis/resource/validation`)."""

from __future__ import annotations

from typing import Any

from ...apimachinery.metadata import Errors, immutable, problems, validate_new
from ...apimachinery.names import dns_label, dns_subdomain, label_value, qualified_name
from ...apimachinery.status import FieldError
from ..published import validate_field
from ..strategy import USERS_METADATA, Context, Strategy
from ..template_metadata import validate_template_metadata
from .claim_references import MAX_REQUESTS, Names, forbid_admin, names_of, validate_references
from .claim_status import drop_deallocated, results_of, validate_status
from .devices import (
    MAX_CONFIGS,
    validate_configuration,
    validate_items,
    validate_qualified_name,
    validate_selectors,
)

JSON = dict[str, Any]

_MAX_ALTERNATIVES = 8
_MAX_CONSTRAINTS = 32
_EXACT = "resource/v1.ExactDeviceRequest"
_ONE_KIND = "exactly one of `exactly` or `firstAvailable` is required"
_ONE_ATTRIBUTE = (
    'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'  # none is
)


class ResourceClaims(Strategy):
    """Rules of claims. The spec is immutable; the scheduler writes allocation and reservation into the status."""

    counts_generation = False
    answers_deleted_object = True
    kept_by_status = USERS_METADATA
    status_tables = False

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        super().prepare_create(obj, ctx)
        _default(obj.setdefault("spec", {}))

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return (
            super().validate_create(obj, ctx) + _validate_admin(obj["spec"], ctx) + _validate_spec(obj["spec"], "spec")
        )

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        super().prepare_update(new, old, ctx)
        _default(new.setdefault("spec", {}))

    def prepare_status(self, new: JSON, old: JSON, ctx: Context) -> None:
        super().prepare_status(new, old, ctx)
        _default(new.setdefault("spec", {}))
        status = new.get("status") or {}
        for result in results_of(status.get("allocation")):
            _default_tolerations(result)
        drop_deallocated(status, old.get("status") or {})

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx)
        errors += validate_new(new["metadata"], self.name_rule)
        return errors + immutable("spec", new["spec"], old["spec"], of="resource/v1.ResourceClaimSpec")

    def validate_status(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_status(new, old, ctx)
        return errors + validate_status(new, old.get("status") or {}, names_of(new["spec"]), ctx)


class ResourceClaimTemplates(Strategy):
    """The templates from which claims of pods are made. The spec is immutable."""

    revalidates_metadata = True
    counts_generation = False
    answers_deleted_object = True

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        _default(obj.setdefault("spec", {}).setdefault("spec", {}))

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        errors = super().validate_create(obj, ctx)
        return errors + _validate_admin(obj["spec"]["spec"], ctx) + _validate_template(obj["spec"])

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        _default(new.setdefault("spec", {}).setdefault("spec", {}))

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx) + _validate_template(new["spec"])
        return errors + immutable("spec", new["spec"], old["spec"], of="resource/v1.ResourceClaimTemplateSpec")


def _validate_template(spec: JSON) -> Errors:
    errors = validate_template_metadata(spec.get("metadata") or {}, "spec.metadata")
    return errors + _validate_spec(spec["spec"], "spec.spec")


def _validate_admin(spec: JSON, ctx: Context) -> Errors:
    """Check that the namespace allows access as an administrator, if the claim asks for it."""
    for index, request in enumerate((spec.get("devices") or {}).get("requests") or ()):
        if (request.get("exactly") or {}).get("adminAccess"):
            return forbid_admin(f"spec.devices.requests[{index}].adminAccess", ctx)
    return []


def _default(spec: JSON) -> None:
    """Set the defaults of requests: one device each."""
    devices = spec.setdefault("devices", {})
    devices.setdefault("requests", None)  # not left out where it is empty
    for request in devices["requests"] or ():
        for asked in (request.get("exactly"), *(request.get("firstAvailable") or ())):
            if asked is None:
                continue
            if not asked.get("allocationMode"):
                asked["allocationMode"] = "ExactCount"
            if asked["allocationMode"] == "ExactCount" and not asked.get("count"):
                asked["count"] = 1
            _default_tolerations(asked)


def _default_tolerations(asked: JSON) -> None:
    """Set the defaults of the tolerations of a request or of an allocated device."""
    for toleration in asked.get("tolerations") or ():
        toleration["operator"] = toleration.get("operator") or "Equal"


def _validate_spec(spec: JSON, path: str) -> Errors:
    devices = spec.get("devices") or {}
    names = names_of(spec)
    path = f"{path}.devices"

    def constraint(one: JSON, at: str) -> Errors:
        return _validate_constraint(one, at, names)

    def config(one: JSON, at: str) -> Errors:
        return validate_references(one, at, names) + validate_configuration(one, at)

    errors = validate_items(
        devices.get("requests") or [],
        MAX_REQUESTS,
        _validate_request,
        f"{path}.requests",
        lambda one: one.get("name") or "",
    )
    errors += validate_items(devices.get("constraints") or [], _MAX_CONSTRAINTS, constraint, f"{path}.constraints")
    return errors + validate_items(devices.get("config") or [], MAX_CONFIGS, config, f"{path}.config")


def _validate_request(request: JSON, path: str) -> Errors:
    name = request.get("name") or ""
    errors = problems(f"{path}.name", name, dns_label(name))
    exactly, alternatives = request.get("exactly"), request.get("firstAvailable") or []
    if exactly is None and not alternatives:
        errors.append(FieldError.required(path, _ONE_KIND))
    elif exactly is not None and alternatives:
        errors.append(FieldError.invalid(path, None, f"{_ONE_KIND}, but multiple fields are set"))
    elif exactly is not None:
        errors += _validate_asked(exactly, f"{path}.exactly")
    else:
        errors += validate_items(
            alternatives,
            _MAX_ALTERNATIVES,
            _validate_alternative,
            f"{path}.firstAvailable",
            lambda one: one.get("name") or "",
        )
    return errors


def _validate_alternative(asked: JSON, path: str) -> Errors:
    name = asked.get("name") or ""
    return problems(f"{path}.name", name, dns_label(name)) + _validate_asked(asked, path)


def _validate_asked(asked: JSON, path: str) -> Errors:
    """Check what both kinds of requests have in common: an exact one, and one of several alternatives."""
    errors = validate_field(_EXACT, asked, "deviceClassName", path, dns_subdomain)
    errors += validate_selectors(asked.get("selectors") or [], f"{path}.selectors")
    mode, count = asked.get("allocationMode"), asked.get("count") or 0
    if mode == "All" and count:
        why = "must not be specified when allocationMode is 'All'"
        errors.append(FieldError.invalid(f"{path}.count", count, why))
    elif mode == "ExactCount" and count <= 0:
        errors.append(FieldError.invalid(f"{path}.count", count, "must be greater than zero"))
    errors += validate_field(_EXACT, asked, "allocationMode", path)
    for index, toleration in enumerate(asked.get("tolerations") or ()):
        errors += _validate_toleration(toleration, f"{path}.tolerations[{index}]")
    return errors


def _validate_toleration(toleration: JSON, path: str) -> Errors:
    key, operator, value = (toleration.get(field) or "" for field in ("key", "operator", "value"))
    errors = problems(f"{path}.key", key, qualified_name(key)) if key else []
    if operator == "Exists":
        if value:
            errors.append(FieldError.invalid(f"{path}.value", value, "must be empty for operator `Exists`"))
    elif operator == "Equal":
        errors += problems(f"{path}.value", value, label_value(value))
    for field in ("operator", "effect"):
        errors += validate_field("resource/v1.DeviceToleration", toleration, field, path)
    return errors


def _validate_constraint(constraint: JSON, path: str, names: Names) -> Errors:
    errors = validate_references(constraint, path, names)
    for field in ("matchAttribute", "distinctAttribute"):
        attribute = constraint.get(field)
        if attribute is not None:
            errors += validate_qualified_name(attribute, f"{path}.{field}")
            if "/" not in attribute:
                why = "a fully qualified name must be a domain and a name separated by a slash"
                errors.append(FieldError.invalid(f"{path}.{field}", attribute, why))
            return errors
    return [*errors, FieldError.required(path, _ONE_ATTRIBUTE)]
