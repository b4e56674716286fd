"""The values of expressions: their form in Python, and their equality.

CEL's int, double, string, bool, bytes, null, list and map are Python's. Types that Python does not have are here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..apimachinery.quantity import Quantity

MIN_INT, MAX_INT, MAX_UINT = -(1 << 63), (1 << 63) - 1, (1 << 64) - 1


class Spent(NamedTuple):
    """The costs of an evaluation: Kubernetes' costs, and the work here that they do not show."""

    cost: int = 0
    work: int = 0


class CelError(Exception):
    """The error of an expression that has no value: a missing key, a type that does not fit."""

    spent = Spent()
    """The costs until the error was found."""


class CostExceeded(CelError):
    """The error of an evaluation that takes too much work."""

    def __init__(self) -> None:
        super().__init__("operation cancelled: actual cost limit exceeded")


class Uint(int):
    """A whole number of 64 bits without sign."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    """A span of time."""

    nanos: int


@dataclass(frozen=True, slots=True, order=True)
class Timestamp:
    """A time, in nanoseconds since 1970, in UTC."""

    nanos: int


@dataclass(frozen=True, slots=True)
class TypeValue:
    """A type as a value: `type(1)`, `int`."""

    name: str


@dataclass(frozen=True, slots=True)
class Optional:
    """A value that may be absent: `a.?b`, `optional.of(1)`."""

    there: bool = False
    value: Any = None


@dataclass(frozen=True, slots=True)
class Format:
    """A named format of texts: `format.dns1123Label()`. `regex_size` is the length of an expression for it."""

    name: str
    problems: Callable[[str], Any] = field(compare=False)
    regex_size: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, order=True)
class Semver:
    """A semantic version. Versions are sorted by number, a pre-release before its release, by the parts of the
    pre-release.
    """

    numbers: tuple[int, int, int]
    release: bool
    parts: tuple[tuple[bool, int, str], ...]


class Object:
    """A value with fields that a schema names. The fields are read when they are asked for."""

    __slots__ = ("_read", "raw")

    def __init__(self, raw: dict[str, Any], read: Callable[[dict[str, Any], str], Any]) -> None:
        """Create an object; `read` returns the field of that name, and raises KeyError if there is none."""
        self.raw = raw
        self._read = read

    def field(self, name: str) -> Any:
        """Return the field that expressions call so. KeyError."""
        return self._read(self.raw, name)

    def entries(self) -> dict[str, Any]:
        """Return all that can be seen of the value."""
        found = {}
        for name, value in self.raw.items():
            try:
                found[name] = self.field(name)
            except KeyError:
                found[name] = value
        return found


class SetList(list[Any]):
    """A list whose order does not matter (`x-kubernetes-list-type: set`, or `map`)."""

    __slots__ = ("key",)

    def __init__(self, values: list[Any], key: Callable[[Any], Any]) -> None:
        """Create a list; `key` returns the value that distinguishes an item from the others."""
        super().__init__(values)
        self.key = key

    def joined(self, others: list[Any]) -> SetList:
        """Return this list with others added: those of the same key take the place of what is there."""
        found = {self.key(item): item for item in self}
        found.update((self.key(item), item) for item in others)
        return SetList(list(found.values()), self.key)


_NAMES: dict[type, str] = {
    type(None): "null_type",
    bool: "bool",
    int: "int",
    Uint: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    list: "list",
    SetList: "list",
    dict: "map",
    Timestamp: "timestamp",
    Duration: "duration",
    TypeValue: "type",
    Optional: "optional_type",
    Quantity: "kubernetes.Quantity",
    Semver: "kubernetes.Semver",
    Format: "kubernetes.NamedFormat",
    Object: "object",
}


def name_type(kind: type, name: str) -> None:
    """Give the values of a Python class a type in CEL."""
    _NAMES[kind] = name


def kind_of(kind: type) -> str:
    """Return what CEL calls the type of a Python class."""
    return _NAMES.get(kind, "dyn")


def truth(value: Any) -> bool:
    """Return a condition. CelError where the value is none."""
    if value is True or value is False:
        return bool(value)
    raise CelError("no such overload")


def size(value: Any) -> int:
    """Return how many parts a value has; 1 where it has none."""
    if isinstance(value, str | bytes | list | dict):
        return len(value)
    if isinstance(value, Object):
        return len(value.raw)
    return size(value.value) if isinstance(value, Optional) and value.there else 1


def equal(left: Any, right: Any) -> bool:
    """Return True if two values are equal; true is not 1, 1 is 1.0."""
    return Comparison().equal(left, right)


class Comparison:
    """A comparison of values, which counts the parts that it has compared."""

    __slots__ = ("looks",)

    def __init__(self) -> None:
        self.looks = 0

    def equal(self, left: Any, right: Any) -> bool:
        self.looks += 1
        if isinstance(left, list) and isinstance(right, list):
            both = isinstance(left, SetList) or isinstance(right, SetList)
            return self._same_items(left, right) if both else self._same_list(left, right)
        if type(left) is not type(right):
            numbers = isinstance(left, int | float) and isinstance(right, int | float)
            return numbers and not isinstance(left, bool) and not isinstance(right, bool) and bool(left == right)
        if isinstance(left, dict):
            return self._same_map(left, right)
        if isinstance(left, Object):
            return self._same_map(left.raw, right.raw)
        if isinstance(left, Optional):
            return left.there is right.there and (not left.there or self.equal(left.value, right.value))
        return bool(left == right)

    def _same_list(self, left: list[Any], right: list[Any]) -> bool:
        return len(left) == len(right) and all(map(self.equal, left, right))

    def _same_items(self, left: list[Any], right: list[Any]) -> bool:
        if len(left) != len(right):
            return False
        return all(any(self.equal(item, other) for other in right) for item in left)

    def _same_map(self, left: dict[Any, Any], right: dict[Any, Any]) -> bool:
        if len(left) != len(right):
            return False
        return all(in_map(right, key) and self.equal(value, right[key]) for key, value in left.items())


def in_map(holder: Mapping[Any, Any], key: Any) -> bool:
    """Return True if a map has the key. (Python takes True for 1.)"""
    if isinstance(key, str):
        return key in holder
    if not isinstance(key, int | float) or key not in holder:
        return False
    return key not in (0, 1) or any(
        member == key and isinstance(member, bool) is isinstance(key, bool) for member in holder
    )


def part_of(holder: Any, key: Any) -> Optional:
    """Return the part of a value that goes by that key, if it is there."""
    if isinstance(holder, Optional):
        return part_of(holder.value, key) if holder.there else holder
    if isinstance(holder, Object):
        try:
            return Optional(True, holder.field(key))
        except KeyError:
            return Optional()
    if isinstance(holder, dict):
        return Optional(True, holder[key]) if in_map(holder, key) else Optional()
    if isinstance(holder, list) and not isinstance(key, str):
        place = place_in(key)
        return Optional(True, holder[place]) if 0 <= place < len(holder) else Optional()
    raise CelError("no such overload")


def place_in(key: Any) -> int:
    """Return the index that a number is in a list; -1 where it is no whole one."""
    if isinstance(key, bool) or not isinstance(key, int | float):
        raise CelError(f"unsupported index type '{kind_of(type(key))}' in list")
    return int(key) if math.isfinite(key) and key == int(key) else -1
