"""The functions of CEL itself: sizes, types, and conversions of values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .declarations import Overload, by_size, overloads
from .operators import moment, span, unsigned, whole
from .times import duration, shown_duration, shown_timestamp, timestamp
from .values import CelError, Duration, Timestamp, TypeValue, Uint, kind_of

_TRUE, _FALSE = ("1", "t", "T", "TRUE", "true", "True"), ("0", "f", "F", "FALSE", "false", "False")
_NAMES = {"timestamp": "google.protobuf.Timestamp", "duration": "google.protobuf.Duration", "object": "map"}
_MAX_DIGITS = 400
_FEW = 6  # digits before an exponent is written


def shown_double(value: float) -> str:
    """Return a double in Go's shortest form: 1e+06, 0.1."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
    digits, _, exponent = f"{value:.17e}".partition("e")
    for precision in range(17):
        digits, _, exponent = f"{value:.{precision}e}".partition("e")
        if float(f"{digits}e{exponent}") == value:
            break
    places = len(digits.lstrip("-").replace(".", ""))
    if -5 < int(exponent) < _FEW:
        text = f"{value:.{max(places - 1 - int(exponent), 0)}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return f"{digits}e{int(exponent):+03d}"


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise CelError("invalid UTF-8 in bytes, cannot convert to string") from None
    if isinstance(value, float):
        return shown_double(value)
    if isinstance(value, Timestamp):
        return shown_timestamp(value)
    return shown_duration(value) if isinstance(value, Duration) else str(value)


def _digits(text: str, kind: str, *, sign: bool) -> int:
    bare = text[1:] if sign and text[:1] in ("+", "-") else text
    if not (bare.isascii() and bare.isdigit()):
        raise CelError(f"type conversion error from 'string' to '{kind}'")
    bare = bare.lstrip("0") or "0"
    if len(bare) > _MAX_DIGITS:
        raise CelError(f"type conversion error from 'string' to '{kind}'")
    return -int(bare) if text.startswith("-") else int(bare)


def _int(value: Any) -> int:
    if isinstance(value, str):
        return whole(_digits(value, "int", sign=True))
    if isinstance(value, float):
        if not math.isfinite(value) or not -(2.0**63) < value < 2.0**63:
            raise CelError("integer overflow")
        return int(value)
    if isinstance(value, Timestamp):
        return value.nanos // 10**9
    return whole(value.nanos if isinstance(value, Duration) else int(value))


def _uint(value: Any) -> Uint:
    if isinstance(value, str):
        return unsigned(_digits(value, "uint", sign=False))
    if isinstance(value, float):
        if not math.isfinite(value) or not 0 <= value < 2.0**64:
            raise CelError("unsigned integer overflow")
        return Uint(value)
    return unsigned(int(value))


def _double(value: Any) -> float:
    if isinstance(value, str) and (value != value.strip() or "_" in value):
        raise CelError("type conversion error from 'string' to 'double'")
    try:
        return float(value)
    except ValueError:
        raise CelError("type conversion error from 'string' to 'double'") from None


def _bool(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if value not in _TRUE + _FALSE:
        raise CelError("type conversion error from 'string' to 'bool'")
    return value in _TRUE


def _converted(read: Callable[[str], Any], name: str) -> Callable[[str], Any]:
    def convert(text: str) -> Any:
        try:
            return read(text)
        except ValueError:
            raise CelError(f"type conversion error from 'string' to '{name}'") from None

    return convert


def type_of(value: Any) -> TypeValue:
    """Return the type of a value."""
    kind = kind_of(type(value))
    return TypeValue(_NAMES.get(kind, kind))


_AS_TEXT = ("bool", "double", "duration", "int", "string", "timestamp", "uint")
_SIZED = ["bytes: int", "list(A): int", "map(A, B): int", "string: int"]

OVERLOADS: list[Overload] = [
    *overloads("size", _SIZED, len),
    *overloads("size", _SIZED, len, method=True),
    *overloads("type", ["A: type(A)"], type_of),
    *overloads("dyn", ["A: dyn"], lambda value: value),
    *overloads("bool", ["bool: bool", "string: bool"], _bool),
    *overloads("bytes", ["bytes: bytes"], lambda value: value),
    *overloads("bytes", ["string: bytes"], lambda value: value.encode("utf-8", "replace"), by_size(0.1)),
    *overloads("double", ["double: double", "int: double", "string: double", "uint: double"], _double),
    *overloads(
        "int", [f"{source}: int" for source in ("int", "double", "duration", "string", "timestamp", "uint")], _int
    ),
    *overloads("uint", ["uint: uint", "double: uint", "int: uint", "string: uint"], _uint),
    *overloads("string", [f"{source}: string" for source in _AS_TEXT], _text),
    *overloads("string", ["bytes: string"], _text, by_size(0.1)),
    *overloads("duration", ["duration: duration"], lambda value: value),
    *overloads("duration", ["int: duration"], span),
    *overloads("duration", ["string: duration"], _converted(duration, "google.protobuf.Duration")),
    *overloads("timestamp", ["timestamp: timestamp"], lambda value: value),
    *overloads("timestamp", ["int: timestamp"], lambda value: moment(value * 10**9)),
    *overloads("timestamp", ["string: timestamp"], _converted(timestamp, "google.protobuf.Timestamp")),
]
