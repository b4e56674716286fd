"""The rules by which a schema of a definition is structural, so that unknown fields can be told from known ones
(`apiextensions-apiserver/pkg/apiserver/schema`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..apimachinery.expressions import ExpressionError, expression
from ..apimachinery.status import FieldError

JSON = dict[str, Any]
Errors = list[FieldError]

_PRESERVE = "x-kubernetes-preserve-unknown-fields"
_EMBEDDED = "x-kubernetes-embedded-resource"
_INT_OR_STRING = "x-kubernetes-int-or-string"
_EITHER = [{"type": "integer"}, {"type": "string"}]
_MISSING_TYPE = {
    "root": "must not be empty at the root",
    "item": "must not be empty for specified array items",
    "field": "must not be empty for specified object fields",
}
# What may not stand below allOf, anyOf, oneOf and not: there values are judged, no structure is told.
_NOT_NESTED = {
    "type": "must be empty to be structural",
    "default": "must be undefined to be structural",
    "title": "must be empty to be structural",
    "description": "must be empty to be structural",
    "nullable": "must be false to be structural",
    _PRESERVE: "must be false to be structural",
    _EMBEDDED: "must be false to be structural",
    _INT_OR_STRING: "must be false to be structural",
    "x-kubernetes-list-map-keys": "must be empty to be structural",
    "x-kubernetes-list-type": "must be undefined to be structural",
    "x-kubernetes-map-type": "must be undefined to be structural",
    "x-kubernetes-validations": "must be empty to be structural",
}


def validate_structural(schema: JSON, path: str) -> Errors:
    """Return the errors that keep a schema from being structural."""
    return sorted(
        [*_invariants(schema, "root", path), *_complete(schema, schema, path, path)],
        key=lambda error: (error.field, error.message),
    )


def junctions(schema: JSON, path: str) -> Iterator[tuple[JSON, str]]:
    """Yield the schemas below allOf, anyOf, oneOf and not."""
    for key in ("allOf", "anyOf", "oneOf"):
        for index, branch in enumerate(schema.get(key) or ()):
            yield branch, f"{path}.{key}[{index}]"
    if isinstance(schema.get("not"), dict):
        yield schema["not"], f"{path}.not"


def field_at(schema: JSON, path: str) -> JSON | None:
    """Return the schema of the field at a path such as `.spec.replicas`; None if there is no such field."""
    at: Any = schema
    if not path.startswith("."):
        return None
    for step in path[1:].split("."):
        at = (at.get("properties") or {}).get(step) if isinstance(at, dict) else None
    return at if isinstance(at, dict) else None


def _invariants(schema: JSON, level: str, path: str) -> Errors:
    errors: Errors = []
    json_type, items, additional = schema.get("type") or "", schema.get("items"), schema.get("additionalProperties")
    properties = schema.get("properties") or {}
    if json_type == "array" and items is None:
        errors.append(FieldError.required(f"{path}.items", "must be specified"))
    if isinstance(items, dict):
        errors += _invariants(items, "item", f"{path}.items")
    for name, inner in properties.items():
        errors += _invariants(inner, "field", f"{path}.properties[{name}]")
    if additional is not None and level == "root":
        errors.append(FieldError.forbidden(f"{path}.additionalProperties", "must not be used at the root"))
    if isinstance(additional, dict):
        errors += _invariants(additional, "field", f"{path}.additionalProperties")
    errors += _values(schema, path) + _typed(schema, json_type, level, path)
    if level == "root" or schema.get(_EMBEDDED):
        for name in ("kind", "apiVersion"):
            if (inner := properties.get(name)) is not None and inner.get("type") != "string":
                at = f"{path}.properties[{name}].type"
                errors.append(FieldError.invalid(at, inner.get("type") or "", "must be string"))
    return errors + _metadata(schema, level, path)


def _typed(schema: JSON, json_type: str, level: str, path: str) -> Errors:
    errors: Errors = []
    either, embedded, preserves = (schema.get(key) for key in (_INT_OR_STRING, _EMBEDDED, _PRESERVE))
    for key, other in ((_PRESERVE, preserves), (_EMBEDDED, embedded)):
        if either and other:
            why = f"must be false if {_INT_OR_STRING} is true"
            errors.append(FieldError.invalid(f"{path}.{key}", True, why))
    if embedded:
        why = f"must be object if {_EMBEDDED} is true"
        if not json_type:
            errors.append(FieldError.required(f"{path}.type", why))
        elif json_type != "object":
            errors.append(FieldError.invalid(f"{path}.type", json_type, why))
        if schema.get("additionalProperties") is not None:
            why = f"must not be used if {_EMBEDDED} is set"
            errors.append(FieldError.forbidden(f"{path}.additionalProperties", why))
        if not preserves and not schema.get("properties"):
            why = f"must not be empty if {_EMBEDDED} is true without {_PRESERVE}"
            errors.append(FieldError.required(f"{path}.properties", why))
    elif not json_type and not either and not preserves:
        errors.append(FieldError.required(f"{path}.type", _MISSING_TYPE[level]))
    if level == "root" and json_type not in ("", "object"):
        errors.append(FieldError.invalid(f"{path}.type", json_type, "must be object at the root"))
    return errors


def _metadata(schema: JSON, level: str, path: str) -> Errors:
    """Check the schema of metadata. There are rules for metadata already: only names can be restricted."""
    metadata = (schema.get("properties") or {}).get("metadata")
    if metadata is None:
        return []
    errors: Errors = []
    at = f"{path}.properties[metadata]"
    if (level == "root" or schema.get(_EMBEDDED)) and metadata.get("type") != "object":
        errors.append(FieldError.invalid(f"{at}.type", metadata.get("type") or "", "must be object"))
    told = {key for key, value in metadata.items() if value and key not in ("type", "default")}
    named = set(metadata.get("properties") or ()) <= {"name", "generateName"}
    if level == "root" and not (told <= {"properties"} and named):
        why = "must not specify anything other than name and generateName, but metadata is implicitly specified"
        errors.append(FieldError.forbidden(at, why))
    return errors


def _values(schema: JSON, path: str, *, either: bool = True) -> Errors:
    """Check the part of a schema about values. `either`: it may choose between integers and strings by their types."""
    skipped = []
    if either and schema.get("anyOf") == _EITHER:
        skipped = [f"{path}.anyOf[0]", f"{path}.anyOf[1]"]
    first = (schema.get("allOf") or [{}])[0]
    errors: Errors = []
    for inner, at in junctions(schema, path):
        if at not in skipped:
            either_there = either and at == f"{path}.allOf[0]" and first.get("anyOf") == _EITHER
            errors += _nested(inner, at, either=either_there)
    pattern = schema.get("pattern")
    if pattern and (problem := _not_expression(pattern)):
        why = f"must be a valid regular expression, but isn't: {problem}"
        errors.append(FieldError.invalid(f"{path}.pattern", pattern, why))
    return errors


def _nested(schema: JSON, path: str, *, either: bool = False) -> Errors:
    errors = _values(schema, path, either=either)
    if isinstance(schema.get("items"), dict):
        errors += _nested(schema["items"], f"{path}.items")
    for name, inner in (schema.get("properties") or {}).items():
        errors += _nested(inner, f"{path}.properties[{name}]")
    if schema.get("additionalProperties") is not None:
        at = f"{path}.additionalProperties"
        errors.append(FieldError.forbidden(at, "must be undefined to be structural"))
    errors += [FieldError.forbidden(f"{path}.{key}", why) for key, why in _NOT_NESTED.items() if schema.get(key)]
    if "metadata" in (schema.get("properties") or {}):
        at = f"{path}.properties[metadata]"
        errors.append(FieldError.forbidden(at, "must not be specified in a nested context"))
    return errors


def _complete(values: JSON, schema: JSON, path: str, of: str) -> Errors:
    """Check that fields whose values are restricted are in the structure as well."""
    errors: Errors = []
    for inner, at in junctions(values, of):
        errors += _complete(inner, schema, path, at)
        items = schema.get("items")
        if isinstance(inner.get("items"), dict):
            if isinstance(items, dict):
                errors += _complete({"allOf": [inner["items"]]}, items, f"{path}.items", f"{at}.items")
            else:
                errors.append(FieldError.required(f"{path}.items", f"because it is defined in {at}.items"))
        for name, field in (inner.get("properties") or {}).items():
            known = (schema.get("properties") or {}).get(name)
            where, told = f"{path}.properties[{name}]", f"{at}.properties[{name}]"
            if known is None:
                errors.append(FieldError.required(where, f"because it is defined in {told}"))
            else:
                errors += _complete({"allOf": [field]}, known, where, told)
    return errors


def _not_expression(pattern: str) -> str:
    """Return why a text is not a regular expression; "" if it is one."""
    try:
        expression(pattern)
    except ExpressionError as error:
        return str(error)
    return ""
