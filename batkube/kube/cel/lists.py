"""The functions of lists and of optional values: Kubernetes', `ext.Lists` (version 3), `ext.Sets`,
`cel.OptionalTypes`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cmp_to_key
from itertools import pairwise
from typing import Any

from .declarations import Overload, methods, overloads
from .operators import span, unsigned, whole
from .strings import traversal_cost
from .values import CelError, Comparison, CostExceeded, Duration, Optional, Uint, equal, part_of, size

_NUMBERS, _ADDED = ("int", "uint", "double"), ("int", "uint", "double", "duration")
_COMPARABLE = (*_NUMBERS, "bool", "duration", "timestamp", "string", "bytes")
_LONGEST = 1_000_000  # items: more than any evaluation may pay for


def _compare(one: Any, other: Any) -> int:
    numbers = isinstance(one, int | float) and isinstance(other, int | float)
    if type(one) is not type(other) and not (numbers and not isinstance(one, bool) and not isinstance(other, bool)):
        raise CelError("no such overload")
    if one != one or other != other:
        raise CelError("NaN values cannot be ordered")
    try:
        return int(one > other) - int(one < other)
    except TypeError:
        raise CelError("no such overload") from None


def _is_sorted(values: list[Any]) -> bool:
    return all(_compare(one, other) <= 0 for one, other in pairwise(values))


def _extreme(name: str, sign: int) -> Callable[[list[Any]], Any]:
    def find(values: list[Any]) -> Any:
        if not values:
            raise CelError(f"{name} called on empty list")
        found = values[0]
        for value in values:
            if _compare(value, found) * sign > 0:
                found = value
        return found

    return find


def _sum(zero: Any) -> Callable[[list[Any]], Any]:
    def add(values: list[Any]) -> Any:
        total = zero
        for value in values:
            if type(value) is not type(zero):
                raise CelError("no such overload")
            if isinstance(value, Duration):
                total = span(total.nanos + value.nanos)
            else:
                total = total + value if isinstance(value, float) else int(total) + int(value)
            if isinstance(value, int):
                total = unsigned(total) if isinstance(value, Uint) else whole(total)
        return total

    return add


_ZEROS: dict[str, Any] = {"int": 0, "uint": Uint(0), "double": 0.0, "duration": Duration(0)}


def _first_index(values: list[Any], item: Any) -> int:
    return next((index for index, value in enumerate(values) if equal(value, item)), -1)


def _last_index(values: list[Any], item: Any) -> int:
    return next((index for index in range(len(values) - 1, -1, -1) if equal(values[index], item)), -1)


def _slice(values: list[Any], start: int, end: int) -> list[Any]:
    if start < 0 or end < 0:
        raise CelError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise CelError(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if len(values) < end:
        raise CelError(f"cannot slice({start}, {end}), list is length {len(values)}")
    return list(values[start:end])


def _flatten(evaluation: Any, values: list[Any], depth: int = 1) -> list[Any]:
    if depth < 0:
        raise CelError("level must be non-negative")
    made: list[Any] = []
    for value in values:
        evaluation.work(1)
        if isinstance(value, list) and depth:
            made += _flatten(evaluation, value, depth - 1)
        else:
            made.append(value)
    return made


def _sorted_by(values: list[Any], keys: list[Any]) -> list[Any]:
    if len(values) != len(keys):
        raise CelError("@sortByAssociatedKeys() expected a list of the same size as the associated keys list")
    if any(type(key) is not type(keys[0]) for key in keys):
        raise CelError("list elements must have the same type")
    by = cmp_to_key(_compare)
    order: list[int] = sorted(range(len(keys)), key=lambda place: by(keys[place]))
    return [values[place] for place in order]


def _distinct(evaluation: Any, values: list[Any]) -> list[Any]:
    made: list[Any] = []
    comparison = Comparison()
    for value in values:
        if not any(comparison.equal(value, other) for other in made):
            made.append(value)
        evaluation.watch(comparison.looks)
    return made


def _range(count: int) -> list[int]:
    if count > _LONGEST:
        raise CostExceeded
    return list(range(count))


def _allocating(factor: float, count: int) -> int:
    return int(count * factor) + 11


def _result_cost(*values: Any) -> int:
    return _allocating(1, size(values[-1]))


def _self_compare_cost(values: list[Any], *rest: Any) -> int:
    return _allocating(2.1 if values and isinstance(values[0], str | bytes) else 2, len(values) ** 2)


def _flatten_cost(values: list[Any], *rest: Any) -> int:
    return _allocating(min(rest[0], 1 << 20) if len(rest) == 2 else 1, len(values))


def _sets(factor: int) -> Callable[..., int]:
    return lambda one, other, *result: 1 + len(one) * len(other) * factor


def _contains(evaluation: Any, values: list[Any], part: list[Any]) -> bool:
    comparison = Comparison()
    for item in part:
        if not any(comparison.equal(item, member) for member in values):
            return False
        evaluation.watch(comparison.looks)
    return True


def _intersects(evaluation: Any, one: list[Any], other: list[Any]) -> bool:
    comparison = Comparison()
    for item in one:
        if any(comparison.equal(item, member) for member in other):
            return True
        evaluation.watch(comparison.looks)
    return False


def _value(given: Optional) -> Any:
    if not given.there:
        raise CelError("optional.none() dereference")
    return given.value


def _present(value: Any) -> Optional:
    zero = value is None or (isinstance(value, int | float | str | bytes | list | dict) and not value)
    return Optional() if zero or value == Duration(0) else Optional(True, value)


def _unwrapped(values: list[Any]) -> list[Any]:
    for value in values:
        if not isinstance(value, Optional):
            raise CelError(f"value {value} is not optional")
    return [value.value for value in values if value.there]


_SAME = ["list(T): list(T)"]
_OF_EACH = [f"list({kind})" for kind in _COMPARABLE]

OVERLOADS: list[Overload] = [
    *methods("isSorted", [f"{kind}: bool" for kind in _OF_EACH], _is_sorted, traversal_cost),
    *(
        overload
        for kind, zero in _ZEROS.items()
        for overload in methods("sum", [f"list({kind}): {kind}"], _sum(zero), traversal_cost)
    ),
    *methods("max", [f"list({kind}): {kind}" for kind in _COMPARABLE], _extreme("max", 1), traversal_cost),
    *methods("min", [f"list({kind}): {kind}" for kind in _COMPARABLE], _extreme("min", -1), traversal_cost),
    *methods("indexOf", ["list(A), A: int"], _first_index, traversal_cost),
    *methods("lastIndexOf", ["list(A), A: int"], _last_index, traversal_cost),
    *methods("slice", ["list(T), int, int: list(T)"], _slice, _result_cost),
    *methods("flatten", ["list(list(T)): list(T)", "list(dyn), int: list(dyn)"], _flatten, _flatten_cost, watched=True),
    *methods(
        "sort", [f"{kind}: {kind}" for kind in _OF_EACH], lambda values: _sorted_by(values, values), _self_compare_cost
    ),
    *methods(
        "@sortByAssociatedKeys",
        [f"list(T), {kind}: list(T)" for kind in _OF_EACH],
        _sorted_by,
        lambda values, keys, *result: _self_compare_cost(keys),
    ),
    *overloads("lists.range", ["int: list(int)"], _range, _result_cost),
    *methods("reverse", _SAME, lambda values: values[::-1], _result_cost),
    *methods("distinct", _SAME, _distinct, _self_compare_cost, watched=True),
    *overloads("sets.contains", ["list(T), list(T): bool"], _contains, _sets(1), watched=True),
    *overloads(
        "sets.equivalent",
        ["list(T), list(T): bool"],
        lambda run, one, other: _contains(run, one, other) and _contains(run, other, one),
        _sets(2),
        watched=True,
    ),
    *overloads("sets.intersects", ["list(T), list(T): bool"], _intersects, _sets(1), watched=True),
    *overloads("optional.of", ["V: optional_type(V)"], lambda value: Optional(True, value)),
    *overloads("optional.ofNonZeroValue", ["V: optional_type(V)"], _present),
    *overloads("optional.none", [": optional_type(V)"], Optional),
    *overloads("optional.unwrap", ["list(optional_type(V)): list(V)"], _unwrapped),
    *methods("unwrapOpt", ["list(optional_type(V)): list(V)"], _unwrapped),
    *methods("value", ["optional_type(V): V"], _value),
    *methods("hasValue", ["optional_type(V): bool"], lambda given: given.there),
    *methods(
        "or",
        ["optional_type(V), optional_type(V): optional_type(V)"],
        lambda given, other: given if given.there else other,
    ),
    *methods("orValue", ["optional_type(V), V: V"], lambda given, other: given.value if given.there else other),
    *methods("first", ["list(V): optional_type(V)"], lambda values: part_of(values, 0)),
    *methods("last", ["list(V): optional_type(V)"], lambda values: part_of(values, len(values) - 1)),
]
