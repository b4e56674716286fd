"""The check that a configuration fits its type, in the words of structured-merge-diff (`typed/validate.go`)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from ..apimachinery.go_values import go_value
from ..schema import api_types
from . import fields as paths
from .fields import Path
from .types import KEYED, SET, Type

JSON = dict[str, Any]

_SCALARS = {"string": "string", "bytes": "string", "bool": "boolean"} | dict.fromkeys(
    ("int32", "int64", "double"), "numeric (int or float)"
)
_FITS: dict[str, tuple[type, ...]] = {"string": (str,), "boolean": (bool,), "numeric (int or float)": (int, float)}


def misfit(type_name: str, value_type: Type, config: JSON) -> str | None:
    """Return what is wrong with a configuration; None if nothing. kind and apiVersion are not checked."""
    shown = {name: value for name, value in config.items() if name not in ("kind", "apiVersion")}
    return told(list(_of_struct(type_name, value_type, shown, ())))


def of_metadata(value_type: Type, metadata: Any, path: Path) -> Iterator[str]:
    """Yield what is wrong with the metadata of an object inside another."""
    if metadata is not None:
        yield from _of_struct("meta/v1.ObjectMeta", value_type, metadata, path)


def told(found: list[str]) -> str | None:
    """Return all messages in one text; None if there are none."""
    if len(found) < 2:
        return found[0] if found else None
    return "errors:\n" + "\n".join(f"  {each}" for each in found)


def _of_struct(type_name: str, value_type: Type, value: Any, path: Path) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{paths.shown(path)}: expected map, got &{{{go_value(value)}}}"
        return
    known = _fields(type_name)
    for name, item in value.items():
        below = (*path, paths.field(name))
        field = known.get(name)
        if field is None:
            yield f"{paths.shown(below)}: field not declared in schema"
        elif item is not None:
            yield from _of_field(field, value_type.child(name), item, below)


def _fields(type_name: str) -> dict[str, api_types.Field]:
    fields: dict[str, api_types.Field] = {}
    if not api_types.has_type(type_name):
        return fields
    for field in api_types.fields_of(type_name):
        fields.update(_fields(field.type) if field.inline else {field.name: field})
    return fields


def _of_field(field: api_types.Field, value_type: Type, value: Any, path: Path) -> Iterator[str]:
    if not field.shape:
        yield from _of_value(field.type, value_type, value, path)
    elif field.shape == "map":
        if not isinstance(value, dict):
            yield f"{paths.shown(path)}: expected map, got &{{{go_value(value)}}}"
            return
        for name, item in value.items():
            yield from _of_value(field.type, value_type.child(name), item, (*path, paths.field(name)))
    elif not isinstance(value, list):
        yield f"{paths.shown(path)}: expected list, got &{{{go_value(value)}}}"
    elif value_type.shape in (KEYED, SET):
        yield from _of_items(field.type, value_type, value, path)
    else:
        for index, item in enumerate(value):
            yield from _of_value(field.type, value_type.child(""), item, (*path, f"i:{index}"))


def _of_items(type_name: str, value_type: Type, items: list[Any], path: Path) -> Iterator[str]:
    """Yield what is wrong with a list whose items are identified by keys or by their values."""
    # A key that Go always writes is "" where it is left out.
    keyless = not any(field.name in value_type.keys and not field.omit_empty for field in _fields(type_name).values())
    yield from of_items(
        value_type, items, path, keyless, lambda item, at: _of_value(type_name, value_type.child(""), item, at)
    )


def of_items(
    value_type: Type,
    items: list[Any],
    path: Path,
    keyless: bool,
    of_item: Callable[[Any, Path], Iterator[str]],
    *,
    unique: bool = True,
) -> Iterator[str]:
    """Yield what is wrong with a list whose items are identified by keys or by their values.

    `keyless`: an item without any key is an error. The check stops at the first item that cannot be identified.
    """
    seen: set[str] = set()
    for index, item in enumerate(items):
        if why := _unknown(value_type, item, keyless):
            yield f"{paths.shown(path)}: element {index}: {why}"
            return
        element = paths.key(value_type.key_of(item)) if value_type.shape == KEYED else paths.value(item)
        if unique and element in seen:
            yield f"{paths.shown(path)}: duplicate entries for key {paths.shown((element,))}"
        seen.add(element)
        yield from of_item(item, (*path, element))


def _unknown(value_type: Type, item: Any, keyless: bool) -> str:
    """Return why an item of the list cannot be identified; "" if it can (`listItemToPathElement`)."""
    if value_type.shape == KEYED:
        if item is None:
            return "associative list with keys may not have a null element"
        if not isinstance(item, dict):
            return "associative list with keys may not have non-map elements"
        if keyless and not value_type.key_of(item):
            keys = " ".join(json.dumps(name) for name in value_type.keys)
            what = f"associative list with keys has an element that omits all key fields [{keys}]"
            return f"{what} (and doesn't have default values for any key fields)"
        return ""
    if isinstance(item, dict):
        return "associative list without keys has an element that's a map type"
    if isinstance(item, list):
        return "not supported: associative list with lists as elements"
    return "associative list without keys has an element that's an explicit null" if item is None else ""


def _of_value(type_name: str, value_type: Type, value: Any, path: Path) -> Iterator[str]:
    if api_types.has_type(type_name) and not api_types.is_string_list(type_name):
        yield from _of_struct(type_name, value_type, value, path)
        return
    if wanted := _SCALARS.get(type_name):
        yield from of_scalar(wanted, value, path)


def of_scalar(wanted: str, value: Any, path: Path) -> Iterator[str]:
    """Yield what is wrong with a value that must be a `string`, a `boolean` or `numeric (int or float)`."""
    if value is None or (isinstance(value, _FITS[wanted]) and (not isinstance(value, bool) or wanted == "boolean")):
        return
    if wanted == "string":
        shown = f"&value.valueUnstructured{{Value:{_literal(value)}}}"
    elif wanted == "boolean":
        shown = f"&{{{go_value(value)}}}"
    else:
        shown = {bool: "bool", str: "string", list: "[]interface {}", dict: "map[string]interface {}"}[type(value)]
    yield f"{paths.shown(path)}: expected {wanted}, got {shown}"


def _literal(value: Any) -> str:
    """Return a value as Go's %#v prints it."""
    if isinstance(value, list):
        return f"[]interface {{}}{{{', '.join(_literal(item) for item in value)}}}"
    if isinstance(value, dict):
        inner = ", ".join(f"{json.dumps(name)}:{_literal(value[name])}" for name in sorted(value))
        return f"map[string]interface {{}}{{{inner}}}"
    return "interface {}(nil)" if value is None else json.dumps(value, ensure_ascii=False)
