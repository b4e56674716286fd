"""The schemas of definitions: their allowed content, and the check that their defaults are allowed by them
(`apiextensions-apiserver/pkg/apis/apiextensions/validation`, `pkg/apiserver/schema/defaulting`).
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ..apimachinery.status import FieldError
from ..codec.custom_objects import TYPE_META, prune
from . import rules
from . import schema as schemas
from .rule_validation import Findings, RulePlace, validate_texts
from .structural import junctions, validate_structural

JSON = dict[str, Any]
Errors = list[FieldError]

_LIST_TYPE, _LIST_KEYS, _MAP_TYPE = "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type"
_PRESERVE, _EMBEDDED = "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"
_TYPES = ("array", "boolean", "integer", "number", "object", "string")
_UNSUPPORTED = ("id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref")
# What the root may say where the status is a subresource: the schema of that is taken out of it.
_AT_ROOT = frozenset(
    (
        *("description", "type", "format", "title", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum"),
        *("maxLength", "minLength", "pattern", "maxItems", "minItems", "uniqueItems", "multipleOf", "required"),
        *("items", "properties", "externalDocs", "example", _PRESERVE, "x-kubernetes-validations"),
    )
)
_FORMATS = frozenset(
    (
        *("bsonobjectid", "uri", "email", "hostname", "ipv4", "ipv6", "cidr", "mac", "uuid", "uuid3", "uuid4"),
        *("uuid5", "isbn", "isbn10", "isbn13", "creditcard", "ssn", "hexcolor", "rgbcolor", "byte", "password"),
        *("date", "duration", "datetime", "k8sshortname", "k8slongname"),
    )
)
_NUMBER_FORMATS = {"integer": ("int32", "int64"), "number": ("float", "double")}


@dataclass(frozen=True, slots=True)
class _Place:
    """The place of a schema inside another."""

    root: bool = False
    metadata: bool = False  # of the object itself, or of one that it has in it
    no_default: str = ""  # why there may be none


def validate_schema(schema: JSON, path: str, *, has_status: bool, unchanged: bool = False) -> Errors:
    """Return all errors in the schema of a version. One that is unchanged may have rules that cost too much."""
    errors: Errors = _validate_root(schema, path) if has_status else []
    if schema.get("nullable"):
        errors.append(FieldError.forbidden(f"{path}.nullable", "nullable cannot be true at the root"))
    unreadable = any(_has_mark(inner) for inner in schemas_in(schema))
    referring = any(inner.get("$ref") is not None for inner in schemas_in(schema))
    structural = (
        [] if unreadable or referring else validate_structural(schema, path) or _validate_defaults(schema, path)
    )
    found = Findings(unchanged=unchanged)
    rules = RulePlace(found) if not (unreadable or referring or structural) else None
    errors += structural + _validate(schema, path, _Place(root=True), rules)
    if unreadable and not errors:
        errors.append(FieldError.invalid(path, "", "OpenAPIV3Schema 'schema' is not supported"))
    return errors + found.errors + found.of_all(path)


def _has_mark(schema: JSON) -> bool:
    return bool(schema.get("$schema"))


def schemas_in(schema: JSON) -> Iterator[JSON]:
    """Yield the schema and all schemas in it."""
    yield schema
    for inner, _ in _below(schema, ""):
        yield from schemas_in(inner)


def has_defaults(schema: JSON) -> bool:
    """Return True if there is a default anywhere."""
    return any(inner.get("default") is not None for inner in schemas_in(schema))


def unknown_formats(schema: JSON) -> Iterator[str]:
    """Yield the unknown formats, which are not checked."""
    for inner in schemas_in(schema):
        json_type, form = inner.get("type") or "", inner.get("format") or ""
        text = json_type in ("", "string")
        known = form.replace("-", "") in _FORMATS if text else form in _NUMBER_FORMATS.get(json_type, ())
        if form and not known:
            yield form


def _below(schema: JSON, path: str) -> Iterator[tuple[JSON, str]]:
    """Yield the schemas directly in a schema, in the order in which the real server looks at them."""
    if isinstance(schema.get("additionalProperties"), dict):
        yield schema["additionalProperties"], f"{path}.additionalProperties"
    for name, inner in (schema.get("properties") or {}).items():
        yield inner, f"{path}.properties[{name}]"
    yield from junctions(schema, path)
    if isinstance(schema.get("items"), dict):
        yield schema["items"], f"{path}.items"


def _rules_below(rules: RulePlace | None, schema: JSON, path: str, at: str) -> RulePlace | None:
    """Return the place of a schema directly in another, for its rules; None if it is only a condition."""
    if rules is not None and at.startswith((f"{path}.additionalProperties", f"{path}.properties[")):
        return rules.of_fields(schema)
    return rules.of_items(schema, path) if rules is not None and at == f"{path}.items" else None


def _validate_root(schema: JSON, path: str) -> Errors:
    json_type = schema.get("type") or ""
    errors: Errors = []
    if json_type not in ("", "object"):
        why = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
        errors.append(FieldError.invalid(f"{path}.type", json_type, why))
    others = [
        key
        for key, value in schema.items()
        if key not in _AT_ROOT and (value not in ("", False, None) or (value == "" and key in (_MAP_TYPE, _LIST_TYPE)))
    ]
    if others:
        why = "only some fields are allowed at the root of the schema if the status subresource is enabled"
        errors.append(FieldError.invalid(path, f"<{', '.join(others)}>", why))
    return errors


def _validate(schema: JSON, path: str, place: _Place, rules: RulePlace | None) -> Errors:
    """Check all of a schema but its structure. Its rules are compiled if all else in it is right."""
    errors = _validate_kinds(schema, path, place)
    if schema.get("uniqueItems"):
        why = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        errors.append(FieldError.forbidden(f"{path}.uniqueItems", why))
    additional = schema.get("additionalProperties")
    if schema.get("properties") and additional is not None and additional is not True:
        why = "additionalProperties and properties are mutual exclusive"
        errors.append(FieldError.forbidden(f"{path}.additionalProperties", why))
    for inner, at in _below(schema, path):
        within = _rules_below(rules, schema, path, at)
        errors += _validate(inner, at, _place_of(schema, inner, at.removeprefix(path), place), within)
    if schema.get(_PRESERVE) is False:
        errors.append(FieldError.invalid(f"{path}.{_PRESERVE}", False, "must be true or undefined"))
    errors += _validate_map_type(schema, path) + _validate_list_type(schema, path) + _validate_rules(schema, path)
    if rules is not None and not errors:
        rules.validate(schema, path)
    return errors


def _place_of(schema: JSON, inner: JSON, at: str, place: _Place) -> _Place:
    below = replace(place, root=False)
    if at == ".additionalProperties" and place.metadata:
        return replace(below, no_default="inside additionalProperties applying to object metadata")
    name = at.removeprefix(".properties[").removesuffix("]")
    if at.startswith(".properties[") and name in TYPE_META and (place.root or schema.get(_EMBEDDED)):
        below = replace(below, metadata=True)
        return replace(below, no_default=f"in top-level {name}") if place.root else below
    return below


def _validate_kinds(schema: JSON, path: str, place: _Place) -> Errors:
    json_type = schema.get("type") or ""
    errors: Errors = []
    if json_type and json_type not in _TYPES:
        errors.append(FieldError.not_supported(f"{path}.type", json_type, _TYPES))
    if json_type == "null":
        why = "type cannot be set to null, use nullable as an alternative"
        errors.append(FieldError.forbidden(f"{path}.type", why))
    if place.no_default and schema.get("default") is not None:
        errors.append(FieldError.forbidden(f"{path}.default", f"must not be set {place.no_default}"))
    for key in _UNSUPPORTED:
        value = schema.get(key)
        if value is not None and (value or key in ("$ref", "dependencies", "additionalItems")):
            errors.append(FieldError.forbidden(f"{path}.{key}", f"{key} is not supported"))
    if isinstance(schema.get("items"), list) and schema["items"]:
        why = "items must be a schema object and not an array"
        errors.append(FieldError.forbidden(f"{path}.items", why))
    if place.metadata and schema.get(_EMBEDDED):
        why = "must not be used inside of resource meta"
        errors.append(FieldError.forbidden(f"{path}.{_EMBEDDED}", why))
    return errors


def _needs_type(schema: JSON, path: str, wanted: str, key: str) -> Errors:
    json_type, why = schema.get("type") or "", f"must be {wanted} if {key} is specified"
    if json_type == wanted:
        return []
    return [
        FieldError.invalid(f"{path}.type", json_type, why) if json_type else FieldError.required(f"{path}.type", why)
    ]


def _validate_map_type(schema: JSON, path: str) -> Errors:
    value = schema.get(_MAP_TYPE)
    if value is None:
        return []
    errors = _needs_type(schema, path, "object", _MAP_TYPE)
    if value not in ("atomic", "granular"):
        errors.append(FieldError.not_supported(f"{path}.{_MAP_TYPE}", value, ("atomic", "granular")))
    return errors


def _validate_list_type(schema: JSON, path: str) -> Errors:
    value, keys, items = schema.get(_LIST_TYPE), schema.get(_LIST_KEYS) or [], schema.get("items")
    errors: Errors = []
    if value is not None:
        errors += _needs_type(schema, path, "array", _LIST_TYPE)
        if not errors and value == "set" and isinstance(items, dict):
            errors += _validate_set_items(items, f"{path}.items")
        if value not in ("atomic", "set", "map"):
            errors.append(FieldError.not_supported(f"{path}.{_LIST_TYPE}", value, ("atomic", "set", "map")))
    if keys and value != "map":
        at, why = f"{path}.{_LIST_TYPE}", f"must be map if {_LIST_KEYS} is non-empty"
        errors.append(FieldError.required(at, why) if value is None else FieldError.invalid(at, value, why))
    if value == "map":
        errors += _validate_list_map(keys, items, path)
    if value in ("set", "map") and isinstance(items, dict) and items.get("nullable"):
        why = f"cannot be nullable when {_LIST_TYPE} is {value}"
        errors.append(FieldError.forbidden(f"{path}.items.nullable", why))
    return errors


def _validate_set_items(items: JSON, path: str) -> Errors:
    why = f"must be atomic as item of a list with {_LIST_TYPE}=set"
    list_type = items.get(_LIST_TYPE)
    if items.get("type") == "array" and list_type not in (None, "atomic"):
        return [FieldError.invalid(f"{path}.{_LIST_TYPE}", list_type, why)]
    if items.get("type") == "object" and items.get(_MAP_TYPE) != "atomic":
        return [FieldError.invalid(f"{path}.{_MAP_TYPE}", list_type, why)]
    return []


def _validate_list_map(keys: list[str], items: Any, path: str) -> Errors:
    errors: Errors = []
    if not keys:
        why = f"must not be empty if {_LIST_TYPE} is map"
        errors.append(FieldError.required(f"{path}.{_LIST_KEYS}", why))
    if not isinstance(items, dict):
        why = f"must have a schema if {_LIST_TYPE} is map"
        return [*errors, FieldError.required(f"{path}.items", why)]
    if items.get("type") != "object":
        why = f"must be object if parent array's {_LIST_TYPE} is map"
        return [*errors, FieldError.invalid(f"{path}.items.type", items.get("type") or "", why)]
    properties, required = items.get("properties") or {}, items.get("required") or []
    for index, key in enumerate(keys):
        field, at = properties.get(key), f"{path}.items.properties[{key}]"
        if field is None:
            why = "entries must all be names of item properties"
            errors.append(FieldError.invalid(f"{path}.{_LIST_KEYS}", keys, why))
        elif field.get("type") in ("array", "object"):
            why = f"must be a scalar type if parent array's {_LIST_TYPE} is map"
            errors.append(FieldError.invalid(f"{at}.type", items["type"], why))
        if key in keys[:index]:
            errors.append(FieldError.invalid(f"{path}.{_LIST_KEYS}", keys, "must not contain duplicate entries"))
        if field is not None and key not in required and field.get("default") is None:
            why = f"this property is in {_LIST_KEYS}, so it must have a default or be a required property"
            errors.append(FieldError.required(f"{at}.default", why))
        if field is not None and field.get("nullable"):
            why = f"this property is in {_LIST_KEYS}, so it cannot be nullable"
            errors.append(FieldError.forbidden(f"{at}.nullable", why))
    return errors


def _validate_rules(schema: JSON, path: str) -> Errors:
    errors: Errors = []
    for index, rule in enumerate(schema.get("x-kubernetes-validations") or ()):
        errors += validate_texts(rule, schema, f"{path}.x-kubernetes-validations[{index}]")
    return errors


def _validate_defaults(schema: JSON, path: str) -> Errors:
    """Check that a default is a value that the schema allows. (The real server does not check below
    additionalProperties.)
    """
    errors: Errors = []
    value = schema.get("default")
    if value is not None:
        at = f"{path}.default"
        if prune(schema, copy.deepcopy(value)):
            errors.append(FieldError.invalid(at, value, "must not have unknown fields"))
        wrong = schemas.validate(schema, value, "")
        wrong = wrong or rules.check_default(schema)
        errors += [_moved(error, at) for error in wrong]
    for inner, at in _below(schema, path):
        if at.startswith((f"{path}.properties[", f"{path}.items")):
            errors += _validate_defaults(inner, at)
    return errors


def _moved(error: FieldError, path: str) -> FieldError:
    """Return an error in a value as an error in the default that has this value."""
    inner = error.field.removeprefix("<nil>").removeprefix(".")
    return replace(error, field=f"{path}.{inner}" if inner else path)
