"""The functions of CEL expressions: the language's own, and those of its libraries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from ...durations import nanoseconds
from ...quantity import Quantity
from ..expressions import expression
from . import libraries
from .values import CelError, Optional, contains, equal, type_name


@dataclass(frozen=True, slots=True)
class _Format:
    """A named form of texts: `format.dns1123Label()`."""

    problems: Callable[[str], Any]

    def validate(self, text: str) -> Optional:
        """What is wrong with a text, if anything is."""
        found = list(self.problems(text))
        return Optional(True, found) if found else Optional()


def _present(given: Optional) -> Any:
    if not given.there:
        raise CelError("optional.none() dereference")
    return given.value


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _substring(text: str, start: int, end: int | None = None) -> str:
    last = len(text) if end is None else end
    for index in (start, last):
        if not 0 <= index <= len(text):
            raise CelError(f"index out of range: {index}")
    return text[start:last]


def _matches(text: str, pattern: str) -> bool:
    compiled = expression(pattern)
    if compiled is None:
        raise ValueError(f"no way to match {pattern!r}")
    return compiled.search(text) is not None


def _unique(values: list[Any]) -> bool:
    return all(not any(equal(its, other) for other in values[:index]) for index, its in enumerate(values))


def timestamp(text: str) -> datetime:
    """A time; that of midnight for a date. ValueError."""
    found = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def duration(text: str) -> timedelta:
    """A span of time: `1h30m`. ValueError."""
    return timedelta(microseconds=nanoseconds(text) / 1000)


_SHARED: dict[str, Callable[..., Any]] = {"size": len, "matches": _matches}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    **_SHARED,
    **libraries.FUNCTIONS,
    "int": int,
    "uint": int,
    "double": float,
    "string": _text,
    "bool": lambda value: value if isinstance(value, bool) else value == "true",
    "type": type_name,
    "dyn": lambda value: value,
    "timestamp": timestamp,
    "duration": duration,
    "quantity": lambda text: Quantity.parse(text),
    "isQuantity": lambda text: _is_quantity(text),
}
LIBRARIES: dict[str, Callable[..., Any]] = {
    "optional.of": lambda value: Optional(True, value),
    "optional.none": Optional,
    "optional.ofNonZeroValue": lambda value: Optional(True, value) if value else Optional(),
    "ip.isCanonical": lambda text: str(libraries.address(text)) == text,
    **{f"format.{name}": partial(_Format, check) for name, check in libraries.FORMATS.items()},
    "sets.contains": lambda values, part: all(contains(item, values) for item in part),
    "sets.equivalent": lambda one, other: (
        all(contains(item, one) for item in other) and all(contains(item, other) for item in one)
    ),
    "sets.intersects": lambda one, other: any(contains(item, other) for item in one),
}
METHODS: dict[str, Callable[..., Any]] = {
    **_SHARED,
    **libraries.METHODS,
    "validate": lambda form, text: form.validate(text),
    "hasValue": lambda given: bool(given.there),
    "value": _present,
    "orValue": lambda given, other: given.value if given.there else other,
    "or": lambda given, other: given if given.there else other,
    "charAt": lambda text, index: text[index : index + 1],
    "find": lambda text, pattern: _found(text, pattern, 1)[0] if _found(text, pattern, 1) else "",
    "findAll": lambda text, pattern, most=-1: _found(text, pattern, most),
    "lastIndexOf": lambda text, part: text.rfind(part) if isinstance(text, str) else _last_index_of(text, part),
    "getFullYear": lambda time: time.year,
    "getMonth": lambda time: time.month - 1,
    "getDate": lambda time: time.day,
    "getDayOfMonth": lambda time: time.day - 1,
    "getDayOfWeek": lambda time: time.isoweekday() % 7,
    "getDayOfYear": lambda time: time.timetuple().tm_yday - 1,
    "getHours": lambda time: time.hour if isinstance(time, datetime) else int(time.total_seconds() // 3600),
    "getMinutes": lambda time: time.minute if isinstance(time, datetime) else int(time.total_seconds() // 60),
    "startsWith": str.startswith,
    "endsWith": str.endswith,
    "contains": lambda text, part: part in text if isinstance(text, str) else contains(part, text),
    "lowerAscii": str.lower,
    "upperAscii": str.upper,
    "trim": str.strip,
    "split": lambda text, by, *most: text.split(by, *(count - 1 for count in most)),
    "replace": lambda text, old, new, *most: text.replace(old, new, *most),
    "substring": _substring,
    "indexOf": lambda values, item: values.find(item) if isinstance(values, str) else _index_of(values, item),
    "join": lambda values, *by: (by[0] if by else "").join(values),
    "isSorted": lambda values: values == sorted(values),
    "sum": sum,
    "min": min,
    "max": max,
    "unique": _unique,
    "getSeconds": lambda time: time.second if isinstance(time, datetime) else int(time.total_seconds()),
    "isGreaterThan": lambda one, other: one > other,
    "isLessThan": lambda one, other: one < other,
    "compareTo": lambda one, other: (one > other) - (one < other),
}


def _found(text: str, pattern: str, most: int) -> list[str]:
    compiled = expression(pattern)
    if compiled is None:
        raise ValueError(f"no way to match {pattern!r}")
    found = [match[0] for match in compiled.finditer(text)]
    return found if most < 0 else found[:most]


def _last_index_of(values: list[Any], item: Any) -> int:
    return next((index for index in range(len(values) - 1, -1, -1) if equal(values[index], item)), -1)


def _index_of(values: list[Any], item: Any) -> int:
    return next((index for index, its in enumerate(values) if equal(its, item)), -1)


def _is_quantity(text: str) -> bool:
    try:
        Quantity.parse(text)
    except ValueError:
        return False
    return True
