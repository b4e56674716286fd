"""The value of an expression."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from ...quantity import Quantity
from ..expressions import expression
from .syntax import Node

MAX_STEPS = 100_000  # of one evaluation: a rule may not hold the server up

Scope = Mapping[str, Any]


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
        if node.value not in scope:
            raise CelError(f"undeclared reference to '{node.value}'")
        return scope[node.value]

    def _select(self, node: Node, scope: Scope) -> Any:
        holder = self.value(node.parts[0], scope)
        name = _unescaped(node.value)
        if not isinstance(holder, dict):
            raise CelError(f"type '{type_name(holder)}' does not support field selection")
        if name not in holder:
            raise CelError(f"no such key: {name}")
        return holder[name]

    def _index(self, node: Node, scope: Scope) -> Any:
        holder, index = (self.value(part, scope) for part in node.parts)
        if isinstance(holder, list) and _is_int(index):
            if not 0 <= index < len(holder):
                raise CelError(f"index out of bounds: {index}")
            return holder[index]
        if isinstance(holder, dict):
            if index not in holder:
                raise CelError(f"no such key: {index}")
            return holder[index]
        raise CelError("no such overload")

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
        arguments = [self.value(part, scope) for part in node.parts]
        function = _METHODS.get(name) if node.method else _FUNCTIONS.get(name)
        if function is None:
            raise CelError(f"undeclared reference to '{name}'")
        try:
            return function(*arguments)
        except (TypeError, AttributeError, ValueError, OverflowError) as error:
            raise CelError(f"no such overload: {name}: {error}") from None

    def _macro(self, node: Node, scope: Scope) -> Any:
        holder = self.value(node.parts[0], scope)
        if not isinstance(holder, list | dict):
            raise CelError("expression of this type cannot be the range of a comprehension")
        variable = node.parts[1].value
        scopes = [{**scope, variable: item} for item in holder]
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


def _matches(text: str, pattern: str) -> bool:
    compiled = expression(pattern)
    if compiled is None:
        raise ValueError(f"no way to match {pattern!r}")
    return compiled.search(text) is not None


def _unique(values: list[Any]) -> bool:
    return all(not any(_equal(its, other) for other in values[:index]) for index, its in enumerate(values))


def _timestamp(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def _duration(text: str) -> timedelta:
    units = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
    found = re.findall(r"(\d+(?:\.\d+)?)(ms|us|ns|h|m|s)", text)
    if not found or "".join(number + unit for number, unit in found) != text.lstrip("+-"):
        raise ValueError(f"invalid duration {text!r}")
    seconds = sum(float(number) * units[unit] for number, unit in found)
    return timedelta(seconds=-seconds if text.startswith("-") else seconds)


_SHARED: dict[str, Callable[..., Any]] = {"size": len, "matches": _matches}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **_SHARED,
    "int": int,
    "uint": int,
    "double": float,
    "string": _text,
    "bool": lambda value: value if isinstance(value, bool) else value == "true",
    "type": type_name,
    "dyn": lambda value: value,
    "timestamp": _timestamp,
    "duration": _duration,
    "quantity": lambda text: Quantity.parse(text),
    "isQuantity": lambda text: _is_quantity(text),
}
_METHODS: dict[str, Callable[..., Any]] = {
    **_SHARED,
    "startsWith": str.startswith,
    "endsWith": str.endswith,
    "contains": lambda text, part: part in text if isinstance(text, str) else _contains(part, text),
    "lowerAscii": str.lower,
    "upperAscii": str.upper,
    "trim": str.strip,
    "split": lambda text, by, *most: text.split(by, *(count - 1 for count in most)),
    "replace": lambda text, old, new, *most: text.replace(old, new, *most),
    "substring": lambda text, start, *end: text[start : end[0] if end else None],
    "indexOf": lambda values, item: values.find(item) if isinstance(values, str) else _index_of(values, item),
    "join": lambda values, *by: (by[0] if by else "").join(values),
    "isSorted": lambda values: values == sorted(values),
    "sum": sum,
    "min": min,
    "max": max,
    "unique": _unique,
    "getSeconds": lambda span: int(span.total_seconds()),
    "isGreaterThan": lambda one, other: one > other,
    "isLessThan": lambda one, other: one < other,
    "compareTo": lambda one, other: (one > other) - (one < other),
}


def _index_of(values: list[Any], item: Any) -> int:
    return next((index for index, its in enumerate(values) if _equal(its, item)), -1)


def _is_quantity(text: str) -> bool:
    try:
        Quantity.parse(text)
    except ValueError:
        return False
    return True
