"""The way from dictionaries to protobuf, byte for byte as Go's generated code writes it."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any

import orjson

from ...schema.api_types import Field, fields_of, has_type, is_string_list, type_of
from . import values
from .wire import BYTES, FIXED64, MAGIC, SMALL, VARINT, ProtobufError, UnknownKind, varint

JSON = dict[str, Any]

_REMEMBERED = 4096  # bytes in JSON
# What many pods have alike, for they come from one template, or a pod's versions: written once.
_ALIKE = frozenset(
    f"core/v1.{name}"
    for name in (
        "Affinity",
        "Container",
        "PodSecurityContext",
        "PodSpec",
        "Toleration",
        "TopologySpreadConstraint",
        "Volume",
    )
)
_SCHEMA = "apiextensions/v1.JSONSchemaProps"

# Writes a value that is there, its tag included.
Write = Callable[[Any], bytes]


def encode(obj: JSON) -> bytes:
    """Return a whole body: the object, which has a kind and an apiVersion, in its envelope.

    Raise UnknownKind, or ProtobufError if a field holds a value that its type cannot have.
    """
    api_version, kind = obj.get("apiVersion", ""), obj.get("kind", "")
    return enveloped(api_version, kind, encode_object(api_version, kind, obj))


def encode_object(api_version: str, kind: str, obj: JSON) -> bytes:
    """Return the bytes of the object alone, as in a list. Fields that the type does not have are left out."""
    type_name = type_of(api_version, kind)
    if type_name is None:
        raise UnknownKind(api_version, kind)
    return _write_message(_plan(type_name), obj)


def encode_type(type_name: str, value: JSON) -> bytes:
    """Return the bytes of a value of that type. Fields that the type does not have are left out."""
    return _write_message(_plan(type_name), value)


def enveloped(api_version: str, kind: str, raw: bytes) -> bytes:
    """Return the body that carries an object's bytes (`runtime.Unknown` after the magic number)."""
    names = api_version.encode(), kind.encode()
    type_meta = b"".join((b"\x0a", varint(len(names[0])), names[0], b"\x12", varint(len(names[1])), names[1]))
    parts = (MAGIC, b"\x0a", varint(len(type_meta)), type_meta, b"\x12", varint(len(raw)), raw, b"\x1a\x00\x22\x00")
    return b"".join(parts)


def encode_list(api_version: str, kind: str, metadata: JSON, items: Sequence[bytes]) -> bytes:
    """Return a whole body with a list: `kind` is that of the list (PodList), `items` are results of encode_object."""
    header = _write_message(_plan("meta/v1.ListMeta"), metadata)
    parts = [b"\x0a", varint(len(header)), header]
    for item in items:
        parts += (b"\x12", varint(len(item)), item)
    return enveloped(api_version, kind, b"".join(parts))


def encode_watch_event(event: str, body: bytes) -> bytes:
    """Return one event of a stream of type `application/vnd.kubernetes.protobuf;stream=watch`.

    It begins with its length in four bytes. A WatchEvent without an envelope follows, whose object is a whole body.
    """
    name = event.encode()
    raw = b"\x0a" + varint(len(body)) + body
    message = b"".join((b"\x0a", varint(len(name)), name, b"\x12", varint(len(raw)), raw))
    return struct.pack(">I", len(message)) + message


class _Plan:
    """The plan for writing one type: its fields by name. It is made when first used, since types contain each other."""

    __slots__ = ("absent", "filled", "inline", "places", "type_name")

    def __init__(self, type_name: str) -> None:
        self.type_name = type_name
        self.filled = False
        # What is written where nothing is set: a piece for each field, in the order of their numbers.
        self.absent: list[bytes] = []
        self.places: dict[str, tuple[int, Write]] = {}  # by name in JSON: which piece, and how to write it
        self.inline: list[tuple[int, Write]] = []  # of fields whose own fields stand among those of this type

    def fill(self) -> None:
        self.filled = True
        for place, field in enumerate(sorted(fields_of(self.type_name), key=lambda field: field.number)):
            self.absent.append(_absent(field))
            if field.inline:
                self.inline.append((place, _writer(field)))
            else:
                self.places[field.name] = (place, _writer(field))


@cache
def _plan(type_name: str) -> _Plan:
    return _Plan(type_name)


def _written(plan: _Plan, value: Any) -> bytes:
    """Return a value with its length. The bytes of equal values are reused."""
    text = orjson.dumps(value)
    return _remembered(plan, text) if len(text) <= _REMEMBERED else _delimited(b"", _write_message(plan, value))


@lru_cache(maxsize=4096)
def _remembered(plan: _Plan, text: bytes) -> bytes:
    return _delimited(b"", _write_message(plan, orjson.loads(text)))


def _write_message(plan: _Plan, obj: Any) -> bytes:
    if not plan.filled:
        plan.fill()
    if not isinstance(obj, dict):
        raise ProtobufError(f"{plan.type_name} cannot be {obj!r}")
    pieces = plan.absent.copy()
    find = plan.places.get
    for name, value in obj.items():
        found = find(name)
        if found is None or value is None:
            continue
        place, write = found
        try:
            pieces[place] = write(value)
        except (AttributeError, TypeError, struct.error) as error:
            raise ProtobufError(f"field {name} of {plan.type_name} cannot be {value!r}") from error
    for place, write in plan.inline:
        pieces[place] = write(obj)
    return b"".join(pieces)


def _absent(field: Field) -> bytes:
    """Return the bytes that Go writes for an absent field: its zero value, unless it is a pointer, a list or a map."""
    if field.pointer or field.shape or field.type == "bytes" or is_string_list(field.type):
        return b""
    tag = _tag(field)
    kind = field.type
    if kind in ("int32", "int64", "bool"):
        return tag + b"\x00"
    if kind == "double":
        return tag + bytes(8)
    if has_type(kind):
        return _delimited(tag, _write_message(_plan(kind), {}))
    if kind in values.ZEROS:
        return _delimited(tag, values.ZEROS[kind][1])
    return tag + b"\x00"


def _tag(field: Field) -> bytes:
    return varint(field.number << 3 | _wire_type(field.type))


def _wire_type(kind: str) -> int:
    if kind in ("int32", "int64", "bool"):
        return VARINT
    return FIXED64 if kind == "double" else BYTES


def _delimited(tag: bytes, content: bytes) -> bytes:
    size = len(content)
    return tag + (SMALL[size] if size < 0x80 else varint(size)) + content


def _writer(field: Field) -> Write:
    tag = _tag(field)
    if field.shape == "map":
        write_value = _value_writer(b"\x12", field.type)
        if field.type == "bytes":  # the one type whose empty values Go leaves out of an entry
            return _map_writer(tag, lambda value: write_value(value) if value else b"")
        return _map_writer(tag, write_value)
    write = _value_writer(tag, field.type)
    if field.shape == "list":
        return lambda items: b"".join([write(item) for item in items])
    return write


def _map_writer(tag: bytes, write: Write) -> Write:
    def write_map(entries: JSON) -> bytes:
        parts: list[bytes] = []
        for key, value in sorted(entries.items()):
            encoded = key.encode()
            entry = b"\x0a" + varint(len(encoded)) + encoded + write(value)
            parts += (tag, varint(len(entry)), entry)
        return b"".join(parts)

    return write_map


def _string_writer(tag: bytes) -> Write:
    def write_string(value: str) -> bytes:  # _delimited, in one call: no type has more values
        content = value.encode()
        size = len(content)
        return tag + (SMALL[size] if size < 0x80 else varint(size)) + content

    return write_string


def _value_writer(tag: bytes, kind: str) -> Write:
    if kind == "string":
        return _string_writer(tag)
    if kind in ("int32", "int64"):
        return lambda value: tag + varint(value)
    if kind == "bool":
        return lambda value: tag + (b"\x01" if value else b"\x00")
    if kind == "bytes":
        return lambda value: _delimited(tag, values.bytes_of(value))
    if kind == "double":
        return lambda value: tag + struct.pack("<d", value)
    if is_string_list(kind):
        item = _value_writer(b"\x0a", "string")
        return lambda items: _delimited(tag, b"".join(map(item, items)))
    if has_type(kind):
        plan = _plan(kind)
        if kind in _ALIKE:
            return lambda value: tag + _written(plan, value)
        return lambda value: _delimited(tag, _write_message(plan, value))
    write = values.WRITERS.get(kind) or _UNIONS[kind]
    return lambda value: _delimited(tag, write(value))


# The unions in CRD schemas (apiextensions/v1 marshal.go)


def _schema_or_bool(value: Any) -> bytes:
    if isinstance(value, bool):
        return b"\x08\x01" if value else b"\x08\x00"
    return b"\x08\x01" + _schema(b"\x12", value)


def _schema_or_array(value: Any) -> bytes:
    if isinstance(value, list):
        return b"".join(_schema(b"\x12", item) for item in value)
    return _schema(b"\x0a", value)


def _schema_or_strings(value: Any) -> bytes:
    if isinstance(value, list):
        item = _value_writer(b"\x12", "string")
        return b"".join(map(item, value))
    return _schema(b"\x0a", value)


def _schema(tag: bytes, value: Any) -> bytes:
    return _delimited(tag, _write_message(_plan(_SCHEMA), value))


_UNIONS: dict[str, Write] = {
    "apiextensions/v1.JSONSchemaPropsOrBool": _schema_or_bool,
    "apiextensions/v1.JSONSchemaPropsOrArray": _schema_or_array,
    "apiextensions/v1.JSONSchemaPropsOrStringArray": _schema_or_strings,
}
