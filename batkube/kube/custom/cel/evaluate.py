"""The value of an expression."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from ...durations import nanoseconds
from ...quantity import Quantity
from ..expressions import expression
from . import libraries
from .syntax import Node

MAX_STEPS = 100_000  # of one evaluation: a rule may not hold the server up

Scope = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Optional:
    """A value that may not be there: `a.?b`, `optional.of(1)`."""

    there: bool = False
    value: Any = None


@dataclass(frozen=True, slots=True)
class _Format:
    """A named form of texts: `format.dns1123Label()`."""

    problems: Callable[[str], Any]

    def validate(self, text: str) -> Optional:
        """What is wrong with a text, if anything is."""
        found = list(self.problems(text))
        return Optional(True, found) if found else Optional()


class CelError(Exception):
    """An expression that has no value here: a missing key, a type that does not fit, too much work."""


def evaluate(node: Node, scope: Scope) -> Any:
    """The value, with the variables of `scope`."""
    try:
        return _Evaluation().value(node, scope)
    except RecursionError:
        raise CelError("the expression is too long") from None


class _Evaluation:
    def __init__(self) -> None:
        self._steps = 0

    def value(self, node: Node, scope: Scope) -> Any:
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise CelError("operation cancelled: actual cost limit exceeded")
        return getattr(self, f"_{node.kind}")(node, scope)

    def _literal(self, node: Node, scope: Scope) -> Any:
        return node.value

    def _name(self, node: Node, scope: Scope) -> Any:
        if node.value not in scope and node.value in _TYPE_NAMES:
            return node.value
        if node.value not in scope:
            raise CelError(f"undeclared reference to '{node.value}'")
        return scope[node.value]

    def _select(self, node: Node, scope: Scope) -> Any:
        holder = self.value(node.parts[0], scope)
        name = _unescaped(node.value)
        if isinstance(holder, Optional):
            return _part(holder, name)
        if not isinstance(holder, dict):
            raise CelError(f"type '{type_name(holder)}' does not support field selection")
        if name not in holder:
            raise CelError(f"no such key: {name}")
        return holder[name]

    def _index(self, node: Node, scope: Scope) -> Any:
        holder, index = (self.value(part, scope) for part in node.parts)
        if isinstance(holder, Optional):
            return _part(holder, index)
        if isinstance(holder, list) and _is_int(index):
            if not 0 <= index < len(holder):
                raise CelError(f"index out of bounds: {index}")
            return holder[index]
        if isinstance(holder, dict):
            if index not in holder:
                raise CelError(f"no such key: {index}")
            return holder[index]
        raise CelError("no such overload")

    def _maybe_select(self, node: Node, scope: Scope) -> Any:
        return _part(self.value(node.parts[0], scope), _unescaped(node.value))

    def _maybe_index(self, node: Node, scope: Scope) -> Any:
        holder, index = (self.value(part, scope) for part in node.parts)
        return _part(holder, index)

    def _list(self, node: Node, scope: Scope) -> Any:
        return [self.value(part, scope) for part in node.parts]

    def _map(self, node: Node, scope: Scope) -> Any:
        values = [self.value(part, scope) for part in node.parts]
        return dict(zip(values[::2], values[1::2], strict=True))

    def _choice(self, node: Node, scope: Scope) -> Any:
        return self.value(node.parts[1 if _bool(self.value(node.parts[0], scope)) else 2], scope)

    def _unary(self, node: Node, scope: Scope) -> Any:
        value = self.value(node.parts[0], scope)
        if node.value == "!":
            return not _bool(value)
        if not _is_number(value):
            raise CelError("no such overload")
        return -value

    def _binary(self, node: Node, scope: Scope) -> Any:
        if node.value in ("&&", "||"):
            return self._logical(node, scope)
        left, right = (self.value(part, scope) for part in node.parts)
        return _OPERATORS[node.value](left, right)

    def _logical(self, node: Node, scope: Scope) -> bool:
        """One side that decides is enough, even if the other has no value."""
        decides = node.value == "||"
        problem: CelError | None = None
        for part in node.parts:
            try:
                if _bool(self.value(part, scope)) is decides:
                    return decides
            except CelError as error:
                problem = error
        if problem is not None:
            raise problem
        return not decides

    def _call(self, node: Node, scope: Scope) -> Any:
        name = node.value
        if name == "has" and not node.method and len(node.parts) == 1 and node.parts[0].kind == "select":
            select = node.parts[0]
            holder = self.value(select.parts[0], scope)
            return isinstance(holder, dict) and _unescaped(select.value) in holder
        if node.method and name in _MACROS and len(node.parts) >= 3 and node.parts[1].kind == "name":
            return self._macro(node, scope)
        if node.method and name in ("optMap", "optFlatMap") and len(node.parts) == 3:
            return self._mapped(node, scope)
        library = node.parts[0].value if node.method and node.parts[0].kind == "name" else ""
        if f"{library}.{name}" in _LIBRARIES and library not in scope:
            function: Callable[..., Any] | None = _LIBRARIES[f"{library}.{name}"]
            arguments = [self.value(part, scope) for part in node.parts[1:]]
        else:
            arguments = [self.value(part, scope) for part in node.parts]
            function = _METHODS.get(name) if node.method else _FUNCTIONS.get(name)
        if function is None:
            raise CelError(f"undeclared reference to '{name}'")
        try:
            return function(*arguments)
        except (TypeError, AttributeError, ValueError, OverflowError) as error:
            raise CelError(f"no such overload: {name}: {error}") from None

    def _mapped(self, node: Node, scope: Scope) -> Any:
        """What an expression makes of an optional value, if it is there."""
        holder, variable, then = node.parts
        given = self.value(holder, scope)
        if not isinstance(given, Optional):
            raise CelError("no such overload")
        if not given.there:
            return given
        made = self.value(then, {**scope, variable.value: given.value})
        return made if node.value == "optFlatMap" else Optional(True, made)

    def _macro(self, node: Node, scope: Scope) -> Any:
        holder = self.value(node.parts[0], scope)
        if not isinstance(holder, list | dict):
            raise CelError("expression of this type cannot be the range of a comprehension")
        variable = node.parts[1].value
        scopes = [{**scope, variable: item} for item in holder]
        if node.value != "map" and len(node.parts) == 4 and node.parts[2].kind == "name":
            pairs_of = holder.items() if isinstance(holder, dict) else enumerate(holder)
            scopes = [{**scope, variable: key, node.parts[2].value: item} for key, item in pairs_of]
            node = Node(node.kind, node.value, (node.parts[0], node.parts[1], node.parts[3]), node.method)
        if node.value == "map":
            if len(node.parts) == 4:
                scopes = [its for its in scopes if _bool(self.value(node.parts[2], its))]
            return [self.value(node.parts[-1], its) for its in scopes]
        if node.value == "filter":
            pairs = zip(holder, scopes, strict=True)
            return [item for item, its in pairs if _bool(self.value(node.parts[2], its))]
        if node.value in ("exists_one", "existsOne"):
            return sum(_bool(self.value(node.parts[2], its)) for its in scopes) == 1
        decides = node.value == "exists"
        problem: CelError | None = None
        for its in scopes:
            try:
                if _bool(self.value(node.parts[2], its)) is decides:
                    return decides
            except CelError as error:
                problem = error
        if problem is not None:
            raise problem
        return not decides


_MACROS = frozenset(("all", "exists", "exists_one", "existsOne", "map", "filter"))
# Names that CEL reserves are written with underscores.
_RESERVED = {f"__{name}__": name for name in ("namespace", "if", "in", "for", "break", "const", "package", "import")}
_SYMBOLS = {"__dot__": ".", "__dash__": "-", "__slash__": "/", "__underscores__": "__"}


def _unescaped(name: str) -> str:
    if name in _RESERVED:
        return _RESERVED[name]
    for escape, symbol in _SYMBOLS.items():
        name = name.replace(escape, symbol)
    return name


_TYPE_NAMES = frozenset(
    ("bool", "bytes", "double", "int", "list", "map", "null_type", "string", "uint", "type", "timestamp", "duration")
)


def _part(holder: Any, key: Any) -> Optional:
    """The part of a value that goes by that key, if it is there."""
    if isinstance(holder, Optional):
        return _part(holder.value, key) if holder.there else holder
    if isinstance(holder, dict):
        return Optional(True, holder[key]) if key in holder else Optional()
    if isinstance(holder, list) and _is_int(key):
        return Optional(True, holder[key]) if 0 <= key < len(holder) else Optional()
    raise CelError("no such overload")


def _present(given: Optional) -> Any:
    if not given.there:
        raise CelError("optional.none() dereference")
    return given.value


def type_name(value: Any) -> str:
    """As CEL calls the type of a value."""
    if value is None:
        return "null_type"
    names = {bool: "bool", int: "int", float: "double", str: "string", list: "list", dict: "map"}
    return names.get(type(value), "dyn")


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _bool(value: Any) -> bool:
    if not isinstance(value, bool):
        raise CelError("no such overload")
    return value


def _equal(left: Any, right: Any) -> bool:
    return isinstance(left, bool) is isinstance(right, bool) and bool(left == right)


def _compared(test: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def compare(left: Any, right: Any) -> bool:
        if not ((_is_number(left) and _is_number(right)) or type(left) is type(right)):
            raise CelError("no such overload")
        try:
            return test(left, right)
        except TypeError:
            raise CelError("no such overload") from None

    return compare


def _contains(item: Any, holder: Any) -> bool:
    if isinstance(holder, list):
        return any(_equal(item, its) for its in holder)
    if isinstance(holder, dict):
        return item in holder
    raise CelError("no such overload")


def _add(left: Any, right: Any) -> Any:
    joined = isinstance(left, str | list | timedelta) and type(left) is type(right)
    moved = isinstance(left, datetime) and isinstance(right, timedelta)
    if joined or moved or (_is_number(left) and _is_number(right)):
        return left + right
    raise CelError("no such overload")


def _subtract(left: Any, right: Any) -> Any:
    if (_is_number(left) and _is_number(right)) or isinstance(left, datetime | timedelta):
        return left - right
    raise CelError("no such overload")


def _arithmetic(left: Any, right: Any) -> None:
    if not (_is_number(left) and _is_number(right)):
        raise CelError("no such overload")


def _multiply(left: Any, right: Any) -> Any:
    _arithmetic(left, right)
    return left * right


def _divide(left: Any, right: Any) -> Any:
    _arithmetic(left, right)
    if _is_int(left) and _is_int(right):
        if right == 0:
            raise CelError("division by zero")
        quotient = abs(left) // abs(right)
        return quotient if (left < 0) is (right < 0) else -quotient
    return left / right if right else math.copysign(math.inf, left)


def _modulo(left: Any, right: Any) -> Any:
    if not (_is_int(left) and _is_int(right)):
        raise CelError("no such overload")
    if right == 0:
        raise CelError("modulus by zero")
    return left - right * _divide(left, right)


_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "==": _equal,
    "!=": lambda left, right: not _equal(left, right),
    "<": _compared(lambda left, right: left < right),
    "<=": _compared(lambda left, right: left <= right),
    ">": _compared(lambda left, right: left > right),
    ">=": _compared(lambda left, right: left >= right),
    "in": _contains,
    "+": _add,
    "-": _subtract,
    "*": _multiply,
    "/": _divide,
    "%": _modulo,
}


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
    return all(not any(_equal(its, other) for other in values[:index]) for index, its in enumerate(values))


def timestamp(text: str) -> datetime:
    """A time; that of midnight for a date. ValueError."""
    found = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def duration(text: str) -> timedelta:
    """A span of time: `1h30m`. ValueError."""
    return timedelta(microseconds=nanoseconds(text) / 1000)


_SHARED: dict[str, Callable[..., Any]] = {"size": len, "matches": _matches}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
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
_LIBRARIES: dict[str, Callable[..., Any]] = {
    "optional.of": lambda value: Optional(True, value),
    "optional.none": Optional,
    "optional.ofNonZeroValue": lambda value: Optional(True, value) if value else Optional(),
    "ip.isCanonical": lambda text: str(libraries.address(text)) == text,
    **{f"format.{name}": partial(_Format, check) for name, check in libraries.FORMATS.items()},
    "sets.contains": lambda values, part: all(_contains(item, values) for item in part),
    "sets.equivalent": lambda one, other: (
        all(_contains(item, one) for item in other) and all(_contains(item, other) for item in one)
    ),
    "sets.intersects": lambda one, other: any(_contains(item, other) for item in one),
}
_METHODS: dict[str, Callable[..., Any]] = {
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
    "contains": lambda text, part: part in text if isinstance(text, str) else _contains(part, text),
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
    return next((index for index in range(len(values) - 1, -1, -1) if _equal(values[index], item)), -1)


def _index_of(values: list[Any], item: Any) -> int:
    return next((index for index, its in enumerate(values) if _equal(its, item)), -1)


def _is_quantity(text: str) -> bool:
    try:
        Quantity.parse(text)
    except ValueError:
        return False
    return True
