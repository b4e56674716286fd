"""The operators of expressions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .declarations import Overload, overloads
from .values import (
    MAX_INT,
    MAX_UINT,
    MIN_INT,
    CelError,
    Comparison,
    Duration,
    Optional,
    SetList,
    Timestamp,
    Uint,
    in_map,
    part_of,
    place_in,
    size,
)

_FIRST, _LAST = -62_135_596_800 * 10**9, 253_402_300_799_999_999_999
"""The first and the last nanosecond of the years 1 to 9999, since 1970."""


def whole(value: int) -> int:
    """Return an int. CelError beyond 64 bits."""
    if MIN_INT <= value <= MAX_INT:
        return value
    raise CelError("integer overflow")


def unsigned(value: int) -> Uint:
    """Return a uint. CelError beyond 64 bits."""
    if 0 <= value <= MAX_UINT:
        return Uint(value)
    raise CelError("unsigned integer overflow")


def span(nanos: int) -> Duration:
    """Return a duration. CelError beyond 64 bits."""
    if MIN_INT <= nanos <= MAX_INT:
        return Duration(nanos)
    raise CelError("duration overflow")


def moment(nanos: int) -> Timestamp:
    """Return a timestamp. CelError before the year 1 and after 9999."""
    if _FIRST <= nanos <= _LAST:
        return Timestamp(nanos)
    raise CelError("timestamp overflow")


def _quotient(left: int, right: int) -> int:
    if right == 0:
        raise CelError("division by zero")
    found = abs(left) // abs(right)
    return found if (left < 0) is (right < 0) else -found


def _remainder(left: int, right: int) -> int:
    if right == 0:
        raise CelError("modulus by zero")
    if (left, right) == (MIN_INT, -1):
        raise CelError("integer overflow")
    return left - right * _quotient(left, right)


def _ratio(left: float, right: float) -> float:
    if right:
        return left / right
    if left == 0 or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1, right)


def _equal(evaluation: Any, left: Any, right: Any) -> bool:
    if type(left) is type(right) and isinstance(left, int | str | float):
        return bool(left == right)
    comparison = Comparison()
    same = comparison.equal(left, right)
    evaluation.work(comparison.looks)
    return same


def _in_list(evaluation: Any, item: Any, holder: list[Any]) -> bool:
    comparison = Comparison()
    found = any(comparison.equal(item, member) for member in holder)
    evaluation.work(comparison.looks)
    return found


def _joined(evaluation: Any, left: list[Any], right: list[Any]) -> list[Any]:
    evaluation.work(len(left) + len(right))
    return left.joined(right) if isinstance(left, SetList) else [*left, *right]


def _at(holder: list[Any], key: Any) -> Any:
    place = place_in(key)
    if not 0 <= place < len(holder):
        raise CelError(f"index out of bounds: {key}")
    return holder[place]


def _under(holder: dict[Any, Any], key: Any) -> Any:
    if not in_map(holder, key):
        raise CelError(f"no such key: {key}")
    return holder[key]


def _of_optional(holder: Optional, key: Any) -> Optional:
    return part_of(holder, key)


def _inserted(holder: dict[Any, Any], *given: Any) -> dict[Any, Any]:
    """Add entries to a map that a macro makes, and that nothing else refers to yet."""
    for key, value in [given] if len(given) == 2 else given[0].items():
        if in_map(holder, key):
            raise CelError(f"insert failed: key {key} already exists")
        holder[key] = value
    return holder


def _less(left: Any, right: Any) -> bool:
    return bool(left < right)


def _ordered(test: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def compare(left: Any, right: Any) -> bool:
        if left != left or right != right:
            raise CelError("NaN values cannot be ordered")
        return test(left, right)

    return compare


def _shorter(left: Any, right: Any, *result: Any) -> int:
    return math.ceil(min(size(left), size(right)) * 0.1)


def _both(left: Any, right: Any, *result: Any) -> int:
    return math.ceil((size(left) + size(right)) * 0.1)


def _comparisons() -> list[Overload]:
    numbers = ("int", "uint", "double")
    of_numbers = [f"{left}, {right}: bool" for left in numbers for right in numbers]
    texts = ("string, string: bool", "bytes, bytes: bool")
    others = [f"{kind}, {kind}: bool" for kind in ("bool", "timestamp", "duration")]
    tests: dict[str, Callable[[Any, Any], bool]] = {
        "_<_": _less,
        "_<=_": lambda left, right: bool(left <= right),
        "_>_": lambda left, right: bool(left > right),
        "_>=_": lambda left, right: bool(left >= right),
    }
    found = []
    for name, test in tests.items():
        found += overloads(name, others, test) + overloads(name, texts, test, _shorter)
        found += overloads(name, of_numbers, _ordered(test))
    return found


OVERLOADS: list[Overload] = [
    *overloads("_==_", ["A, A: bool"], _equal, _shorter, watched=True),
    *overloads("_!=_", ["A, A: bool"], lambda run, left, right: not _equal(run, left, right), _shorter, watched=True),
    *_comparisons(),
    *overloads("@in", ["A, list(A): bool"], _in_list, lambda item, holder, *result: len(holder), watched=True),
    *overloads("@in", ["A, map(A, B): bool"], lambda key, holder: in_map(holder, key)),
    *overloads("_[_]", ["list(A), int: A"], _at),
    *overloads("_[_]", ["map(A, B), A: B"], _under),
    *overloads("_[_]", ["optional_type(list(V)), int: optional_type(V)"], _of_optional),
    *overloads("_[_]", ["optional_type(map(K, V)), K: optional_type(V)"], _of_optional),
    *overloads("_[?_]", ["list(V), int: optional_type(V)", "map(K, V), K: optional_type(V)"], part_of),
    *overloads("_[?_]", ["optional_type(list(V)), int: optional_type(V)"], _of_optional),
    *overloads("_[?_]", ["optional_type(map(K, V)), K: optional_type(V)"], _of_optional),
    *overloads("_+_", ["int, int: int"], lambda left, right: whole(left + right)),
    *overloads("_+_", ["uint, uint: uint"], lambda left, right: unsigned(int(left) + right)),
    *overloads("_+_", ["double, double: double"], lambda left, right: left + right),
    *overloads("_+_", ["string, string: string", "bytes, bytes: bytes"], lambda left, right: left + right, _both),
    *overloads("_+_", ["list(A), list(A): list(A)"], _joined, watched=True),
    *overloads("_+_", ["duration, duration: duration"], lambda left, right: span(left.nanos + right.nanos)),
    *overloads(
        "_+_",
        ["duration, timestamp: timestamp", "timestamp, duration: timestamp"],
        lambda left, right: moment(left.nanos + right.nanos),
    ),
    *overloads("_-_", ["int, int: int"], lambda left, right: whole(left - right)),
    *overloads("_-_", ["uint, uint: uint"], lambda left, right: unsigned(int(left) - right)),
    *overloads("_-_", ["double, double: double"], lambda left, right: left - right),
    *overloads(
        "_-_",
        ["duration, duration: duration", "timestamp, timestamp: duration"],
        lambda left, right: span(left.nanos - right.nanos),
    ),
    *overloads("_-_", ["timestamp, duration: timestamp"], lambda left, right: moment(left.nanos - right.nanos)),
    *overloads("_*_", ["int, int: int"], lambda left, right: whole(left * right)),
    *overloads("_*_", ["uint, uint: uint"], lambda left, right: unsigned(int(left) * right)),
    *overloads("_*_", ["double, double: double"], lambda left, right: left * right),
    *overloads("_/_", ["int, int: int"], lambda left, right: whole(_quotient(left, right))),
    *overloads("_/_", ["uint, uint: uint"], lambda left, right: unsigned(_quotient(left, right))),
    *overloads("_/_", ["double, double: double"], _ratio),
    *overloads("_%_", ["int, int: int"], _remainder),
    *overloads("_%_", ["uint, uint: uint"], lambda left, right: unsigned(_remainder(left, right))),
    *overloads("-_", ["int: int"], lambda value: whole(-value)),
    *overloads("-_", ["double: double"], lambda value: -value),
    *overloads("!_", ["bool: bool"], lambda value: not value),
    *overloads("cel.@mapInsert", ["map(K, V), K, V: map(K, V)", "map(K, V), map(K, V): map(K, V)"], _inserted),
]
