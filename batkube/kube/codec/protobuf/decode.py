"""The way from protobuf to the dictionary that Go's encoding/json would make of the same object."""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import cache
from typing import Any

from ...schema.api_types import Field, fields_of, has_type, is_string_list, type_of
from . import values
from .wire import (
    BYTES,
    FIXED64,
    MAGIC,
    VARINT,
    NotProtobuf,
    ProtobufError,
    UnknownKind,
    read_length,
    read_varint,
    signed,
    skip,
    truncated,
)

JSON = dict[str, Any]

# What hostile bytes may ask for: two bytes can make an empty container, which is a hundred times as large here.
MAX_DEPTH = 150
MAX_MESSAGES = 200_000

_SCHEMA = "apiextensions/v1.JSONSchemaProps"


def decode(body: bytes) -> JSON:
    """Return the object in a body, with `kind` and `apiVersion` first.

    Fields that were not sent have Go's zero values: they are left out where the real server leaves them out, and empty
    elsewhere. Raise NotProtobuf, UnknownKind, or ProtobufError for all other errors.
    """
    if not body:
        raise NotProtobuf("empty data")
    if body[:4] != MAGIC:
        raise NotProtobuf("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")
    envelope = values.read_fields(body, 4, len(body))
    type_meta, raw = envelope.get(1, b""), envelope.get(2, b"")
    if not isinstance(type_meta, bytes) or not isinstance(raw, bytes):
        raise ProtobufError("proto: Unknown: wrong wireType")
    if envelope.get(3):
        raise ProtobufError("the object is encoded, which no server of this API supports")
    names = values.read_fields(type_meta, 0, len(type_meta))
    api_version, kind = (_name(names.get(number, b"")) for number in (1, 2))
    type_name = type_of(api_version, kind)
    if type_name is None:
        raise UnknownKind(api_version, kind)
    return {"kind": kind, "apiVersion": api_version, **decode_type(type_name, raw)}


def decode_type(type_name: str, raw: bytes) -> JSON:
    """Return the fields of an object of a type (`core/v1.Pod`) from its own bytes, without the envelope."""
    return _Decoder(raw).message(_plan(type_name), 0, len(raw), 0)


def zero(type_name: str) -> JSON:
    """Return the JSON of an empty object of the type."""
    return _finished(_plan(type_name), {})


def _name(value: object) -> str:
    if not isinstance(value, bytes):
        raise ProtobufError("proto: TypeMeta: wrong wireType")
    return values.text(value)


# How a field is read
(_STRING, _INT, _BOOL, _MESSAGE, _STRINGS, _MESSAGES, _SPECIAL, _SPECIALS, _MAP, _BYTES, _DOUBLE, _NUMBERS, _UNION) = (
    range(13)
)
# How a field that was not sent is shown
_ABSENT, _DEFAULT, _ZERO_MESSAGE, _INLINE = range(4)


class _Plan:
    """The plan for reading one type. It is made when first used, since types contain each other."""

    __slots__ = ("by_tag", "numbers", "order", "type_name")

    def __init__(self, type_name: str) -> None:
        self.type_name = type_name
        self.by_tag: dict[int, tuple[int, str, Any, bool]] = {}
        self.order: list[tuple[str, int, Any]] = []
        self.numbers: frozenset[int] = frozenset()

    def fill(self) -> None:
        fields = fields_of(self.type_name)
        for field in fields:
            operation, wire_type, argument = _operation(field)
            if operation == _SPECIAL:  # Time is left out where it is zero and the tag says omitzero
                keeps_empty = not field.omit_zero or field.pointer
            else:
                keeps_empty = not field.omit_empty or field.pointer
            key = field.name or f"<{field.number}>"
            self.by_tag[field.number << 3 | wire_type] = (operation, key, argument, keeps_empty)
            if operation == _NUMBERS:  # a list of numbers may be packed
                self.by_tag[field.number << 3 | BYTES] = (operation, key, argument, keeps_empty)
            self.order.append((key, *_when_absent(field)))
        self.numbers = frozenset(field.number for field in fields)


@cache
def _plan(type_name: str) -> _Plan:
    return _Plan(type_name)


def _operation(field: Field) -> tuple[int, int, Any]:
    kind = field.type
    if field.shape == "map":
        single = Field(2, "value", kind, "", False, False, False, False)
        return _MAP, BYTES, _operation(single)
    several = field.shape == "list"
    if kind == "string":
        return _STRINGS if several else _STRING, BYTES, None
    if kind in ("int32", "int64"):
        return _NUMBERS if several else _INT, VARINT, int(kind[3:])
    if kind == "bool":
        return _NUMBERS if several else _BOOL, VARINT, 0
    if kind == "bytes":
        return _BYTES, BYTES, None
    if kind == "double":
        return _DOUBLE, FIXED64, None
    if is_string_list(kind):
        return _UNION, BYTES, _Decoder.strings
    if has_type(kind):
        return _MESSAGES if several else _MESSAGE, BYTES, _plan(kind)
    if kind in values.READERS:
        return _SPECIALS if several else _SPECIAL, BYTES, values.READERS[kind]
    return _UNION, BYTES, _union_readers()[kind]


def _when_absent(field: Field) -> tuple[int, Any]:
    kind = field.type
    if field.inline:
        return _INLINE, _plan(kind)
    if field.pointer or field.shape or kind == "bytes" or is_string_list(kind):
        return (_ABSENT, None) if field.omit_empty else (_DEFAULT, None)
    if has_type(kind):
        return (_ABSENT, None) if field.omit_zero else (_ZERO_MESSAGE, _plan(kind))
    if kind in values.ZEROS:
        return (_ABSENT, None) if field.omit_zero else (_DEFAULT, values.ZEROS[kind][0])
    if field.omit_empty:
        return _ABSENT, None
    return _DEFAULT, {"string": "", "bool": False}.get(kind, 0)


def _finished(plan: _Plan, found: JSON) -> JSON:
    """Return the fields in the order of the struct, with the fields that are shown even if they were not sent."""
    if not plan.order:
        plan.fill()
    result: JSON = {}
    for name, mode, argument in plan.order:
        if name in found:
            if mode == _INLINE:
                result.update(found[name])
            else:
                result[name] = found[name]
        elif mode == _DEFAULT:
            result[name] = argument
        elif mode == _ZERO_MESSAGE:
            result[name] = _finished(argument, {})
        elif mode == _INLINE:
            result.update(_finished(argument, {}))
    return result


class _Decoder:
    """The reader of one body."""

    __slots__ = ("data", "messages")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.messages = 0

    def message(self, plan: _Plan, position: int, end: int, depth: int) -> JSON:
        self.messages += 1
        if self.messages > MAX_MESSAGES:
            raise ProtobufError(f"the object has more than {MAX_MESSAGES} parts")
        if depth > MAX_DEPTH:
            raise ProtobufError(f"the object is nested more than {MAX_DEPTH} levels deep")
        if not plan.order:
            plan.fill()
        data, by_tag = self.data, plan.by_tag
        found: JSON = {}
        while position < end:
            tag = data[position]
            position += 1
            if tag > 0x7F:
                if position < end and data[position] < 0x80:
                    tag = tag & 0x7F | data[position] << 7
                    position += 1
                else:
                    tag, position = read_varint(data, position - 1, end)
            entry = by_tag.get(tag)
            if entry is None:
                position = self._unknown(plan, position, end, tag)
                continue
            operation, name, argument, keeps_empty = entry
            if tag & 7 == BYTES:
                if position >= end:
                    raise truncated()
                length = data[position]
                if length > 0x7F:
                    position, stop = read_length(data, position, end)
                else:
                    position += 1
                    stop = position + length
                    if stop > end:
                        raise truncated()
                if operation == _STRING:
                    if length or keeps_empty:
                        found[name] = _text(data, position, stop)
                    else:
                        found.pop(name, None)
                elif operation == _MESSAGE:
                    found[name] = self.message(argument, position, stop, depth + 1)
                elif operation == _MESSAGES:
                    item = self.message(argument, position, stop, depth + 1)
                    if name in found:
                        found[name].append(item)
                    else:
                        found[name] = [item]
                elif operation == _MAP:
                    self._entry(found, name, argument, position, stop, depth)
                elif operation == _STRINGS:
                    self._count()
                    if name in found:
                        found[name].append(_text(data, position, stop))
                    else:
                        found[name] = [_text(data, position, stop)]
                elif operation == _SPECIAL:
                    value = argument(data, position, stop)
                    if value is not None or keeps_empty:
                        found[name] = value
                else:
                    self._seldom(found, entry, position, stop, depth)
                position = stop
            elif operation == _INT:
                if position < end and data[position] < 0x80:  # as most numbers are
                    value = data[position]
                    position += 1
                else:
                    value, position = read_varint(data, position, end)
                    value = signed(value, argument)
                if value or keeps_empty:
                    found[name] = value
                else:
                    found.pop(name, None)
            elif operation == _BOOL:
                value, position = read_varint(data, position, end)
                if value or keeps_empty:
                    found[name] = value != 0
                else:
                    found.pop(name, None)
            elif operation == _NUMBERS:
                self._count()
                value, position = read_varint(data, position, end)
                found.setdefault(name, []).append(signed(value, argument) if argument else value != 0)
            else:  # _DOUBLE
                if position + 8 > end:
                    raise truncated()
                found[name] = values.go_number(struct.unpack_from("<d", data, position)[0])
                position += 8
        return _finished(plan, found)

    def _unknown(self, plan: _Plan, position: int, end: int, tag: int) -> int:
        if tag >> 3 in plan.numbers:
            raise ProtobufError(f"proto: wrong wireType = {tag & 7} for field {tag >> 3} of {plan.type_name}")
        return skip(self.data, position, end, tag)

    def _count(self) -> None:
        self.messages += 1
        if self.messages > MAX_MESSAGES:
            raise ProtobufError(f"the object has more than {MAX_MESSAGES} parts")

    def _seldom(self, found: JSON, entry: tuple[int, str, Any, bool], start: int, stop: int, depth: int) -> None:
        operation, name, argument, keeps_empty = entry
        if operation == _BYTES:
            if stop > start or keeps_empty:
                found[name] = values.base64_of(self.data[start:stop])
        elif operation == _SPECIALS:
            self._count()
            found.setdefault(name, []).append(argument(self.data, start, stop))
        elif operation == _UNION:
            found[name] = argument(self, start, stop, depth)
        else:  # packed _NUMBERS
            numbers = found.setdefault(name, [])
            while start < stop:
                self._count()
                value, start = read_varint(self.data, start, stop)
                numbers.append(signed(value, argument) if argument else value != 0)

    def _entry(
        self, found: JSON, name: str, of_value: tuple[int, int, Any], position: int, end: int, depth: int
    ) -> None:
        """Read one entry of a map: a message of key and value."""
        self._count()
        data = self.data
        operation, _, argument = of_value
        key = ""
        start = stop = position
        short = data[position + 1] if position + 1 < end and data[position] == 0x0A else 0xFF
        if short < 0x80 and position + 2 + short <= end:  # a key of ordinary length, first as all clients send it
            position += 2 + short
            key = _text(data, position - short, position)
        while position < end:
            tag, position = read_varint(data, position, end)
            if tag == 0x0A:
                begin, position = read_length(data, position, end)
                key = _text(data, begin, position)
            elif tag == 0x12:
                start, stop = read_length(data, position, end)
                position = stop
            else:
                position = skip(data, position, end, tag)
        if operation == _STRING:
            value: Any = _text(data, start, stop)
        elif operation == _MESSAGE:
            value = self.message(argument, start, stop, depth + 1)
        elif operation == _SPECIAL:
            value = argument(data, start, stop)
        elif operation == _UNION:
            value = argument(self, start, stop, depth)
        else:
            value = values.base64_of(data[start:stop])
        entries = found.get(name)
        if entries is None:
            entries = found[name] = {}
        entries[key] = value

    def strings(self, start: int, stop: int, depth: int) -> list[str]:
        """Return a list of strings that is a message of its own, such as authentication/v1 ExtraValue."""
        return [values.text(self.data[begin:end]) for begin, end in self._parts(start, stop, 1)]

    # The unions in CRD schemas (apiextensions/v1 marshal.go)

    def schema_or_bool(self, start: int, stop: int, depth: int) -> Any:
        fields = values.read_fields(self.data, start, stop)
        schema = self._schema(start, stop, depth, 2)
        return schema if schema is not None else fields.get(1, 0) not in (0, b"")

    def schema_or_array(self, start: int, stop: int, depth: int) -> Any:
        schemas = self._schemas(start, stop, depth, 2)
        return schemas or self._schema(start, stop, depth, 1)

    def schema_or_strings(self, start: int, stop: int, depth: int) -> Any:
        property_names = [values.text(self.data[begin:end]) for begin, end in self._parts(start, stop, 2)]
        return property_names or self._schema(start, stop, depth, 1)

    def _schema(self, start: int, stop: int, depth: int, number: int) -> JSON | None:
        schemas = self._schemas(start, stop, depth, number)
        return schemas[-1] if schemas else None

    def _schemas(self, start: int, stop: int, depth: int, number: int) -> list[JSON]:
        plan = _plan(_SCHEMA)
        return [self.message(plan, begin, end, depth + 1) for begin, end in self._parts(start, stop, number)]

    def _parts(self, position: int, end: int, number: int) -> list[tuple[int, int]]:
        """Return the beginning and the end of each value of a field."""
        parts = []
        while position < end:
            tag, position = read_varint(self.data, position, end)
            if tag == number << 3 | BYTES:
                begin, position = read_length(self.data, position, end)
                parts.append((begin, position))
            else:
                position = skip(self.data, position, end, tag)
        return parts


def _union_readers() -> dict[str, Callable[[_Decoder, int, int, int], Any]]:
    return {
        "apiextensions/v1.JSONSchemaPropsOrBool": _Decoder.schema_or_bool,
        "apiextensions/v1.JSONSchemaPropsOrArray": _Decoder.schema_or_array,
        "apiextensions/v1.JSONSchemaPropsOrStringArray": _Decoder.schema_or_strings,
    }


def _text(data: bytes, start: int, stop: int) -> str:
    try:
        return str(data[start:stop], "utf-8")
    except UnicodeDecodeError:
        return data[start:stop].decode(errors="replace")
