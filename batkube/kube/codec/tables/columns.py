"""The columns of a kind's table: names, types, descriptions, and those that only `-o wide` shows."""

from __future__ import annotations

from functools import cache
from typing import Any

from ...schema import read_json
from ...schema.resources import ResourceType
from .cells import CELLS
from .custom import readable_columns

JSON = dict[str, Any]

DEFAULT = ""  # stands for the kinds that have no columns of their own


@cache
def _columns() -> Any:
    return read_json("columns.json")


@cache
def _of_kind(kind: str) -> tuple[JSON, ...]:
    table = _columns()
    return tuple(
        _definition(name, its_type, its_format, table["texts"][text], priority)
        for name, its_type, its_format, text, priority in table["kinds"][kind]
    )


def _definition(name: str, its_type: str, its_format: str, description: str, priority: int) -> JSON:
    return {
        "name": name,
        "type": its_type,
        "format": its_format,
        "description": description,
        "priority": priority,
    }


def column_definitions(resource: ResourceType) -> tuple[JSON, ...]:
    """Return the columns as a Table has them. Priority 0 is always shown."""
    if resource.custom:
        return _custom(resource)
    return _of_kind(resource.kind if resource.kind in CELLS else DEFAULT)


def _custom(resource: ResourceType) -> tuple[JSON, ...]:
    """Return the name and the columns of the definition (`additionalPrinterColumns`), or the age if there are none."""
    name, created = _of_kind(DEFAULT)
    if not resource.printer_columns:
        return name, {**created, "name": "Age"}
    definitions = [name]
    for column in readable_columns(resource.printer_columns):
        described = column.get("description")
        path = f"Custom resource definition column (in JSONPath format): {column['jsonPath']}"
        definitions.append(
            _definition(
                column["name"],
                column["type"],
                column.get("format", ""),
                described or path,
                column.get("priority", 0),
            )
        )
    return tuple(definitions)
