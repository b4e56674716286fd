"""The operators of CEL expressions."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from .values import CelError, contains, equal, is_int, is_number


def _compared(test: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def compare(left: Any, right: Any) -> bool:
        if not ((is_number(left) and is_number(right)) or type(left) is type(right)):
            raise CelError("no such overload")
        try:
            return test(left, right)
        except TypeError:
            raise CelError("no such overload") from None

    return compare


def _add(left: Any, right: Any) -> Any:
    joined = isinstance(left, str | list | timedelta) and type(left) is type(right)
    moved = isinstance(left, datetime) and isinstance(right, timedelta)
    if joined or moved or (is_number(left) and is_number(right)):
        return left + right
    raise CelError("no such overload")


def _subtract(left: Any, right: Any) -> Any:
    if (is_number(left) and is_number(right)) or isinstance(left, datetime | timedelta):
        return left - right
    raise CelError("no such overload")


def _arithmetic(left: Any, right: Any) -> None:
    if not (is_number(left) and is_number(right)):
        raise CelError("no such overload")


def _multiply(left: Any, right: Any) -> Any:
    _arithmetic(left, right)
    return left * right


def _divide(left: Any, right: Any) -> Any:
    _arithmetic(left, right)
    if is_int(left) and is_int(right):
        if right == 0:
            raise CelError("division by zero")
        quotient = abs(left) // abs(right)
        return quotient if (left < 0) is (right < 0) else -quotient
    return left / right if right else math.copysign(math.inf, left)


def _modulo(left: Any, right: Any) -> Any:
    if not (is_int(left) and is_int(right)):
        raise CelError("no such overload")
    if right == 0:
        raise CelError("modulus by zero")
    return left - right * _divide(left, right)


OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "==": equal,
    "!=": lambda left, right: not equal(left, right),
    "<": _compared(lambda left, right: left < right),
    "<=": _compared(lambda left, right: left <= right),
    ">": _compared(lambda left, right: left > right),
    ">=": _compared(lambda left, right: left >= right),
    "in": contains,
    "+": _add,
    "-": _subtract,
    "*": _multiply,
    "/": _divide,
    "%": _modulo,
}
