"""Device classes, and the rules that they share with claims and slices (`pkg/apis/resource/validation`)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable
from typing import Any

from ... import cel
from ...apimachinery.metadata import Errors, problems
from ...apimachinery.names import dns_subdomain, qualified_name
from ...apimachinery.status import FieldError
from ..resource_lists import is_extended
from ..strategy import Context, Strategy

JSON = dict[str, Any]

MAX_SELECTORS = 32
MAX_CONFIGS = 32

_MAX_DRIVER_NAME = 63
_MAX_POOL_NAME = 253
_MAX_IDENTIFIER = 32
_MAX_CONDITIONS = 4
_MAX_OBJECT = 10 * 1024  # bytes
_MAX_EXPRESSION = 10 * 1024
_CONDITIONS = ("bindingConditions", "bindingFailureConditions")
_DEVICE: cel.Type = (
    "object",
    cel.ObjectType(
        "kubernetes.DRADevice",
        lambda: {
            "driver": ("string",),
            "allowMultipleAllocations": ("bool",),
            "attributes": ("map", ("string",), ("map", ("string",), ("any",))),
            "capacity": ("map", ("string",), ("map", ("string",), ("kubernetes.Quantity",))),
        },
    ),
)
"""The type of a device as selectors see it (`k8s.io/dynamic-resource-allocation/cel`)."""
_ATTRIBUTE = cel.Extent(64)
_EXTENT = cel.Extent(
    0,
    fields={
        "driver": cel.Extent(63),
        "allowMultipleAllocations": cel.Extent(1),
        "attributes": cel.Extent(
            32, keys=cel.Extent(63), items=cel.Extent(32, keys=cel.Extent(32), items=_ATTRIBUTE, others=_ATTRIBUTE)
        ),
        "capacity": cel.Extent(32, keys=cel.Extent(63), items=cel.Extent(32, keys=cel.Extent(32), items=cel.Extent(0))),
    },
)
_MOST_COST = 1_000_000
"""The highest cost that a selector may have (`CELSelectorExpressionMaxCost`)."""
_ANY = re.compile(r"\bany\b")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_IDENTIFIER_WRONG = (
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters "
    "or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')"
)
_UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)
# What can be read as one (`Validate` of github.com/google/uuid), but is not how it is to be written.
_UID_LENGTHS = (32, 36, 38, 45)
_UID_FORMS = re.compile(
    r"(urn:uuid:)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}|\{[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\}",
    re.ASCII | re.IGNORECASE,
)
_UID_WRONG = (
    "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal "
    "characters"
)


class DeviceClasses(Strategy):
    """Rules of the classes of devices that claims ask for."""

    validates_prefix = False
    revalidates_metadata = True
    answers_deleted_object = True

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        obj["metadata"]["generation"] = 1

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return super().validate_create(obj, ctx) + _validate_class(obj.get("spec") or {})

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx)
        return errors + _validate_class(new.get("spec") or {})


def validate_items(
    items: list[Any],
    most: int,
    check: Callable[[Any, str], Errors],
    path: str,
    key: Callable[[Any], Hashable] | None = None,
) -> Errors:
    """Return the errors in a list: too many items, wrong items and, if `key` is given, duplicate keys."""
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
    """Check the expressions that devices must satisfy. The scheduler evaluates them."""
    return validate_items(selectors, MAX_SELECTORS, _validate_selector, path)


def validate_configuration(config: JSON, path: str) -> Errors:
    """Check the parameters for a driver."""
    opaque = config.get("opaque")
    if opaque is None:
        return [FieldError.required(f"{path}.opaque")]
    errors = validate_driver_name(opaque.get("driver") or "", f"{path}.opaque.driver")
    return errors + validate_object(opaque.get("parameters"), f"{path}.opaque.parameters")


def validate_qualified_name(name: str, path: str) -> Errors:
    """Check the name of an attribute or a capacity: an identifier, which may follow a domain."""
    *domains, identifier = name.split("/")
    if len(domains) > 1:  # a gap in the real server's rules
        return []
    errors: Errors = []
    for domain in domains:
        if domain:
            errors += validate_driver_name(domain, path)
        else:
            errors.append(FieldError.invalid(path, "", "the domain must not be empty"))
    if domains and not identifier:
        return [*errors, FieldError.invalid(path, "", "the name must not be empty")]
    if len(identifier) > _MAX_IDENTIFIER:
        errors.append(FieldError.too_long(path, _MAX_IDENTIFIER))
    if not _IDENTIFIER.fullmatch(identifier):
        errors.append(FieldError.invalid(path, identifier, _IDENTIFIER_WRONG))
    return errors


def validate_binding_conditions(obj: JSON, path: str) -> Errors:
    """Check the conditions that a pod waits for after it got a device, and those that end the waiting."""
    conditions, failures = (obj.get(field) or [] for field in _CONDITIONS)
    errors: Errors = []
    for field, names in zip(_CONDITIONS, (conditions, failures), strict=True):
        errors += validate_items(names, _MAX_CONDITIONS, _validate_key, f"{path}.{field}")
        errors += [
            FieldError.duplicate(f"{path}.{field}[{index}]", name)
            for index, name in enumerate(names)
            if name in names[:index]
        ]
    errors += [
        FieldError.invalid(
            f"{path}.{_CONDITIONS[1]}[{index}]", name, f"{_CONDITIONS[1]} must not overlap with {_CONDITIONS[0]}"
        )
        for index, name in enumerate(failures)
        if name in conditions
    ]
    for (field, names), (other, others) in (
        ((_CONDITIONS[0], conditions), (_CONDITIONS[1], failures)),
        ((_CONDITIONS[1], failures), (_CONDITIONS[0], conditions)),
    ):
        if others and not names:
            errors.append(FieldError.invalid(f"{path}.{field}", None, f"{field} are required to use {other}"))
    return errors


def validate_object(raw: Any, path: str) -> Errors:
    """Check data of a driver: it must be a JSON object, and not too large."""
    if raw is None:
        return [FieldError.required(path)]
    if len(json.dumps(raw, ensure_ascii=False, separators=(",", ":")).encode()) > _MAX_OBJECT:
        return [FieldError.too_long(path, _MAX_OBJECT)]
    if not isinstance(raw, dict):
        return [FieldError.invalid(path, "<value omitted>", "must be a valid JSON object")]
    return []


def validate_share_id(uid: str | None, path: str) -> Errors:
    """Check the uid of a share of a device, if it has one."""
    if uid is None or _UID.fullmatch(uid):
        return []
    if len(uid) not in _UID_LENGTHS:
        return [FieldError.invalid(path, uid, f"error validating uid: invalid UUID length: {len(uid)}")]
    readable = _UID_FORMS.fullmatch(uid) is not None
    return [FieldError.invalid(path, uid, _UID_WRONG if readable else "error validating uid: invalid UUID format")]


def _validate_key(key: str, path: str) -> Errors:
    return problems(path, key, qualified_name(key))


def _validate_selector(selector: JSON, path: str) -> Errors:
    its_cel = selector.get("cel")
    if its_cel is None:
        return [FieldError.required(f"{path}.cel")]
    expression = its_cel.get("expression") or ""
    if len(expression.encode()) > _MAX_EXPRESSION:
        return [FieldError.too_long(f"{path}.cel.expression", _MAX_EXPRESSION)]
    at = f"{path}.cel.expression"
    checked, wrong = cel.compiled(expression, {"device": _DEVICE}, bind=True)
    if checked is not None and not wrong and checked.type[0] not in ("bool", "any"):
        result_type = _ANY.sub("google.protobuf.Any", cel.shown(checked.type))
        wrong = f"must evaluate to bool or the unknown type, not {result_type}"
    wrong = wrong or cel.instantiation_problem(expression, bind=True)
    if checked is None or wrong:
        return [FieldError.invalid(at, expression, wrong)]
    if cel.estimated(checked, _size) > _MOST_COST:
        return [FieldError.forbidden(at, "too complex, exceeds cost limit")]
    return []


def _size(steps: list[str]) -> cel.Size | None:
    """Return the size of a part of a device, to which steps lead from a variable."""
    return _EXTENT.at(steps[1:]) if steps[0] == "device" else None


def _validate_class(spec: JSON) -> Errors:
    errors = validate_selectors(spec.get("selectors") or [], "spec.selectors")
    errors += validate_items(spec.get("config") or [], MAX_CONFIGS, validate_configuration, "spec.config")
    resource = spec.get("extendedResourceName")
    if resource is not None and not is_extended(resource):
        why = "must be a valid extended resource name"
        errors.append(FieldError.invalid("spec.extendedResourceName", resource, why))
    return errors
