"""The types of expressions, and the rules that assign them (`google/cel-go/checker/types.go`).

A type is a tuple: its name, and its parameters: `("list", ("int",))`, `("object", ObjectType)`, `("dyn",)` for any
value; `("var", 1)` is a type that is not known yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

Type = tuple[Any, ...]

DYN: Type = ("dyn",)
UNKNOWN: Type = ("unknown",)
"""The type of a value that is less known here than in the real server. As with dyn, its uses count as valid."""
ERROR: Type = ("!error!",)
BOOL, INT, UINT, DOUBLE, STRING, BYTES = ((name,) for name in ("bool", "int", "uint", "double", "string", "bytes"))
NULL, TIMESTAMP, DURATION = ("null_type",), ("timestamp",), ("duration",)
OPTIONAL = "optional_type"

WILD = ("dyn", "any", "unknown", "!error!")
"""The names of the types that any value fits. `any` is that of protobuf, and treated as dyn."""
_FREE = ("dyn", "any", "unknown")
_PARTED = ("list", "map", OPTIONAL)
_NEVER_NULL = ("bool", "int", "uint", "double", "string", "bytes", "list", "map", "type")


class ObjectType:
    """A type with named fields."""

    def __init__(self, name: str, fields: Callable[[], Mapping[str, Type]]) -> None:
        self.name = name
        self._fields = fields

    @cached_property
    def fields(self) -> Mapping[str, Type]:
        """The types of the fields, computed when first asked for."""
        return self._fields()


def shown(value_type: Type) -> str:
    """Return a type as the checker prints it."""
    if value_type[0] == "object":
        name: str = value_type[1].name
        return name
    if value_type[0] == "var":
        return f"_var{value_type[1]}"
    if value_type == NULL:
        return "null"
    inner = ", ".join(shown(part) for part in value_type[1:])
    return f"{value_type[0]}({inner})" if inner else str(value_type[0])


class Unifier:
    """The bindings of the unknown types of an expression."""

    def __init__(self) -> None:
        self._known: dict[Type, Type] = {}
        self._count = 0

    def fresh(self) -> Type:
        """Return a type that is not known yet."""
        self._count += 1
        return ("var", self._count - 1)

    def plain(self, value_type: Type, *, rest_dyn: bool = False) -> Type:
        """Return a type with all that is known put in; with `rest_dyn` what is not is dyn."""
        if value_type[0] == "var":
            if value_type in self._known:
                return self.plain(self._known[value_type], rest_dyn=rest_dyn)
            return DYN if rest_dyn else value_type
        if value_type[0] in _PARTED or value_type[0] == "type":
            return (value_type[0], *(self.plain(part, rest_dyn=rest_dyn) for part in value_type[1:]))
        return value_type

    def fits(self, given: Iterable[Type], wanted: Iterable[Type]) -> bool:
        """Return True if types can be assigned to the wanted ones. The bindings of unknown types are then kept."""
        before = dict(self._known)
        if self._all(list(given), list(wanted)):
            return True
        self._known = before
        return False

    def _all(self, given: list[Type], wanted: list[Type]) -> bool:
        return len(given) == len(wanted) and all(map(self._one, given, wanted))

    def _one(self, given: Type, wanted: Type) -> bool:
        if wanted[0] == "var":
            valid, known = self._stands_for(given, wanted)
            if valid or known:
                return valid
        if given[0] == "var":
            return self._stands_for(wanted, given)[0]
        if given[0] in WILD or wanted[0] in WILD:
            return True
        if NULL in (given, wanted):
            other = wanted if given == NULL else given
            return other[0] not in _NEVER_NULL
        if given[0] != wanted[0]:
            return False
        if given[0] in _PARTED:
            return self._all(list(given[1:]), list(wanted[1:]))
        return given[0] == "type" or given == wanted

    def _stands_for(self, value_type: Type, unknown: Type) -> tuple[bool, bool]:
        """Return whether the unknown type can be that one, and whether it was known already."""
        if value_type == unknown:
            return True, True
        if unknown not in self._known:
            if self._within(unknown, value_type):
                return False, False
            self._known[unknown] = value_type
            return True, False
        known = self._known[unknown]
        if value_type == known:
            return True, True
        if not self._one(value_type, known):
            return False, True
        wider = value_type if less_specific(value_type, known) else known
        if not self._within(unknown, wider):
            self._known[unknown] = wider
        return True, True

    def _within(self, unknown: Type, value_type: Type) -> bool:
        if value_type == unknown:
            return True
        if value_type[0] == "var":
            return value_type in self._known and self._within(unknown, self._known[value_type])
        return value_type[0] in (*_PARTED, "type") and any(self._within(unknown, part) for part in value_type[1:])


def less_specific(one: Type, other: Type) -> bool:
    """Return True if a type is not more specific than another."""
    if one[0] in (*_FREE, "var"):
        return True
    if other[0] in (*_FREE, "var") or one[0] != other[0]:
        return False
    if one[0] in _PARTED:
        return all(map(less_specific, one[1:], other[1:]))
    return one[0] == "type" or one == other


def replaced(value_type: Type, by: Mapping[str, Type]) -> Type:
    """Return a type with its parameters (`("param", "A")`) replaced."""
    if value_type[0] == "param":
        return by[value_type[1]]
    if value_type[0] in _PARTED or value_type[0] == "type":
        return (value_type[0], *(replaced(part, by) for part in value_type[1:]))
    return value_type
