"""Lists of type set and map, in which no item and no key is repeated (`pkg/apiserver/schema/listtype` of
apiextensions-apiserver).
"""

from __future__ import annotations

from typing import Any

from ..apimachinery.status import FieldError, show

JSON = dict[str, Any]

_TYPE, _KEYS = "x-kubernetes-list-type", "x-kubernetes-list-map-keys"


def duplicates(schema: JSON, value: Any, path: str = "") -> list[FieldError]:
    """Return the errors for repeated items in lists of type set or map: one for each repeated item."""
    errors: list[FieldError] = []
    if isinstance(value, list):
        if schema.get(_TYPE) == "set":
            errors += _twice(value, path)
        elif schema.get(_TYPE) == "map":
            errors += _keys_twice(schema, value, path)
        items = schema.get("items")
        if isinstance(items, dict):
            for index, item in enumerate(value):
                if isinstance(item, dict | list):
                    errors += duplicates(items, item, f"{path}[{index}]")
    elif isinstance(value, dict):
        additional, properties = schema.get("additionalProperties"), schema.get("properties") or {}
        for name, item in value.items():
            if not isinstance(item, dict | list):
                continue
            if name in properties:
                errors += duplicates(properties[name], item, f"{path}.{name}" if path else name)
            elif isinstance(additional, dict):
                errors += duplicates(additional, item, f"{path}[{name}]")
    return errors


def _keys_twice(schema: JSON, items: list[Any], path: str) -> list[FieldError]:
    for index, item in enumerate(items):
        if not isinstance(item, dict | None):
            why = "must be an object for an array of list-type map"
            return [FieldError.invalid(f"{path}[{index}]", item, why)]
    keys = schema.get(_KEYS) or ()
    return _twice([{key: item[key] for key in keys if key in item} if item else {} for item in items], path)


def _twice(items: list[Any], path: str) -> list[FieldError]:
    errors, seen = [], dict[str, int]()
    for index, item in enumerate(items):
        shown = show(item) if not isinstance(item, dict) else show(dict(sorted(item.items())))
        seen[shown] = seen.get(shown, 0) + 1
        if seen[shown] == 2:
            errors.append(FieldError.duplicate(f"{path}[{index}]", item))
    return errors
