"""The result of a JSON or merge patch, as the real server shows it if it does not fit the kind."""

from __future__ import annotations

from typing import Any

from ..schema import api_types
from ..schema.resources import ResourceType

JSON = dict[str, Any]


def as_shown(before: JSON, after: JSON, resource: ResourceType, managed: list[JSON]) -> JSON:
    """Return the patched object with its keys in the real server's order.

    The parts that the patch touched are sorted, all others are in Go's order. `managed` are the managedFields that the
    object would have, if they are not stored with it.
    """
    if managed and isinstance(before.get("metadata"), dict) and isinstance(after.get("metadata"), dict):
        untouched = after["metadata"] is before["metadata"]
        metadata = {**before["metadata"], "managedFields": managed}
        before = {**before, "metadata": metadata}
        after = {**after, "metadata": metadata if untouched else {**after["metadata"], "managedFields": managed}}
    name = None if resource.custom else api_types.type_of(resource.api_version, resource.kind)
    shown: JSON = _ordered(before, after, name)
    return shown


def _ordered(before: Any, after: Any, type_name: str | None) -> Any:
    types = _types_of_fields(type_name)
    if isinstance(after, dict):
        if after is before:
            names = [name for name in types if name in after]
            names = [name for name in ("kind", "apiVersion") if name in after and name not in names] + names
            names += sorted(after.keys() - set(names))
            return {name: _ordered(after[name], after[name], types.get(name)) for name in names}
        old = before if isinstance(before, dict) else {}
        return {name: _ordered(old.get(name), after[name], types.get(name)) for name in sorted(after)}
    if isinstance(after, list):
        if after is before:
            return [_ordered(item, item, type_name) for item in after]
        known = {id(item): item for item in before} if isinstance(before, list) else {}
        return [_ordered(known.get(id(item)), item, type_name) for item in after]
    return after


def _types_of_fields(type_name: str | None) -> dict[str, str | None]:
    """Return the fields of a struct in order, each with the type of its content; none for other types."""
    if type_name is None or not api_types.has_type(type_name):
        return {}
    types: dict[str, str | None] = {}
    for field in api_types.fields_of(type_name):
        if field.inline:
            types |= _types_of_fields(field.type)
        else:
            types[field.name] = field.type if field.shape != "map" else None
    return types
