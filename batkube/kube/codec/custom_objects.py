"""The preparation of a custom resource before it is checked: unknown fields and nulls are removed, defaults are added
(`apiextensions-apiserver/pkg/apiserver/schema`: pruning, defaulting, objectmeta).
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

JSON = dict[str, Any]

TYPE_META = ("apiVersion", "kind", "metadata")

_PRESERVE = "x-kubernetes-preserve-unknown-fields"
_EMBEDDED = "x-kubernetes-embedded-resource"
_NOTHING: JSON = {}
"""The schema of a value that no schema describes."""


def prune(schema: JSON, value: Any, *, root: bool = False) -> list[str]:
    """Drop the fields that the schema does not know. Return their paths, in order."""
    unknown: list[str] = []
    _prune({**schema, _EMBEDDED: True} if root else schema, value, "", unknown)
    return sorted(unknown)


def _prune(schema: JSON, value: Any, path: str, unknown: list[str], preserved: bool = False) -> None:
    preserved = preserved or bool(schema.get(_PRESERVE))
    if isinstance(value, list):
        for index, item in enumerate(value):
            if isinstance(item, dict | list):
                _prune(schema.get("items") or _NOTHING, item, f"{path}[{index}]", unknown, preserved)
        return
    if not isinstance(value, dict):
        return
    embedded = schema.get(_EMBEDDED)
    for key, item in list(value.items()):
        if embedded and key in TYPE_META:
            continue
        field = _field(schema, key)
        if field is not None:
            if isinstance(item, dict | list):
                _prune(field, item, f"{path}.{key}" if path else key, unknown)
        elif not preserved:
            here = f"{path}.{key}" if path else key
            del value[key]
            if path or key not in TYPE_META:
                unknown.append(here)


def _field(schema: JSON, name: str) -> JSON | None:
    """Return the schema of a field; None if it is unknown. A field that may have any content has an empty schema."""
    found = (schema.get("properties") or _NOTHING).get(name)
    if found is None:
        additional = schema.get("additionalProperties")
        found = additional if isinstance(additional, dict) else None if additional is None else _NOTHING
    return found


def drop_nulls(schema: JSON, value: Any) -> None:
    """Remove nulls where they are not allowed, unless a default replaces them. In lists they stay."""
    if isinstance(value, list):
        if items := schema.get("items"):
            for item in value:
                if isinstance(item, dict | list):
                    drop_nulls(items, item)
    elif isinstance(value, dict):
        for key, item in list(value.items()):
            if item is not None and not isinstance(item, dict | list):
                continue
            field = _field(schema, key)
            if not field:  # nothing is known of field parts
                continue
            if item is not None:
                drop_nulls(field, item)
            elif not field.get("nullable") and field.get("default") is None:
                del value[key]


def default(schema: JSON, value: Any) -> None:
    """Fill in defaults, also in place of nulls that are not allowed."""
    if isinstance(value, list):
        items = schema.get("items")
        if isinstance(items, dict):
            for index, item in enumerate(value):
                if item is None and not items.get("nullable"):
                    value[index] = copy.deepcopy(items.get("default"))
                if isinstance(value[index], dict | list):
                    default(items, value[index])
        return
    if not isinstance(value, dict):
        return
    properties, additional = schema.get("properties") or _NOTHING, schema.get("additionalProperties")
    for key, field in properties.items():
        given = field.get("default")
        if given is not None and (key not in value or (value[key] is None and not field.get("nullable"))):
            value[key] = copy.deepcopy(given)
        if isinstance(value.get(key), dict | list):
            default(field, value[key])
    if isinstance(additional, dict):
        for key, item in value.items():
            if key not in properties:
                if item is None and not additional.get("nullable"):
                    value[key] = copy.deepcopy(additional.get("default"))
                if isinstance(value[key], dict | list):
                    default(additional, value[key])


def converted(schema: JSON, obj: JSON, api_version: str) -> JSON:
    """Return the object in another version. `schema` is the schema of that version."""
    other: JSON = {**copy.deepcopy(obj), "apiVersion": api_version}
    prune(schema, other, root=True)
    drop_nulls(schema, other)
    return other


def read_anew(schema: JSON, obj: JSON) -> JSON:
    """Return a stored object as it is read by the present schema, which may have changed since."""
    read = converted(schema, obj, obj["apiVersion"])
    default(schema, read)
    return read


def embedded(schema: JSON, value: Any, path: str = "") -> Iterator[tuple[JSON, str]]:
    """Yield the objects inside an object (`x-kubernetes-embedded-resource`) with their paths."""
    if isinstance(value, list):
        items = schema.get("items") or _NOTHING
        for index, item in enumerate(value) if items else ():
            if isinstance(item, dict | list):
                yield from embedded(items, item, f"{path}[{index}]")
    elif isinstance(value, dict):
        if schema.get(_EMBEDDED):
            yield value, path
        properties = schema.get("properties") or _NOTHING
        for key, item in value.items():
            if isinstance(item, dict | list) and (field := _field(schema, key)):
                below = f"{path}.{key}" if key in properties else f"{path}[{key}]"
                yield from embedded(field, item, below.lstrip("."))
