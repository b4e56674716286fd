"""The values with an encoding of their own: times, quantities, embedded JSON, and the unions of CRD schemas."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

import orjson

from ...apimachinery.durations import DurationError, go_duration, nanoseconds
from ...apimachinery.quantity import QuantityError, canonical
from .wire import BYTES, VARINT, ProtobufError, read_length, read_varint, signed, skip, varint

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ZERO_TIME = -62_135_596_800  # Go's zero time, year 1, in Unix seconds
_LAST_TIME = 253_402_300_799  # the end of the year 9999


def read_fields(data: bytes, position: int, end: int) -> dict[int, Any]:
    """Return the fields of a small message by number, the last of each: numbers, or bytes."""
    found: dict[int, Any] = {}
    while position < end:
        tag, position = read_varint(data, position, end)
        wire_type, number = tag & 7, tag >> 3
        if wire_type == VARINT:
            found[number], position = read_varint(data, position, end)
        elif wire_type == BYTES:
            start, position = read_length(data, position, end)
            found[number] = data[start:position]
        else:
            position = skip(data, position, end, tag)
    return found


def text(data: bytes) -> str:
    """Return a string. Bytes that are not UTF-8 become U+FFFD, as Go prints them."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode(errors="replace")


def _number(fields: dict[int, Any], number: int) -> int:
    value = fields.get(number, 0)
    if not isinstance(value, int):
        raise ProtobufError(f"proto: wrong wireType = 2 for field {number}")
    return value


def _bytes(fields: dict[int, Any], number: int) -> bytes:
    value = fields.get(number, b"")
    if not isinstance(value, bytes):
        raise ProtobufError(f"proto: wrong wireType = 0 for field {number}")
    return value


@lru_cache(maxsize=4096)
def _rfc3339(seconds: int) -> str:
    return (_EPOCH + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S").rjust(19, "0")


def _checked_seconds(fields: dict[int, Any]) -> int:
    seconds = signed(_number(fields, 1), 64)
    if not _ZERO_TIME <= seconds <= _LAST_TIME:
        raise ProtobufError("time: year outside of range [0,9999]")
    return seconds


def read_time(data: bytes, start: int, end: int) -> str | None:
    """Return a time in whole seconds (meta/v1 Time.Unmarshal drops the rest); None for Go's zero time."""
    if start == end:
        return None
    seconds = _checked_seconds(read_fields(data, start, end))
    return None if seconds == _ZERO_TIME else _rfc3339(seconds) + "Z"


def read_micro_time(data: bytes, start: int, end: int) -> str | None:
    if start == end:
        return None
    fields = read_fields(data, start, end)
    nanos = signed(_number(fields, 2), 32)
    # truncated toward zero, as Go's Duration.Truncate; time.Unix carries what is beyond a second
    whole = int(nanos / 1000)
    seconds, micros = divmod(_checked_seconds(fields) * 1_000_000 + whole, 1_000_000)
    return None if seconds == _ZERO_TIME and not micros else f"{_rfc3339(seconds)}.{micros:06d}Z"


_TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9})\d*)?(Z|[+-]\d\d:\d\d)")


@lru_cache(maxsize=4096)
def _parsed_time(value: str) -> tuple[int, int]:
    found = _TIME.fullmatch(value)
    if found is None:
        raise ProtobufError(f"{value!r} is no RFC 3339 time")
    year, month, day, hour, minute, second = (int(found[group]) for group in range(1, 7))
    try:
        moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError as error:
        raise ProtobufError(f"{value!r} is no RFC 3339 time: {error}") from None
    seconds = (moment - _EPOCH).days * 86_400 + (moment - _EPOCH).seconds
    zone = found[8]
    if zone != "Z":
        offset = int(zone[1:3]) * 3600 + int(zone[4:6]) * 60
        seconds += -offset if zone[0] == "+" else offset
    return seconds, int((found[7] or "0").ljust(9, "0"))


def write_time(value: Any) -> bytes:
    return _written_time(_string(value, "a time"))


@lru_cache(maxsize=4096)
def _written_time(value: str) -> bytes:
    seconds, _ = _parsed_time(value)
    return b"" if seconds == _ZERO_TIME else b"\x08" + varint(seconds) + b"\x10\x00"


def write_micro_time(value: Any) -> bytes:
    seconds, nanos = _parsed_time(_string(value, "a time"))
    return b"" if seconds == _ZERO_TIME and not nanos else b"\x08" + varint(seconds) + b"\x10" + varint(nanos)


def _string(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise ProtobufError(f"{value!r} is not {what}")
    return value


def read_quantity(data: bytes, start: int, end: int) -> str:
    """Return a quantity in canonical form: Go's types parse a quantity at once, whatever its form."""
    try:
        return canonical(text(_bytes(read_fields(data, start, end), 1)) or "0")
    except QuantityError as error:
        raise ProtobufError(str(error)) from None


def write_quantity(value: Any) -> bytes:
    encoded = str(value).encode()
    return b"\x0a" + varint(len(encoded)) + encoded


def read_int_or_string(data: bytes, start: int, end: int) -> int | str:
    fields = read_fields(data, start, end)
    kind = _number(fields, 1)
    if kind == 0:
        return signed(_number(fields, 2), 32)
    if kind == 1:
        return text(_bytes(fields, 3))
    raise ProtobufError("impossible IntOrString.Type")


def write_int_or_string(value: Any) -> bytes:
    if isinstance(value, str):
        encoded = value.encode()
        return b"\x08\x01\x10\x00\x1a" + varint(len(encoded)) + encoded
    if not isinstance(value, int):
        raise ProtobufError(f"{value!r} is neither a number nor a string")
    return b"\x08\x00\x10" + varint(value) + b"\x1a\x00"


def read_duration(data: bytes, start: int, end: int) -> str:
    return go_duration(signed(_number(read_fields(data, start, end), 1), 64))


def write_duration(value: Any) -> bytes:
    source = _string(value, "a duration")
    try:
        return b"\x08" + varint(nanoseconds(source))
    except DurationError:
        raise ProtobufError(f"{source!r} is no duration") from None


def read_embedded(data: bytes, start: int, end: int) -> Any:
    """Return the content of RawExtension, FieldsV1 and the JSON of CRD schemas: JSON text in field 1; None
    if absent.
    """
    fields = read_fields(data, start, end)
    raw = _bytes(fields, 1)
    if not raw:
        return None
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        raise ProtobufError("json: error in embedded JSON") from None


def write_embedded(value: Any) -> bytes:
    raw = orjson.dumps(value)
    return b"\x0a" + varint(len(raw)) + raw


def base64_of(data: bytes) -> str:
    return base64.b64encode(data).decode()


def bytes_of(value: Any) -> bytes:
    try:
        return base64.b64decode(_string(value, "base64"), validate=True)
    except ValueError:
        raise ProtobufError("illegal base64 data") from None


Reader = Callable[[bytes, int, int], Any]
Writer = Callable[[Any], bytes]

READERS: dict[str, Reader] = {
    "Time": read_time,
    "MicroTime": read_micro_time,
    "Duration": read_duration,
    "Quantity": read_quantity,
    "IntOrString": read_int_or_string,
    "RawExtension": read_embedded,
    "FieldsV1": read_embedded,
    "apiextensions/v1.JSON": read_embedded,
}
WRITERS: dict[str, Writer] = {
    "Time": write_time,
    "MicroTime": write_micro_time,
    "Duration": write_duration,
    "Quantity": write_quantity,
    "IntOrString": write_int_or_string,
    "RawExtension": write_embedded,
    "FieldsV1": write_embedded,
    "apiextensions/v1.JSON": write_embedded,
}
# What a value that was never set is in JSON, and in protobuf where the Go field is no pointer.
ZEROS: dict[str, tuple[Any, bytes]] = {
    "Time": (None, b""),
    "MicroTime": (None, b""),
    "Duration": ("0s", b"\x08\x00"),
    "Quantity": ("0", b"\x0a\x010"),
    "IntOrString": (0, b"\x08\x00\x10\x00\x1a\x00"),
    "RawExtension": (None, b""),
    "FieldsV1": (None, b""),
    "apiextensions/v1.JSON": (None, b""),
}


def go_number(value: float) -> float | int:
    """Return a float as Go prints it: without a fraction if it is a whole number."""
    if value != value or value in (float("inf"), float("-inf")):
        raise ProtobufError("json: unsupported value: NaN or infinity")
    return int(value) if value.is_integer() and abs(value) < 1e21 else value
