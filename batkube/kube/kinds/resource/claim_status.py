"""The status of claims: the allocation, the reservations, and the reports of drivers
(`pkg/apis/resource/validation`).
"""

from __future__ import annotations

import ipaddress
from typing import Any

from ...apimachinery.metadata import Errors, immutable, problems
from ...apimachinery.names import dns_label
from ...apimachinery.status import FieldError
from ..conditions import validate_conditions
from ..pods.scheduling_validation import validate_node_selector
from ..published import validate_field
from ..strategy import Context
from .claim_references import Names, forbid_admin, validate_reference, validate_references
from .devices import (
    MAX_CONFIGS,
    validate_binding_conditions,
    validate_configuration,
    validate_driver_name,
    validate_items,
    validate_object,
    validate_pool_name,
    validate_share_id,
)

JSON = dict[str, Any]

_MAX_RESERVATIONS = 256
_MAX_RESULTS = 32
_MAX_CONDITIONS = 8
_MAX_ADDRESSES = 16


def _device(result: JSON) -> tuple[str, ...]:
    return tuple(str(result.get(field) or "") for field in ("driver", "pool", "device", "shareID"))


def _allocated(status: JSON) -> set[tuple[str, ...]]:
    return {_device(result) for result in results_of(status.get("allocation"))}


def drop_deallocated(new: JSON, old: JSON) -> None:
    """Drop the status of devices that are no longer allocated."""
    gone = _allocated(old) - _allocated(new)
    if gone and new.get("devices"):
        new["devices"] = [device for device in new["devices"] if _device(device) not in gone]
        if not new["devices"]:
            del new["devices"]


def validate_status(claim: JSON, old: JSON, names: Names, ctx: Context) -> Errors:
    """Return the errors in the status of a claim; `old` is the stored claim's status."""
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
            errors += immutable("status.allocation", allocation, old["allocation"], of="resource/v1.AllocationResult")
        else:
            errors += _validate_allocation(allocation, names)
    return errors + _validate_admin(allocation, old.get("allocation"), ctx)


def _validate_admin(allocation: JSON | None, before: JSON | None, ctx: Context) -> Errors:
    if any(result.get("adminAccess") for result in results_of(before)):
        return []
    for index, result in enumerate(results_of(allocation)):
        if result.get("adminAccess"):
            return forbid_admin(f"status.allocation.devices.results[{index}].adminAccess", ctx)
    return []


def results_of(allocation: JSON | None) -> list[JSON]:
    """Return the devices that were allocated."""
    return ((allocation or {}).get("devices") or {}).get("results") or []


def _validate_consumer(consumer: JSON, path: str) -> Errors:
    return [FieldError.required(f"{path}.{field}") for field in ("resource", "name", "uid") if not consumer.get(field)]


def _validate_device(device: JSON, path: str, allocated: set[tuple[str, ...]]) -> Errors:
    errors = _validate_place(device, path)
    if _device(device) not in allocated:
        shown = dict(zip(("Driver", "Pool", "Device", "ShareID"), _device(device), strict=True))
        errors.append(FieldError.invalid(path, shown, "must be an allocated device in the claim"))
    conditions = device.get("conditions") or []
    if len(conditions) > _MAX_CONDITIONS:
        errors.append(FieldError.too_many(f"{path}.conditions", len(conditions), _MAX_CONDITIONS))
    errors += validate_conditions(conditions, f"{path}.conditions")
    if device.get("data") is not None:
        errors += validate_object(device["data"], f"{path}.data")
    return errors + _validate_network(device.get("networkData") or {}, f"{path}.networkData")


def _validate_network(data: JSON, path: str) -> Errors:
    errors = [
        FieldError.too_long(f"{path}.{field}", most)
        for field, most in (("interfaceName", 256), ("hardwareAddress", 128))
        if len((data.get(field) or "").encode()) > most
    ]
    return errors + validate_items(data.get("ips") or [], _MAX_ADDRESSES, _validate_address, f"{path}.ips", str)


def _validate_address(value: str, path: str) -> Errors:
    try:
        canonical = str(ipaddress.ip_interface(value))
    except ValueError:
        canonical = ""
    if not canonical or "/" not in value:
        why = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"
        return [FieldError.invalid(path, value, why)]
    return [] if value == canonical else [FieldError.invalid(path, value, f'must be in canonical form ("{canonical}")')]


def _validate_place(device: JSON, path: str) -> Errors:
    name = device.get("device") or ""
    return [
        *validate_driver_name(device.get("driver") or "", f"{path}.driver"),
        *validate_pool_name(device.get("pool") or "", f"{path}.pool"),
        *problems(f"{path}.device", name, dns_label(name)),
        *validate_share_id(device.get("shareID"), f"{path}.shareID"),
    ]


def _validate_allocation(allocation: JSON, names: Names) -> Errors:
    devices = allocation.get("devices") or {}

    def result(one: JSON, at: str) -> Errors:
        errors = validate_reference(one.get("request") or "", f"{at}.request", names) + _validate_place(one, at)
        return errors + validate_binding_conditions(one, at)

    def config(one: JSON, at: str) -> Errors:
        errors = validate_field("resource/v1.DeviceAllocationConfiguration", one, "source", at)
        return errors + validate_references(one, at, names) + validate_configuration(one, at)

    path = "status.allocation.devices"
    errors = validate_items(devices.get("results") or [], _MAX_RESULTS, result, f"{path}.results")
    errors += validate_items(devices.get("config") or [], 2 * MAX_CONFIGS, config, f"{path}.config")
    if allocation.get("nodeSelector") is not None:
        errors += validate_node_selector(allocation["nodeSelector"], "status.allocation.nodeSelector")
    return errors
