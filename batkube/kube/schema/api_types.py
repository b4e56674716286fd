"""The fields of all built-in kinds: their names, types and order, and the cases in which the real server writes them.

The table (`schema/messages.json`, generated) has the content of Kubernetes' Go types. With it protobuf bodies are read
and written, and unknown fields are found.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from . import read_json

JSON = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a type. `shape` is "" for one value, `list`, or `map` (whose keys are strings)."""

    number: int  # in protobuf
    name: str  # in JSON
    type: str
    shape: str
    pointer: bool  # absent and empty are two things
    omit_empty: bool  # an empty one is not written in JSON
    omit_zero: bool
    inline: bool  # in JSON its fields are those of the parent


@cache
def _table() -> Any:
    return read_json("messages.json")


@cache
def _types_of_kinds() -> dict[tuple[str, str], str]:
    types: dict[tuple[str, str], str] = {}
    for api_version, parts in _table()["kinds"].items():
        for folder, kinds in parts:
            for kind in kinds:
                types.setdefault((api_version, kind), f"{folder}.{kind}")
    return types


def type_of(api_version: str, kind: str) -> str | None:
    """Return the type of a kind's objects, such as `core/v1.Pod`.

    Options of requests (DeleteOptions ...) are a kind of every group; their apiVersion may be absent (APIVersions).
    """
    types = _types_of_kinds()
    found = types.get((api_version, kind))
    if found is None and (not api_version or api_version in _table()["kinds"]):
        found = types.get(("v1", kind))
        if found is not None and not found.startswith("meta/"):
            return None
    return found


@cache
def fields_of(type_name: str) -> tuple[Field, ...]:
    """Return the fields of a type in the order of the Go struct, in which the real server prints them."""
    return tuple(
        Field(number, name, its_type, shape, "p" in flags, "e" in flags, "z" in flags, "i" in flags)
        for number, name, its_type, shape, flags in _table()["messages"][type_name]
    )


@cache
def own_and_embedded_fields_of(type_name: str) -> tuple[Field, ...]:
    """Return the fields of a type, with those of embedded types in the place of these."""
    return tuple(
        found
        for field in fields_of(type_name)
        for found in (own_and_embedded_fields_of(field.type) if field.inline else (field,))
    )


def merges_of(type_name: str) -> Mapping[str, tuple[str, str]]:
    """Return the merge rules of the fields that have rules of their own in strategic merge patch.

    They are strategies (`merge`, `replace`, `retainKeys`, `merge,retainKeys`) and a merge key ("" in lists of plain
    values).
    """
    rows = _table()["merges"].get(type_name, {})
    return {name: (strategies, key) for name, (strategies, key) in rows.items()}


def has_type(type_name: str) -> bool:
    """Return True if the type is in the table, with fields. Scalars and types like Quantity are not."""
    return type_name in _table()["messages"]


def is_string_list(type_name: str) -> bool:
    """Return True if the type is a list of strings in JSON and a message with that list in protobuf (ExtraValue,
    Verbs).
    """
    return has_type(type_name) and [(field.name, field.shape) for field in fields_of(type_name)] == [("", "list")]


@cache
def has_kind(type_name: str) -> bool:
    """Return True if the type is that of whole objects, which have a kind and an apiVersion."""
    return type_name in _types_of_kinds().values()
