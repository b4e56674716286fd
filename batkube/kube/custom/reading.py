"""What the server makes of a custom resource before it looks at it: unknown fields and nulls go, defaults come
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
"""The schema of what no schema tells: nothing is known of it."""


def prune(schema: JSON, value: Any, *, root: bool = False) -> list[str]:
    """Drop the fields that the schema does not know; the answer is their paths, in order."""
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
        its = _field(schema, key)
        if its is not None:
            if isinstance(item, dict | list):
                _prune(its, item, f"{path}.{key}" if path else key, unknown)
        elif not preserved:
            here = f"{path}.{key}" if path else key
            del value[key]
            if path or key not in TYPE_META:
                unknown.append(here)


def _field(schema: JSON, name: str) -> JSON | None:
    """The schema of a field, None where it is unknown. Of any field that may be there nothing is known of its parts."""
    found = (schema.get("properties") or _NOTHING).get(name)
    if found is None:
        additional = schema.get("additionalProperties")
        found = additional if isinstance(additional, dict) else None if additional is None else _NOTHING
    return found


def drop_nulls(schema: JSON, value: Any) -> None:
    """Null where it may not be is as nothing, unless a default comes in its place; in lists it stays."""
    if isinstance(value, list):
        if items := schema.get("items"):
            for item in value:
                if isinstance(item, dict | list):
                    drop_nulls(items, item)
    elif isinstance(value, dict):
        for key, item in list(value.items()):
            if item is not None and not isinstance(item, dict | list):
                continue
            its = _field(schema, key)
            if not its:  # nothing is known of its parts
                continue
            if item is not None:
                drop_nulls(its, item)
            elif not its.get("nullable") and its.get("default") is None:
                del value[key]


def default(schema: JSON, value: Any) -> None:
    """Fill in defaults, for null as well where it may not be."""
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
    for key, its in properties.items():
        given = its.get("default")
        if given is not None and (key not in value or (value[key] is None and not its.get("nullable"))):
            value[key] = copy.deepcopy(given)
        if isinstance(value.get(key), dict | list):
            default(its, value[key])
    if isinstance(additional, dict):
        for key, item in value.items():
            if key not in properties:
                if item is None and not additional.get("nullable"):
                    value[key] = copy.deepcopy(additional.get("default"))
                if isinstance(value[key], dict | list):
                    default(additional, value[key])


def converted(schema: JSON, obj: JSON, api_version: str) -> JSON:
    """The object in another version, of which that is the schema."""
    other: JSON = {**copy.deepcopy(obj), "apiVersion": api_version}
    prune(schema, other, root=True)
    drop_nulls(schema, other)
    return other


def read_anew(schema: JSON, obj: JSON) -> JSON:
    """An object that was stored, as it is read by a schema that may be another by now."""
    read = converted(schema, obj, obj["apiVersion"])
    default(schema, read)
    return read


def embedded(schema: JSON, value: Any, path: str = "") -> Iterator[tuple[JSON, str]]:
    """The objects that an object has in it (`x-kubernetes-embedded-resource`), and where."""
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
            if isinstance(item, dict | list) and (its := _field(schema, key)):
                below = f"{path}.{key}" if key in properties else f"{path}[{key}]"
                yield from embedded(its, item, below.lstrip("."))
