"""Claims of devices, and templates of them (`pkg/registry/resource`, `pkg/apis/resource/validation`)."""

from __future__ import annotations

from typing import Any

from ..metadata import Errors, immutable, problems, validate_labels, validate_new
from ..names import dns_label, dns_subdomain
from ..status import FieldError
from ..strategy import Context, Strategy, keep
from .devices import (
    MAX_CONFIGS,
    validate_configuration,
    validate_driver_name,
    validate_items,
    validate_pool_name,
    validate_qualified_name,
    validate_selectors,
)
from .scheduling_validation import validate_node_selector, validate_tolerations

JSON = dict[str, Any]
Names = dict[str, tuple[str, ...]]

_MAX_REQUESTS = 32
_MAX_ALTERNATIVES = 8
_MAX_CONSTRAINTS = 32
_MAX_RESERVATIONS = 256
_MAX_RESULTS = 32
_MODES = ("All", "ExactCount")
_SOURCES = ("FromClaim", "FromClass")
_ONE_KIND = "exactly one of `exactly` or `firstAvailable` is required"
_NO_REQUEST = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"


class ResourceClaims(Strategy):
    """Claims. The spec is immutable; the scheduler writes allocation and reservation into the status."""

    counts_generation = False
    answers_deleted_object = True

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        super().prepare_create(obj, ctx)
        _default(obj.setdefault("spec", {}))

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return super().validate_create(obj, ctx) + _validate_spec(obj["spec"], "spec")

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        super().prepare_update(new, old, ctx)
        _default(new.setdefault("spec", {}))
        if ctx.subresource == "status":
            for field in ("labels", "annotations", "finalizers", "ownerReferences"):
                keep(new["metadata"], old["metadata"], field)
            _drop_deallocated(new.get("status") or {}, old.get("status") or {})

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx)
        if ctx.subresource == "status":
            return errors + _validate_status(new, old.get("status") or {})
        errors += validate_new(new["metadata"], self.name_rule)
        return errors + immutable("spec", new["spec"], old["spec"], of="resource/v1.ResourceClaimSpec")


class ResourceClaimTemplates(Strategy):
    """What claims of pods are made from. The spec is immutable."""

    revalidates_metadata = True
    counts_generation = False

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        _default(obj.setdefault("spec", {}).setdefault("spec", {}))

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        errors = super().validate_create(obj, ctx)
        template = obj["spec"].get("metadata") or {}
        errors += validate_labels(template.get("labels") or {}, "spec.metadata.labels")
        return errors + _validate_spec(obj["spec"]["spec"], "spec.spec")

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        _default(new.setdefault("spec", {}).setdefault("spec", {}))

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        return super().validate_update(new, old, ctx) + immutable(
            "spec", new["spec"], old["spec"], of="resource/v1.ResourceClaimTemplateSpec"
        )


def _default(spec: JSON) -> None:
    """One device of each, where nothing is said."""
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
            for toleration in asked.get("tolerations") or ():
                toleration["operator"] = toleration.get("operator") or "Equal"


def _names(spec: JSON) -> Names:
    """The requests by name, each with its alternatives."""
    requests = (spec.get("devices") or {}).get("requests") or []
    return {
        request.get("name") or "": tuple(one.get("name") or "" for one in request.get("firstAvailable") or ())
        for request in requests
    }


def _validate_spec(spec: JSON, path: str) -> Errors:
    devices = spec.get("devices") or {}
    names = _names(spec)
    path = f"{path}.devices"

    def constraint(one: JSON, at: str) -> Errors:
        return _validate_constraint(one, at, names)

    def config(one: JSON, at: str) -> Errors:
        return _validate_references(one, at, names) + validate_configuration(one, at)

    errors = validate_items(
        devices.get("requests") or [],
        _MAX_REQUESTS,
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
    device_class = asked.get("deviceClassName") or ""
    errors: Errors = []
    if device_class:
        errors += problems(f"{path}.deviceClassName", device_class, dns_subdomain(device_class))
    else:
        errors.append(FieldError.required(f"{path}.deviceClassName"))
    errors += validate_selectors(asked.get("selectors") or [], f"{path}.selectors")
    mode, count = asked.get("allocationMode"), asked.get("count") or 0
    if mode == "All" and count:
        why = "must not be specified when allocationMode is 'All'"
        errors.append(FieldError.invalid(f"{path}.count", count, why))
    elif mode == "ExactCount" and count <= 0:
        errors.append(FieldError.invalid(f"{path}.count", count, "must be greater than zero"))
    elif mode not in _MODES:
        errors.append(FieldError.not_supported(f"{path}.allocationMode", mode, _MODES))
    return errors + validate_tolerations(asked.get("tolerations") or [], f"{path}.tolerations")


def _validate_constraint(constraint: JSON, path: str, names: Names) -> Errors:
    errors = _validate_references(constraint, path, names)
    for field in ("matchAttribute", "distinctAttribute"):
        attribute = constraint.get(field)
        if attribute is not None:
            errors += validate_qualified_name(attribute, f"{path}.{field}")
            if "/" not in attribute:
                why = "a fully qualified name must be a domain and a name separated by a slash"
                errors.append(FieldError.invalid(f"{path}.{field}", attribute, why))
            return errors
    return [*errors, FieldError.required(f"{path}.matchAttribute")]


def _validate_references(obj: JSON, path: str, names: Names) -> Errors:
    """The requests that a constraint or a configuration is about."""

    def check(name: str, at: str) -> Errors:
        return _validate_reference(name, at, names)

    return validate_items(obj.get("requests") or [], _MAX_REQUESTS, check, f"{path}.requests", lambda name: str(name))


def _validate_reference(name: str, path: str, names: Names) -> Errors:
    parts = name.split("/")
    if len(parts) > 2:
        return [FieldError.invalid(path, name, _NO_REQUEST)]
    errors = [error for part in parts for error in problems(path, part, dns_label(part))]
    if parts[0] not in names or (len(parts) == 2 and parts[1] not in names[parts[0]]):
        errors.append(FieldError.invalid(path, name, _NO_REQUEST))
    return errors


def _device(result: JSON) -> tuple[str, ...]:
    return tuple(str(result.get(field) or "") for field in ("driver", "pool", "device", "shareID"))


def _allocated(status: JSON) -> set[tuple[str, ...]]:
    devices = (status.get("allocation") or {}).get("devices") or {}
    return {_device(result) for result in devices.get("results") or ()}


def _drop_deallocated(new: JSON, old: JSON) -> None:
    """What was said of devices that are given back goes with them."""
    gone = _allocated(old) - _allocated(new)
    if gone and new.get("devices"):
        new["devices"] = [device for device in new["devices"] if _device(device) not in gone]
        if not new["devices"]:
            del new["devices"]


def _validate_status(claim: JSON, old: JSON) -> Errors:
    status = claim.get("status") or {}
    reserved, allocation = status.get("reservedFor") or [], status.get("allocation")
    errors = validate_items(
        reserved, _MAX_RESERVATIONS, _validate_consumer, "status.reservedFor", lambda one: one.get("uid") or ""
    )
    allocated = _allocated(status)

    def device(one: JSON, at: str) -> Errors:
        return _validate_device(one, at, allocated)

    errors += validate_items(status.get("devices") or [], -1, device, "status.devices", _device)
    if reserved and allocation is None:
        errors.append(FieldError.forbidden("status.reservedFor", "may not be specified when `allocated` is not set"))
    elif claim["metadata"].get("deletionTimestamp") and any(
        one not in (old.get("reservedFor") or []) for one in reserved
    ):
        why = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"
        errors.append(FieldError.forbidden("status.reservedFor", why))
    if allocation is not None:
        if old.get("allocation") is not None:
            errors += immutable("status.allocation", allocation, old["allocation"])
        else:
            errors += _validate_allocation(allocation, _names(claim["spec"]))
    return errors


def _validate_consumer(consumer: JSON, path: str) -> Errors:
    return [FieldError.required(f"{path}.{field}") for field in ("resource", "name", "uid") if not consumer.get(field)]


def _validate_device(device: JSON, path: str, allocated: set[tuple[str, ...]]) -> Errors:
    errors = _validate_place(device, path)
    if _device(device) not in allocated:
        shown = "/".join(_device(device)[:3])
        errors.append(FieldError.invalid(path, shown, "must be an allocated device in the claim"))
    return errors


def _validate_place(device: JSON, path: str) -> Errors:
    name = device.get("device") or ""
    return [
        *validate_driver_name(device.get("driver") or "", f"{path}.driver"),
        *validate_pool_name(device.get("pool") or "", f"{path}.pool"),
        *problems(f"{path}.device", name, dns_label(name)),
    ]


def _validate_allocation(allocation: JSON, names: Names) -> Errors:
    devices = allocation.get("devices") or {}

    def result(one: JSON, at: str) -> Errors:
        return _validate_reference(one.get("request") or "", f"{at}.request", names) + _validate_place(one, at)

    def config(one: JSON, at: str) -> Errors:
        source = one.get("source") or ""
        errors: Errors = []
        if not source:
            errors.append(FieldError.required(f"{at}.source"))
        elif source not in _SOURCES:
            errors.append(FieldError.not_supported(f"{at}.source", source, _SOURCES))
        return errors + _validate_references(one, at, names) + validate_configuration(one, at)

    path = "status.allocation.devices"
    errors = validate_items(devices.get("results") or [], _MAX_RESULTS, result, f"{path}.results")
    errors += validate_items(devices.get("config") or [], 2 * MAX_CONFIGS, config, f"{path}.config")
    if allocation.get("nodeSelector") is not None:
        errors += validate_node_selector(allocation["nodeSelector"], "status.allocation.nodeSelector")
    return errors
