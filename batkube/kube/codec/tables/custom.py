"""The cells of custom resources: the values at the JSON paths of their definition."""

from __future__ import annotations

from typing import Any

from ...apimachinery.go_values import go_json, go_number
from ...apimachinery.jsonpath import JSONPathError, find, parse
from ...schema.resources import ResourceType
from .ages import Ages

JSON = dict[str, Any]


def custom_cells(resource: ResourceType, obj: JSON, ages: Ages) -> list[Any]:
    """Return the name and the columns of the definition; None where there is no value
    (`apiextensions-apiserver/pkg/registry/customresource/tableconvertor`).
    """
    metadata = obj["metadata"]
    cells: list[Any] = [metadata.get("name", "")]
    if not resource.printer_columns:
        return [*cells, ages.since(metadata.get("creationTimestamp"))]
    for column in readable_columns(resource.printer_columns):
        try:
            found = find(column["jsonPath"], obj)
        except JSONPathError:
            found = []
        cells.append(_cell(column["type"], found[0], ages) if found else None)
    return cells


def readable_columns(columns: tuple[JSON, ...]) -> tuple[JSON, ...]:
    """Return the columns before the first one whose JSON path is malformed: there the real server ends the table."""
    for index, column in enumerate(columns):
        try:
            parse(column["jsonPath"])
        except JSONPathError:
            return columns[:index]
    return columns


def _cell(column_type: str, value: Any, ages: Ages) -> Any:
    if column_type == "string":
        return _printed(value)
    if value is None:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if column_type == "integer" and is_number:
        whole = int(value)
        return whole if -(1 << 63) <= whole < 1 << 63 else -(1 << 63)  # as amd64 converts a float that is too large
    if column_type == "number" and is_number:
        return float(value) if not float(value).is_integer() or abs(value) >= 1 << 53 else int(value)
    if column_type == "boolean" and isinstance(value, bool):
        return value
    if column_type == "date" and isinstance(value, str):
        try:
            return ages.since(value)
        except ValueError:
            return "<invalid>"
    return None


def _printed(value: Any) -> str:
    """Return a value as Go's JSONPath printer writes it."""
    if value is None:
        return "<no value>"
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list):
        return go_json(value)
    return go_number(value) if isinstance(value, float) else str(value)
