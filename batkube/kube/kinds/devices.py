"""Devices of nodes, and classes of them: resource slices and device classes (`pkg/apis/resource/validation`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from typing import Any

from ..metadata import Errors, immutable, problems
from ..names import dns_label, dns_subdomain
from ..status import FieldError
from ..strategy import Context, Strategy
from .nodes import validate_taint_key_and_value
from .resource_lists import is_extended
from .scheduling_validation import validate_node_selector

JSON = dict[str, Any]
Check = Callable[[JSON, str], Errors]

MAX_SELECTORS = 32
MAX_CONFIGS = 32

_MAX_DRIVER_NAME = 63
_MAX_POOL_NAME = 253
_MAX_IDENTIFIER = 32
_MAX_DEVICES = 128
_MAX_DEVICES_ADVANCED = 64  # with taints or counters
_MAX_ATTRIBUTES = 32  # and capacities, of a device
_MAX_VALUE = 64
_MAX_TAINTS = 16
_MAX_EXPRESSION = 10 * 1024
_TAINT_EFFECTS = ("None", "NoSchedule", "NoExecute")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_IDENTIFIER_WRONG = (
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters "
    "or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')"
)
_PART = r"(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
_VERSION = re.compile(
    rf"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-{_PART}(\.{_PART})*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?", re.ASCII
)
_VALUES = ("bool", "int", "string", "version", "bools", "ints", "strings", "versions")
_WHERE = ("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection")
_ONE_OF = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
_ONE_OF_DEVICE = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true "
    "in the ResourceSlice spec"
)


class ResourceSlices(Strategy):
    """The devices that a driver offers."""

    selectable_fields = frozenset(("spec.driver", "spec.nodeName"))

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        super().prepare_create(obj, ctx)
        _default_slice(obj.setdefault("spec", {}), ctx.now)

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return super().validate_create(obj, ctx) + _validate_slice(obj["spec"])

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        _default_slice(new.setdefault("spec", {}), ctx.now)
        super().prepare_update(new, old, ctx)

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        spec, before = new["spec"], old["spec"]
        errors = super().validate_update(new, old, ctx) + _validate_slice(spec)
        errors += immutable("spec.pool.name", _pool(spec).get("name"), _pool(before).get("name"))
        for field in ("driver", "nodeName"):
            errors += immutable(f"spec.{field}", spec.get(field), before.get(field))
        return errors

    def field_labels(self, obj: JSON) -> dict[str, str]:
        spec = obj.get("spec", {})
        return {"spec.driver": spec.get("driver") or "", "spec.nodeName": spec.get("nodeName") or ""}


class DeviceClasses(Strategy):
    """Kinds of devices that claims ask for."""

    validates_prefix = False
    revalidates_metadata = True

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return super().validate_create(obj, ctx) + _validate_class(obj.get("spec") or {})

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        return super().validate_update(new, old, ctx) + _validate_class(new.get("spec") or {})


def validate_items(
    items: list[Any],
    most: int,
    check: Callable[[Any, str], Errors],
    path: str,
    key: Callable[[Any], Hashable] | None = None,
) -> Errors:
    """What is wrong with a list: too long, its items, and where they have a key, duplicates of that."""
    if 0 <= most < len(items):
        return [FieldError.too_many(path, len(items), most)]
    errors = [error for index, item in enumerate(items) for error in check(item, f"{path}[{index}]")]
    if key is not None:
        keys = [key(item) for item in items]
        errors += [
            FieldError.duplicate(f"{path}[{index}]", one) for index, one in enumerate(keys) if one in keys[:index]
        ]
    return errors


def validate_driver_name(name: str, path: str) -> Errors:
    if not name:
        return [FieldError.required(path)]
    errors = [FieldError.too_long(path, _MAX_DRIVER_NAME)] if len(name) > _MAX_DRIVER_NAME else []
    # A name in capitals is one, as drivers of volumes have it; what is shown is what was sent.
    return errors + problems(path, name, dns_subdomain(name.lower()))


def validate_pool_name(name: str, path: str) -> Errors:
    if not name:
        return [FieldError.required(path)]
    errors = [FieldError.too_long(path, _MAX_POOL_NAME)] if len(name) > _MAX_POOL_NAME else []
    return errors + [error for part in name.split("/") for error in problems(path, part, dns_subdomain(part))]


def validate_selectors(selectors: list[JSON], path: str) -> Errors:
    """Expressions that devices must satisfy. What they say is for the scheduler to evaluate."""
    return validate_items(selectors, MAX_SELECTORS, _validate_selector, path)


def validate_configuration(config: JSON, path: str) -> Errors:
    """Parameters for a driver."""
    opaque = config.get("opaque")
    if opaque is None:
        return [FieldError.required(f"{path}.opaque")]
    errors = validate_driver_name(opaque.get("driver") or "", f"{path}.opaque.driver")
    if opaque.get("parameters") is None:
        errors.append(FieldError.required(f"{path}.opaque.parameters"))
    elif not isinstance(opaque["parameters"], dict):
        errors.append(FieldError.invalid(f"{path}.opaque.parameters", "<value omitted>", "must be a valid JSON object"))
    return errors


def validate_qualified_name(name: str, path: str) -> Errors:
    """The name of an attribute or a capacity: an identifier, which may have a domain before it."""
    domain, slash, identifier = name.rpartition("/")
    errors: Errors = []
    if slash and not domain:
        errors.append(FieldError.invalid(path, "", "the domain must not be empty"))
    elif slash:
        errors += validate_driver_name(domain, path)
    if slash and not identifier:
        return [*errors, FieldError.invalid(path, "", "the name must not be empty")]
    if len(identifier) > _MAX_IDENTIFIER:
        errors.append(FieldError.too_long(path, _MAX_IDENTIFIER))
    if not _IDENTIFIER.fullmatch(identifier):
        errors.append(FieldError.invalid(path, identifier, _IDENTIFIER_WRONG))
    return errors


def _validate_selector(selector: JSON, path: str) -> Errors:
    cel = selector.get("cel")
    if cel is None:
        return [FieldError.required(f"{path}.cel")]
    expression = cel.get("expression") or ""
    if len(expression.encode()) > _MAX_EXPRESSION:
        return [FieldError.too_long(f"{path}.cel.expression", _MAX_EXPRESSION)]
    wrong = _syntax_problem(expression)
    return [FieldError.invalid(f"{path}.cel.expression", expression, wrong)] if wrong else []


def _syntax_problem(expression: str) -> str:
    """What a glance finds wrong with a CEL expression: brackets that do not match, an operator at its end. Only
    schedulers evaluate them.
    """
    pairs = {")": "(", "]": "[", "}": "{"}
    opened: list[str] = []
    quoted = ""
    for sign in expression:
        if quoted:
            quoted = "" if sign == quoted else quoted
        elif sign in "'\"":
            quoted = sign
        elif sign in "([{":
            opened.append(sign)
        elif sign in pairs and (not opened or opened.pop() != pairs[sign]):
            return "compilation failed: ERROR: <input>:1:1: Syntax error: mismatched input"
    if opened or quoted or expression.rstrip().endswith(("=", "&", "|", "<", ">", "+", "-", "*", "/", "!", ".", ",")):
        return f"compilation failed: ERROR: <input>:1:{len(expression) + 1}: Syntax error: mismatched input '<EOF>'"
    return ""


def _validate_class(spec: JSON) -> Errors:
    errors = validate_selectors(spec.get("selectors") or [], "spec.selectors")
    errors += validate_items(spec.get("config") or [], MAX_CONFIGS, validate_configuration, "spec.config")
    resource = spec.get("extendedResourceName")
    if resource is not None and not is_extended(resource):
        why = "must be a valid extended resource name"
        errors.append(FieldError.invalid("spec.extendedResourceName", resource, why))
    return errors


def _pool(spec: JSON) -> JSON:
    return spec.get("pool") or {}


def _default_slice(spec: JSON, now: str) -> None:
    for device in spec.get("devices") or ():
        for taint in device.get("taints") or ():
            taint.setdefault("timeAdded", now)


def _validate_slice(spec: JSON) -> Errors:
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
    devices = spec.get("devices") or []
    if devices and spec.get("sharedCounters"):
        errors.append(FieldError.invalid("spec", "", "only one of `sharedCounters` or `devices` is allowed"))
    advanced = any(device.get("taints") or device.get("consumesCounters") for device in devices)
    most = _MAX_DEVICES_ADVANCED if advanced else _MAX_DEVICES
    per_device = bool(spec.get("perDeviceNodeSelection"))

    def check(device: JSON, path: str) -> Errors:
        return _validate_device(device, path, per_device)

    return errors + validate_items(devices, most, check, "spec.devices", lambda device: device.get("name") or "")


def _validate_where(spec: JSON, fields: tuple[str, ...], path: str, one_of: str, empty: str) -> Errors:
    """The nodes that reach the devices: one way to say it."""
    errors: Errors = []
    chosen = []
    for field in fields:
        value = spec.get(field)
        if field not in spec:
            continue
        if value:
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


def _validate_device(device: JSON, path: str, per_device: bool) -> Errors:
    errors = problems(f"{path}.name", device.get("name") or "", dns_label(device.get("name") or ""))
    attributes, capacity = device.get("attributes") or {}, device.get("capacity") or {}
    if len(attributes) + len(capacity) > _MAX_ATTRIBUTES:
        why = f"the total number of attributes and capacities must not exceed {_MAX_ATTRIBUTES}"
        errors.append(FieldError.invalid(path, len(attributes) + len(capacity), why))
    for name, attribute in attributes.items():
        errors += validate_qualified_name(name, f"{path}.attributes")
        errors += _validate_attribute(attribute, f"{path}.attributes[{name}]")
    shared = bool(device.get("allowMultipleAllocations"))
    for name, amount in capacity.items():
        errors += validate_qualified_name(name, f"{path}.capacity")
        if amount.get("requestPolicy") is not None and not shared:
            why = "allowMultipleAllocations must be true"
            errors.append(FieldError.forbidden(f"{path}.capacity[{name}].requestPolicy", why))
    errors += validate_items(device.get("taints") or [], _MAX_TAINTS, _validate_taint, f"{path}.taints")
    own = ("nodeName", "nodeSelector", "allNodes")
    if per_device:
        return errors + _validate_where(device, own, path, _ONE_OF_DEVICE, "must not be empty")
    if any(field in device for field in own):
        why = (
            "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in "
            "the ResourceSlice spec"
        )
        errors.append(FieldError.invalid(path, None, why))
    return errors


def _validate_attribute(attribute: JSON, path: str) -> Errors:
    errors: Errors = []
    for field in ("string", "version"):
        value = attribute.get(field)
        if value is not None and field == "version" and not _VERSION.fullmatch(value):
            why = "must be a string compatible with semver.org spec 2.0.0"
            errors.append(FieldError.invalid(f"{path}.version", value, why))
        if value is not None and len(value.encode()) > _MAX_VALUE:
            errors.append(FieldError.too_long(f"{path}.{field}", _MAX_VALUE))
    given = [field for field in _VALUES if attribute.get(field) is not None]
    if len(given) != 1:
        errors.append(FieldError.invalid(path, attribute if given else "", "exactly one value must be specified"))
    return errors


def _validate_taint(taint: JSON, path: str) -> Errors:
    errors = validate_taint_key_and_value(taint, path)
    effect = taint.get("effect") or ""
    if not effect:
        errors.append(FieldError.required(f"{path}.effect"))
    elif effect not in _TAINT_EFFECTS:
        errors.append(FieldError.not_supported(f"{path}.effect", effect, _TAINT_EFFECTS))
    return errors
