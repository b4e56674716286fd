"""The rules that the published schema states of a field: whether it is required, and the values it may have.

The table (`schema/field_rules.json`, generated) has no order among the fields of a type, and no conditions: those are
in the code of the kinds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from . import read_json
from .api_types import Field, own_and_embedded_fields_of


@dataclass(frozen=True, slots=True)
class FieldRule:
    """The rule of one field."""

    required: bool
    pointer: bool  # absent and empty are two things
    values: tuple[str, ...]  # in the order of error messages; () if any will do


@cache
def _table() -> Any:
    return read_json("field_rules.json")


@cache
def rule_of(type_name: str, field: str) -> FieldRule:
    """Return the rule of a field of a type such as `core/v1.Container`. Raise LookupError if the type has no such
    field.
    """
    table = _table()
    declared = next((each for each in own_and_embedded_fields_of(type_name) if each.name == field), None)
    if declared is None:
        raise LookupError(f"{type_name} has no field {field!r}")
    required = field in table["required"].get(type_name, ())
    return FieldRule(required, declared.pointer, tuple(table["values"].get(type_name, {}).get(field, ())))


@cache
def required_texts(type_name: str) -> tuple[str, ...]:
    """Return the required fields of a type that are texts or lists, in the order of the Go struct. (Of the others an
    empty one cannot be told from an absent one, or says something.)
    """
    required = _table()["required"].get(type_name, ())
    return tuple(
        each.name for each in own_and_embedded_fields_of(type_name) if each.name in required and _is_text(each)
    )


def _is_text(field: Field) -> bool:
    return field.shape == "list" or (field.type == "string" and not field.shape)
