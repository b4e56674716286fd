"""Resource slices: the devices that a driver offers (`pkg/apis/resource/validation`)."""

from __future__ import annotations

import re
from typing import Any

from ...apimachinery.metadata import Errors, immutable, problems
from ...apimachinery.names import dns_label, dns_subdomain, label_value, qualified_name
from ...apimachinery.quantity import Quantity
from ...apimachinery.status import FieldError, quote
from ..pods.scheduling_validation import validate_node_selector
from ..published import validate_field
from ..resource_lists import is_native
from ..strategy import Context, Strategy
from .device_capacity import validate_capacity
from .devices import (
    validate_binding_conditions,
    validate_driver_name,
    validate_items,
    validate_pool_name,
    validate_qualified_name,
)

JSON = dict[str, Any]

# The types of counters, by the field that names the set.
_COUNTERS = {"name": "resource/v1.CounterSet", "counterSet": "resource/v1.DeviceCounterConsumption"}

_MAX_DEVICES = 128
_MAX_DEVICES_ADVANCED = 64  # with taints, counters or lists
_MAX_ATTRIBUTES = 32  # and capacities, of a device
_MAX_ATTRIBUTE_VALUES = 48
_MAX_VALUE = 64
_MAX_TAINTS = 16
_MAX_COUNTER_SETS = 8
_MAX_CONSUMPTIONS = 2
_MAX_COUNTERS = 32
_PART = r"(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
_VERSION = re.compile(
    rf"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-{_PART}(\.{_PART})*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?", re.ASCII
)
_LISTS = ("bools", "ints", "strings", "versions")
_VALUES = ("bool", "int", "string", "version", *_LISTS)
_WHERE = ("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection")
_WHERE_DEVICE = ("nodeName", "nodeSelector", "allNodes")
_MAPPINGS = "nodeAllocatableResourceMappings"
_ONE_OF = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
_ONE_OF_DEVICE = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true "
    "in the ResourceSlice spec"
)


class ResourceSlices(Strategy):
    """Rules of the lists of devices that a driver offers."""

    answers_deleted_object = True
    indexed_field = "spec.nodeName"
    selectable_fields = frozenset(("spec.driver", "spec.nodeName"))
    selectable_metadata = ("metadata.name",)

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        super().prepare_create(obj, ctx)
        _default_slice(obj.setdefault("spec", {}), ctx.now)

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return _warned(obj, ctx, super().validate_create(obj, ctx) + _validate_slice(obj["spec"], {}))

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        _default_slice(new.setdefault("spec", {}), ctx.now)
        super().prepare_update(new, old, ctx)

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        spec, before = new["spec"], old["spec"]
        errors = super().validate_update(new, old, ctx) + _validate_slice(spec, before)
        errors += immutable("spec.pool.name", _pool(spec).get("name"), _pool(before).get("name"))
        for field in ("driver", "nodeName"):
            errors += immutable(f"spec.{field}", spec.get(field), before.get(field))
        return _warned(new, ctx, errors)

    def unselectable(self, name: str) -> str:
        return f"field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: {name}"

    def field_labels(self, obj: JSON) -> dict[str, str]:
        spec = obj.get("spec", {})
        return {"spec.driver": spec.get("driver") or "", "spec.nodeName": spec.get("nodeName") or ""}


def _pool(spec: JSON) -> JSON:
    return spec.get("pool") or {}


def _warned(obj: JSON, ctx: Context, errors: Errors) -> Errors:
    driver = obj["spec"].get("driver") or ""
    if not errors and driver != driver.lower():
        ctx.warnings.append(
            f"spec.driver: driver names should be lowercase; {quote(driver)} contains uppercase characters"
        )
    return errors


def _default_slice(spec: JSON, now: str) -> None:
    for device in spec.get("devices") or ():
        for taint in device.get("taints") or ():
            taint.setdefault("timeAdded", now)
        for mapping in (device.get(_MAPPINGS) or {}).values():
            mapping.setdefault("allocationMultiplier", "1")


def _has_lists(device: JSON) -> bool:
    return any(
        attribute.get(field) is not None for attribute in (device.get("attributes") or {}).values() for field in _LISTS
    )


def _validate_slice(spec: JSON, before: JSON) -> Errors:
    errors = validate_driver_name(spec.get("driver") or "", "spec.driver")
    pool = _pool(spec)
    errors += validate_pool_name(pool.get("name") or "", "spec.pool.name")
    if pool.get("resourceSliceCount", 0) <= 0:
        count = pool.get("resourceSliceCount", 0)
        errors.append(FieldError.invalid("spec.pool.resourceSliceCount", count, "must be greater than zero"))
    if pool.get("generation", 0) < 0:
        why = "must be greater than or equal to zero"
        errors.append(FieldError.invalid("spec.pool.generation", pool["generation"], why))
    errors += _validate_where(spec, _WHERE, "spec", _ONE_OF, "must be either unset or set to a non-empty string")
    terms = (spec.get("nodeSelector") or {}).get("nodeSelectorTerms") or []
    if "nodeSelector" in spec and len(terms) != 1:
        why = "must have exactly one node selector term"
        errors.append(FieldError.invalid("spec.nodeSelector.nodeSelectorTerms", terms, why))
    devices, former = spec.get("devices") or [], before.get("devices") or []
    if devices and spec.get("sharedCounters"):
        errors.append(FieldError.invalid("spec", "", "only one of `sharedCounters` or `devices` is allowed"))
    advanced = any(device.get("taints") or device.get("consumesCounters") or _has_lists(device) for device in devices)
    most = _MAX_DEVICES_ADVANCED if advanced else _MAX_DEVICES
    per_device = bool(spec.get("perDeviceNodeSelection"))
    taints = {device.get("name"): device.get("taints") or [] for device in former}

    def check(device: JSON, path: str) -> Errors:
        known = taints.get(device.get("name")) == (device.get("taints") or [])
        return _validate_device(device, path) + _validate_reach(device, path, per_device, known)

    errors += validate_items(devices, most, check, "spec.devices", lambda device: device.get("name") or "")
    return errors + validate_items(
        spec.get("sharedCounters") or [],
        _MAX_COUNTER_SETS,
        lambda one, path: _validate_counters(one, "name", path),
        "spec.sharedCounters",
        lambda one: one.get("name") or "",
    )


def _validate_counters(one: JSON, field: str, path: str) -> Errors:
    """Check a set of counters, or the part of one that a device uses."""
    of, counters = _COUNTERS[field], one.get("counters") or {}
    errors = validate_field(of, one, field, path, dns_label) + validate_field(of, one, "counters", path)
    if len(counters) > _MAX_COUNTERS:
        errors.append(FieldError.too_many(f"{path}.counters", len(counters), _MAX_COUNTERS))
    else:
        errors += [error for key in counters for error in problems(f"{path}.counters", key, dns_label(key))]
    return errors


def _validate_where(spec: JSON, fields: tuple[str, ...], path: str, one_of: str, empty: str) -> Errors:
    """Check the nodes that reach the devices: exactly one of the fields must say it."""
    errors: Errors = []
    chosen = []
    for field in fields:
        value = spec.get(field)
        if field not in spec:
            continue
        if value or (field == "nodeSelector" and value is not None):
            chosen.append(f"`{field}`")
        if field == "nodeName":
            if value:
                errors += problems(f"{path}.nodeName", value, dns_subdomain(value))
            else:
                errors.append(FieldError.invalid(f"{path}.nodeName", value, empty))
        elif field == "nodeSelector":
            errors += validate_node_selector(value or {}, f"{path}.nodeSelector")
        elif not value:
            errors.append(FieldError.invalid(f"{path}.{field}", value, "must be either unset or set to true"))
    if not chosen:
        errors.append(FieldError.required(path, one_of))
    elif len(chosen) > 1:
        why = f"{one_of}, but multiple fields are set"
        errors.append(FieldError.invalid(path, f"{{{', '.join(chosen)}}}", why))
    return errors


def _validate_device(device: JSON, path: str) -> Errors:
    errors = problems(f"{path}.name", device.get("name") or "", dns_label(device.get("name") or ""))
    attributes, capacity = device.get("attributes") or {}, device.get("capacity") or {}
    count, values = len(attributes) + len(capacity), sum(map(_count_values, attributes.values()))
    if count > _MAX_ATTRIBUTES:
        why = f"the total number of attributes and capacities must not exceed {_MAX_ATTRIBUTES}"
        errors.append(FieldError.invalid(path, count, why))
    if values > _MAX_ATTRIBUTE_VALUES:
        why = f"the total number of attribute values must not exceed {_MAX_ATTRIBUTE_VALUES}"
        errors.append(FieldError.invalid(path, values, why))
    for name, attribute in attributes.items():
        errors += validate_qualified_name(name, f"{path}.attributes")
        errors += _validate_attribute(attribute, f"{path}.attributes[{name}]")
    shared = bool(device.get("allowMultipleAllocations"))
    for name, amount in capacity.items():
        errors += validate_qualified_name(name, f"{path}.capacity")
        errors += validate_capacity(amount, f"{path}.capacity[{name}]", shared=shared)
    errors += validate_items(
        device.get("consumesCounters") or [],
        _MAX_CONSUMPTIONS,
        lambda one, at: _validate_counters(one, "counterSet", at),
        f"{path}.consumesCounters",
        lambda one: one.get("counterSet") or "",
    )
    errors += validate_binding_conditions(device, path)
    for name, mapping in (device.get(_MAPPINGS) or {}).items():
        errors += _validate_mapping(name, mapping, capacity, f"{path}.{_MAPPINGS}[{name}]")
    return errors


def _validate_reach(device: JSON, path: str, per_device: bool, known: bool) -> Errors:
    """Check what keeps pods from a device: its taints (unless they are `known`), and the nodes that reach it."""
    errors: Errors = []
    if not known:
        errors += validate_items(device.get("taints") or [], _MAX_TAINTS, _validate_taint, f"{path}.taints")
    if per_device:
        return errors + _validate_where(device, _WHERE_DEVICE, path, _ONE_OF_DEVICE, "must not be empty")
    if any(field in device for field in _WHERE_DEVICE):
        why = (
            "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in "
            "the ResourceSlice spec"
        )
        errors.append(FieldError.invalid(path, None, why))
    return errors


def _validate_mapping(name: str, mapping: JSON, capacity: JSON, path: str) -> Errors:
    """Check a resource of the node that the device uses."""
    errors: Errors = []
    times, key = mapping.get("allocationMultiplier"), mapping.get("capacityKey")
    if not is_native(name):
        errors.append(FieldError.invalid(path, name, "must be a node allocatable resource name"))
    if times is not None and Quantity.parse(times).value <= 0:
        errors.append(FieldError.invalid(f"{path}.allocationMultiplier", times, "must be positive"))
    if key == "":
        errors.append(FieldError.invalid(f"{path}.capacityKey", "", "capacityKey must not be an empty string"))
    elif key is not None and key not in capacity:
        errors.append(FieldError.not_found(f"{path}.capacityKey", key))
    return errors


def _count_values(attribute: JSON) -> int:
    return sum(len(attribute.get(field) or ()) for field in _LISTS) or 1


def _validate_attribute(attribute: JSON, path: str) -> Errors:
    errors: Errors = []
    for field in _VALUES:
        value = attribute.get(field)
        if value is None:
            continue
        if field in _LISTS and not value:
            errors.append(FieldError.invalid(f"{path}.{field}", value, "must not be empty if specified"))
        texts = {"string": [value], "version": [value], "strings": value, "versions": value}.get(field, [])
        for index, text in enumerate(texts):
            at = f"{path}.{field}[{index}]" if field in _LISTS else f"{path}.{field}"
            if field.startswith("version") and not _VERSION.fullmatch(text):
                why = "must be a string compatible with semver.org spec 2.0.0"
                errors.append(FieldError.invalid(at, text, why))
            if len(text.encode()) > _MAX_VALUE:
                errors.append(FieldError.too_long(at, _MAX_VALUE))
    given = [field for field in _VALUES if attribute.get(field) is not None]
    if len(given) != 1:
        errors.append(FieldError.invalid(path, attribute if given else "", "exactly one value must be specified"))
    return errors


def _validate_taint(taint: JSON, path: str) -> Errors:
    key, value = taint.get("key") or "", taint.get("value") or ""
    errors = problems(f"{path}.key", key, qualified_name(key)) + problems(f"{path}.value", value, label_value(value))
    return errors + validate_field("resource/v1.DeviceTaint", taint, "effect", path)
