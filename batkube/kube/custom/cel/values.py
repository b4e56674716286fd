"""Values of CEL expressions: what they are, their parts, and when two are the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Optional:
    """A value that may not be there: `a.?b`, `optional.of(1)`."""

    there: bool = False
    value: Any = None


class CelError(Exception):
    """An expression that has no value here: a missing key, a type that does not fit, too much work."""


def part_of(holder: Any, key: Any) -> Optional:
    """The part of a value that goes by that key, if it is there."""
    if isinstance(holder, Optional):
        return part_of(holder.value, key) if holder.there else holder
    if isinstance(holder, dict):
        return Optional(True, holder[key]) if key in holder else Optional()
    if isinstance(holder, list) and is_int(key):
        return Optional(True, holder[key]) if 0 <= key < len(holder) else Optional()
    raise CelError("no such overload")


def type_name(value: Any) -> str:
    """As CEL calls the type of a value."""
    if value is None:
        return "null_type"
    names = {bool: "bool", int: "int", float: "double", str: "string", list: "list", dict: "map"}
    return names.get(type(value), "dyn")


def is_int(value: Any) -> bool:
    """A whole number, which true is not."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """A number, which true is not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def truth(value: Any) -> bool:
    """A condition. CelError where the value is none."""
    if not isinstance(value, bool):
        raise CelError("no such overload")
    return value


def equal(left: Any, right: Any) -> bool:
    """Two values are the same; true is not 1."""
    return isinstance(left, bool) is isinstance(right, bool) and bool(left == right)


def contains(item: Any, holder: Any) -> bool:
    """An item is in a list, or a key in a map. CelError where there can be none."""
    if isinstance(holder, list):
        return any(equal(item, its) for its in holder)
    if isinstance(holder, dict):
        return item in holder
    raise CelError("no such overload")
