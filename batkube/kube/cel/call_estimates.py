"""Estimates of calls: the most that a function costs, and the size of its result, before anything is evaluated.

Kubernetes' functions follow `EstimateCallCost` (`k8s.io/apiserver/pkg/cel/library/cost.go`), those of lists and sets
`google/cel-go/ext`, all others `google/cel-go/checker/cost.go`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from .declarations import Overload
from .sizes import LARGEST, ONE, UNKNOWN_SIZE, Path, Size, by_factor, exactly, plus, times
from .tree import Node
from .types import Type

_TEXT = 0.1
"""The cost of a character that is looked at."""
_PATTERN = 0.25
"""The cost of a character of a regular expression."""
_NEW_LIST = 10
_LONGEST_FORMAT, _LONGEST_FORMAT_PATTERN = 64, 128
_TEXTS = (("string",), ("bytes",))


class Estimate(NamedTuple):
    """The cost of a call without its arguments, and the size of its result; None if the call says nothing of it."""

    cost: int
    size: Size | None = None


@dataclass(frozen=True, slots=True)
class Operand:
    """An argument of a call."""

    node: Node | None  # None for the items of a list
    type: Type
    path: Path
    computed: Size | None
    bound: Callable[[Path], Size | None]

    @property
    def size(self) -> Size:
        """The size that is computed from the expression, else the one that is declared."""
        return self.computed or self.bound(self.path) or UNKNOWN_SIZE

    @property
    def computed_or_unknown(self) -> Size:
        return self.computed or UNKNOWN_SIZE

    def items(self) -> Operand | None:
        """Return the items of a list, as one operand; None if this is no list."""
        if len(self.type) < 2:
            return None
        steps = self.path.steps()
        path = self.path.separate().grown("@items") if steps else self.path
        return Operand(None, self.type[1], path, None, self.bound)

    def whole(self, otherwise: int) -> int:
        """Return the value of a literal whole number that is not negative."""
        if self.node is None or self.node.kind != "literal" or type(self.node.value) is not int:
            return otherwise
        return max(0, self.node.value)


@dataclass(frozen=True, slots=True)
class Call:
    """A call of one overload. `target` is what a method is called on; it is not among the arguments."""

    overload: Overload
    target: Operand | None
    arguments: list[Operand]


def estimate(call: Call) -> Estimate:
    """Return the cost of a call, 1 if nothing is known of it, and the size of its result."""
    known = _ESTIMATES.get(call.overload.name)
    found = known(call) if known is not None else None
    return found or Estimate(1)


_Estimator = Callable[[Call], Estimate | None]


def _first(call: Call) -> Operand:
    return call.target or call.arguments[0]


def _reads(factor: float, *, resized: bool = False) -> _Estimator:
    """Return the cost of going through the first operand; `resized` if the result may be of another size."""

    def of(call: Call) -> Estimate:
        size = _first(call).size
        return Estimate(by_factor(size.most, factor), None if resized else size)

    return of


def _each_item(call: Call) -> Estimate | None:
    """Return the cost of looking at each item of a list, or at each character of a text."""
    if call.target is None:
        return None
    items, size = call.target.items(), call.target.size
    if items is None:
        return Estimate(by_factor(size.most, _TEXT))
    cost = 1 + by_factor(items.size.most, _TEXT) if items.type in _TEXTS else 1
    return Estimate(times(size.most, cost))


def _replace(call: Call) -> Estimate | None:
    if call.target is None:
        return None
    size, before, after = call.target.size, call.arguments[0].size, call.arguments[1].size
    most, kept_most = _replaced(size.most, before.least, lengthens=after.most > before.least)
    least, kept_least = _replaced(size.least, before.most, lengthens=before.most > after.least)
    made = Size(least, most) * after + Size(kept_least, kept_most)
    return Estimate(by_factor(size.most, 2 * _TEXT), made)


def _replaced(size: int, part: int, *, lengthens: bool) -> tuple[int, int]:
    """Return how many parts of a text are replaced, and how much of it stays."""
    if part == 0:  # around each character
        return plus(size, 1), size
    return (math.ceil(float(size) / float(part)), 0) if lengthens else (0, size)


def _split(call: Call) -> Estimate | None:
    if call.target is None:
        return None
    size, most = call.target.size, call.target.size.most
    limit = call.arguments[1].node if len(call.arguments) > 1 else None
    if limit is not None and limit.kind == "literal" and type(limit.value) is int:
        most = limit.value & LARGEST
    return Estimate(by_factor(size.most, 2 * _TEXT), Size(0, most))


def _join(call: Call) -> Estimate | None:
    if call.target is None:
        return None
    count, items = call.target.size, call.target.items()
    size = count * items.size if items is not None else exactly(0)
    if call.arguments:
        size += call.arguments[0].size * Size(max(0, count.least - 1), max(0, count.most - 1))
    return Estimate(by_factor(size.most, _TEXT), size)


def _pattern_cost(text: Size, pattern: Size) -> int:
    """Return the cost of a regular expression. An empty text costs something, too."""
    return times(by_factor(plus(text.most, 1), _TEXT), by_factor(pattern.most, _PATTERN))


def _find(call: Call) -> Estimate | None:
    if call.target is None:
        return None
    size = call.target.size
    return Estimate(_pattern_cost(size, call.arguments[0].size), Size(0, size.most))


def _address(call: Call) -> Estimate:
    """Return the cost of `ip()`: of a text it reads it, of a range it is there."""
    if call.overload.method:
        return Estimate(1)
    return Estimate(by_factor(call.arguments[0].size.most, _TEXT))


def _holds(more: int) -> _Estimator:
    """Return the cost of comparing an address with a range: of 16 bytes at most."""

    def of(call: Call) -> Estimate:
        parsed = call.overload.params[1] == ("string",)
        return Estimate(plus(4 + more, by_factor(call.arguments[0].size.most, _TEXT) if parsed else 0))

    return of


def _validate(call: Call) -> Estimate:
    cost = by_factor(call.arguments[0].size.most, _TEXT)
    return Estimate(by_factor(cost, _LONGEST_FORMAT_PATTERN * _PATTERN))


def _compared(call: Call) -> Estimate:
    one, other = call.arguments
    return Estimate(by_factor(min(one.computed_or_unknown.most, other.computed_or_unknown.most), _TEXT))


def _equal(call: Call) -> Estimate:
    one, other = call.arguments
    if one.type == other.type and one.type[0] in _EQUALITY:
        return Estimate(_EQUALITY[one.type[0]])
    if one.type == other.type == ("kubernetes.URL",):
        return Estimate(by_factor((other.computed or ONE).most, _TEXT))
    return _compared(call)


_EQUALITY = {
    **dict.fromkeys(("net.IP", "net.CIDR", "kubernetes.Quantity", "kubernetes.Semver"), 1),
    "kubernetes.NamedFormat": by_factor(_LONGEST_FORMAT, _TEXT),
}


def _of_texts(of: _Estimator) -> _Estimator:
    """Return the estimate of an overload for texts. The others cost nothing of note."""
    return lambda call: of(call) if call.overload.params[0] in _TEXTS else None


def _added(call: Call) -> Estimate | None:
    if call.overload.params[0] not in _TEXTS and call.overload.params[0][0] != "list":
        return None
    one, other = (operand.computed_or_unknown for operand in call.arguments)
    size = one + other
    return Estimate(1 if call.overload.params[0][0] == "list" else by_factor(size.most, _TEXT), size)


def _bytes(call: Call) -> Estimate | None:
    if call.overload.params[0] != ("string",):
        return None
    size = call.arguments[0].computed_or_unknown
    return Estimate(by_factor(size.most, _TEXT), Size(size.least, size.most * 4 & LARGEST))


def _string(call: Call) -> Estimate | None:
    if call.overload.params[0] != ("bytes",):
        return None
    size = call.arguments[0].computed_or_unknown
    return Estimate(by_factor(size.most, _TEXT), Size(size.least // 4, size.most))


def _quote(call: Call) -> Estimate:
    size = call.arguments[0].computed_or_unknown
    return Estimate(by_factor(size.most, _TEXT), Size(size.least + 2 & LARGEST, size.most * 2 + 2 & LARGEST))


def _format(call: Call) -> Estimate | None:
    return None if call.target is None else Estimate(by_factor(call.target.computed_or_unknown.most, _TEXT))


def _starts(call: Call) -> Estimate:
    return Estimate(by_factor(call.arguments[0].computed_or_unknown.most, _TEXT))


def _contains(call: Call) -> Estimate | None:
    if call.target is None:
        return None
    texts = (call.target.computed_or_unknown.most, call.arguments[0].computed_or_unknown.most)
    return Estimate(times(*(by_factor(size, _TEXT) for size in texts)))


def _matches(call: Call) -> Estimate | None:
    if call.target is None:  # the function costs less than the method
        return None
    return Estimate(_pattern_cost(call.target.computed_or_unknown, call.arguments[0].computed_or_unknown))


def _in(call: Call) -> Estimate | None:
    if call.overload.params[1][0] != "list":
        return None
    return Estimate(call.arguments[1].computed_or_unknown.most)


def _new_list(factor: float, size: Size) -> Estimate:
    return Estimate(plus(by_factor(size.most, factor), 1, _NEW_LIST), size)


def _slice(call: Call) -> Estimate:
    start, end = call.arguments
    return _new_list(1, exactly(end.whole(_first(call).size.most) - start.whole(0) & LARGEST))


def _flatten(call: Call) -> Estimate:
    depth = call.arguments[0].whole(LARGEST) if call.arguments else 1
    return _new_list(float(depth), _first(call).size)


def _sorted(call: Call) -> Estimate:
    by = call.arguments[0] if call.arguments else _first(call)
    return _new_list(2 + _TEXT if call.overload.params[-1][1] in _TEXTS else 2, by.size * by.size)


def _distinct(call: Call) -> Estimate:
    size = _first(call).size
    return _new_list(2, size * size)


def _sets(factor: float) -> _Estimator:
    def of(call: Call) -> Estimate:
        one, other = (operand.size for operand in call.arguments)
        return Estimate(plus(by_factor((one * other).most, factor), 1))

    return of


_ESTIMATES: dict[str, _Estimator] = {
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _each_item),
    **dict.fromkeys(("url", "lowerAscii", "upperAscii", "substring", "trim"), _reads(_TEXT)),
    **dict.fromkeys(
        ("cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"), _reads(_TEXT, resized=True)
    ),
    "ip": _address,
    "ip.isCanonical": _reads(2 * _TEXT, resized=True),
    "containsIP": _holds(0),
    "containsCIDR": _holds(3),
    "validate": _validate,
    "replace": _replace,
    "split": _split,
    "join": _join,
    "find": _find,
    "findAll": _find,
    "_==_": _equal,
    "_!=_": _compared,
    **dict.fromkeys(("_<_", "_<=_", "_>_", "_>=_"), _of_texts(_compared)),
    "_+_": _added,
    "@in": _in,
    "bytes": _bytes,
    "string": _string,
    "strings.quote": _quote,
    "format": _format,
    "startsWith": _starts,
    "endsWith": _starts,
    "contains": _contains,
    "matches": _matches,
    "slice": _slice,
    "lists.range": lambda call: _new_list(1, exactly(call.arguments[0].whole(LARGEST))),
    "reverse": lambda call: _new_list(1, _first(call).size),
    "flatten": _flatten,
    "distinct": _distinct,
    "sort": _sorted,
    "@sortByAssociatedKeys": _sorted,
    "sets.contains": _sets(1),
    "sets.intersects": _sets(1),
    "sets.equivalent": _sets(2),
}
