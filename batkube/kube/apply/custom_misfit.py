"""The check that a configuration fits the schema of a custom resource, in the words of structured-merge-diff."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..apimachinery.go_values import go_value
from . import fields as paths
from .fields import Path
from .misfit import of_items, of_metadata, of_scalar, told
from .types import KEYED, SET, Type

JSON = dict[str, Any]

_EMBEDDED = "x-kubernetes-embedded-resource"
_SCALARS = {"string": "string", "boolean": "boolean"} | dict.fromkeys(("integer", "number"), "numeric (int or float)")


def custom_misfit(schema: JSON, value_type: Type, config: JSON, *, of_patch: bool = True) -> str | None:
    """Return what is wrong with a configuration; None if nothing. kind, apiVersion and metadata are not checked.

    `of_patch`: lists may not have the same item twice.
    """
    content = {name: value for name, value in config.items() if name not in ("kind", "apiVersion", "metadata")}
    walk = _Walk(unique=of_patch)
    return told(list(walk.of_object(schema, value_type, content, (), bool(schema.get(_PRESERVE)))))


_PRESERVE = "x-kubernetes-preserve-unknown-fields"


class _Walk:
    """A walk through a value along its schema. `free`: the schema, or one around it, allows fields that it does not
    name.
    """

    def __init__(self, *, unique: bool) -> None:
        self._unique = unique

    def of_object(self, schema: JSON, value_type: Type, value: JSON, path: Path, free: bool) -> Iterator[str]:
        properties, additional = schema.get("properties") or {}, schema.get("additionalProperties")
        for name, item in value.items():
            below = (*path, paths.field(name))
            if schema.get(_EMBEDDED) and name in ("kind", "apiVersion"):
                yield from of_scalar("string", item, below)
            elif schema.get(_EMBEDDED) and name == "metadata":
                yield from of_metadata(value_type.child(name), item, below)
            elif name in properties:
                yield from self._of_value(properties[name], value_type.child(name), item, below, free)
            elif isinstance(additional, dict):
                yield from self._of_value(additional, value_type.child(name), item, below, free)
            elif additional is False or (additional is None and properties and not free):
                yield f"{paths.shown(below)}: field not declared in schema"

    def _of_value(self, schema: JSON, value_type: Type, value: Any, path: Path, free: bool) -> Iterator[str]:
        if value is None:
            return
        free = free or bool(schema.get(_PRESERVE))
        kind = schema.get("type") or (
            "object" if isinstance(value, dict) else "array" if isinstance(value, list) else ""
        )
        if kind in _SCALARS:
            yield from of_scalar(_SCALARS[kind], value, path)
        elif kind == "object" and not isinstance(value, dict):
            yield f"{paths.shown(path)}: expected map, got &{{{go_value(value)}}}"
        elif kind == "array" and not isinstance(value, list):
            yield f"{paths.shown(path)}: expected list, got &{{{go_value(value)}}}"
        elif kind == "object":
            yield from self.of_object(schema, value_type, value, path, free)
        elif kind == "array" and isinstance(schema.get("items"), dict):
            yield from self._of_list(schema["items"], value_type, value, path, free)

    def _of_list(self, items: JSON, value_type: Type, value: list[Any], path: Path, free: bool) -> Iterator[str]:
        def of_item(item: Any, at: Path) -> Iterator[str]:
            return self._of_value(items, value_type.child(""), item, at, free)

        if value_type.shape in (KEYED, SET):
            yield from of_items(value_type, value, path, True, of_item, unique=self._unique)
            return
        for index, item in enumerate(value):
            yield from of_item(item, (*path, f"i:{index}"))
