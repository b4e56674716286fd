"""The largest values that a schema allows, from which the highest cost of an expression over them follows
(`SchemaDeclType` in `k8s.io/apiserver/pkg/cel/common/schemas.go`).
"""

from __future__ import annotations

from typing import Any

from .. import cel
from .schema_values import EMBEDDED, field_name, with_root_fields

JSON = dict[str, Any]

MAX_REQUEST = 3 * 1024 * 1024
"""The bytes of the largest request."""
_BYTES_PER_CHARACTER = 4
_SMALLEST = {"integer": 1, "number": 1, "boolean": 4}
"""The bytes of the shortest value as JSON."""
_OF_TIMES = {"duration": (32, 3), "date": (12, 12), "date-time": (32, 21)}
"""The longest and the shortest text of a format."""


def fitting(element: cel.Extent) -> int:
    """Return the number of such values that fit into a request."""
    return MAX_REQUEST // (element.least_bytes + 1)


_KEYS = cel.Extent(0, 2)


def extent(schema: JSON, *, root: bool = False) -> cel.Extent | None:
    """Return the extent of a schema; None if rules cannot see its values. `root`: of a whole object."""
    if schema.get("x-kubernetes-int-or-string"):
        return cel.Extent(_text_length(schema), 1)
    json_type = schema.get("type")
    if json_type == "array":
        items = _inner(schema.get("items"))
        return items and cel.Extent(_limit(schema, "maxItems", (MAX_REQUEST - 2) // (items.least_bytes + 1)), 2, items)
    if json_type == "object":
        values = schema.get("additionalProperties")
        return _of_map(schema, values) if isinstance(values, dict) else _of_object(schema, root=root)
    return (
        _of_text(schema)
        if json_type == "string"
        else cel.Extent(0, _SMALLEST[json_type])
        if json_type in _SMALLEST
        else None
    )


def _inner(schema: Any) -> cel.Extent | None:
    return extent(schema, root=bool(schema.get(EMBEDDED))) if isinstance(schema, dict) else None


def _limit(schema: JSON, key: str, otherwise: int) -> int:
    return otherwise if schema.get(key) is None else max(0, schema[key])


def _of_map(schema: JSON, values: JSON) -> cel.Extent | None:
    inner = _inner(values)
    if inner is None:
        return None
    fitting = (MAX_REQUEST - 2) // (inner.least_bytes + 6)
    return cel.Extent(_limit(schema, "maxProperties", fitting), 2, inner, _KEYS)


def _of_object(schema: JSON, *, root: bool) -> cel.Extent:
    properties = schema.get("properties") or {}
    if root:
        properties = with_root_fields(properties)
    required = schema.get("required") or ()
    fields: dict[str, cel.Extent] = {}
    length = 2
    for name, inner in properties.items():
        found = _inner(inner)
        if found is None:
            continue
        if escaped := field_name(name):
            fields[escaped] = found
        if name in required and inner.get("default") is None:
            length += len(name.encode()) + found.least_bytes + 4
    return cel.Extent(0, length, fields=fields)


def _of_text(schema: JSON) -> cel.Extent:
    form = schema.get("format") or ""
    if form in _OF_TIMES:
        return cel.Extent(*_OF_TIMES[form])
    if form == "byte":
        return cel.Extent(_limit(schema, "maxLength", MAX_REQUEST - 2), 2)
    words = schema.get("enum") or ()
    if words and schema.get("maxLength") is None:
        return cel.Extent(max((len(word.encode()) for word in words if isinstance(word, str)), default=0), 2)
    return cel.Extent(_text_length(schema), 2)


def _text_length(schema: JSON) -> int:
    """Return the bytes of the longest text: its length is given in characters."""
    if schema.get("maxLength") is None:
        return MAX_REQUEST - 2
    return _BYTES_PER_CHARACTER * max(0, int(schema["maxLength"]))
