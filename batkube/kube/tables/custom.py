"""Cells of custom resources: what the JSON paths of their definition point at."""

from __future__ import annotations

from typing import Any

import orjson

from ..jsonpath import JSONPathError, find
from ..resources import ResourceType
from .ages import Ages

JSON = dict[str, Any]


def custom_cells(resource: ResourceType, obj: JSON, ages: Ages) -> list[Any]:
    """Name and the columns of the definition, null where there is nothing
    (`apiextensions-apiserver/pkg/registry/customresource/tableconvertor`).
    """
    metadata = obj["metadata"]
    cells: list[Any] = [metadata.get("name", "")]
    if not resource.printer_columns:
        return [*cells, ages.since(metadata.get("creationTimestamp"))]
    for column in resource.printer_columns:
        try:
            found = find(column["jsonPath"], obj)
        except JSONPathError:
            found = []
        cells.append(_cell(column["type"], found[0], ages) if found else None)
    return cells


def _cell(column_type: str, value: Any, ages: Ages) -> Any:
    if value is None:
        return None
    if column_type == "string":
        return _printed(value)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if column_type == "integer" and is_number:
        return int(value)
    if column_type == "number" and is_number:
        return float(value) if not float(value).is_integer() else int(value)
    if column_type == "boolean" and isinstance(value, bool):
        return value
    if column_type == "date" and isinstance(value, str):
        try:
            return ages.since(value)
        except ValueError:
            return "<invalid>"
    return None


def _printed(value: Any) -> str:
    """As Go's JSONPath printer writes a value."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list):
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    return str(value)
