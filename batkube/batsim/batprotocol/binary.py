"""The binary form of batprotocol: flatbuffers, read and written by the schema's table.

https://flatbuffers.dev/internals/ describes the bytes.
"""

import struct
from typing import Any

from flatbuffers import number_types
from flatbuffers.builder import Builder
from flatbuffers.table import Table

from batkube.batsim.batprotocol.document import MAX_DEPTH, ROOT, Document, complete
from batkube.batsim.batprotocol.schema import ENUMS, TABLES, UNIONS, Field
from batkube.batsim.errors import ProtocolError

_OFFSET = 4
_SCALARS = {
    "bool": number_types.BoolFlags,
    "uint32": number_types.Uint32Flags,
    "uint64": number_types.Uint64Flags,
    "double": number_types.Float64Flags,
}
_NUMBER = number_types.Uint8Flags
"""The type of enumerations and of the types of unions."""


def read_binary(content: bytes, *, strict: bool = False) -> Document:
    """Return the message in ``content``. Raises ProtocolError."""
    return complete(_Reader(content).message(), strict=strict)


class _Reader:
    """Reads one message. Each value is paid for, so that a few bytes cannot stand for endless content."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._budget = 64 + 16 * len(content)

    def message(self) -> Document:
        """Read the message. Raises ProtocolError if the bytes point out of it, or are no text where one is expected."""
        try:
            root = Table(self._content, 0)
            return self._table(Table(self._content, root.Indirect(0)), ROOT, MAX_DEPTH)
        except (struct.error, TypeError, IndexError, OverflowError, UnicodeDecodeError) as error:
            raise ProtocolError(f"not a message: no batprotocol in {len(self._content)} bytes: {error}") from None

    def _table(self, table: Any, name: str, depth: int) -> Document:
        self._pay(1)
        if depth == 0:
            raise ProtocolError(f"bad message: {name}: has more than {MAX_DEPTH} tables in one another")
        content: Document = {}
        slot = 4
        for field in TABLES[name]:
            if field.type in UNIONS:
                self._union(table, slot, field, content, depth)
                slot += 4
                continue
            if offset := table.Offset(slot):
                content[field.name] = self._member(table, table.Pos + offset, field, depth)
            slot += 2
        return content

    def _union(self, table: Any, slot: int, field: Field, content: Document, depth: int) -> None:
        offset = table.Offset(slot)
        number = table.Get(_NUMBER, table.Pos + offset) if offset else 0
        if not number:
            return
        names = UNIONS[field.type]
        if number > len(names):
            # An event of a later version is let pass (document.py); for another union it is an error there.
            content[f"{field.name}_type"] = f"{field.type}{number}"
            return
        content[f"{field.name}_type"] = names[number - 1]
        if offset := table.Offset(slot + 2):
            place = table.Pos + offset
            inner = Table(self._content, place + table.Get(number_types.UOffsetTFlags, place))
            content[field.name] = self._table(inner, names[number - 1], depth - 1)

    def _member(self, table: Any, place: int, field: Field, depth: int) -> Any:
        if not field.many:
            return self._single(table, place, field.type, depth)
        start = place + table.Get(number_types.UOffsetTFlags, place)
        count = table.Get(number_types.UOffsetTFlags, start)
        self._pay(count)
        width = _SCALARS[field.type].bytewidth if field.type in _SCALARS else _OFFSET
        first = start + _OFFSET
        return [self._single(table, first + index * width, field.type, depth) for index in range(count)]

    def _single(self, table: Any, place: int, kind: str, depth: int) -> Any:
        if kind in _SCALARS:
            return table.Get(_SCALARS[kind], place)
        if kind in ENUMS:
            number = table.Get(_NUMBER, place)
            return ENUMS[kind][number] if number < len(ENUMS[kind]) else number
        target = place + table.Get(number_types.UOffsetTFlags, place)
        if kind in TABLES:
            return self._table(Table(self._content, target), kind, depth - 1)
        length = table.Get(number_types.UOffsetTFlags, target)
        text = self._content[target + _OFFSET : target + _OFFSET + length]
        if len(text) < length:
            raise IndexError("a text goes beyond the end")
        self._pay(length)
        return text.decode()

    def _pay(self, price: int) -> None:
        self._budget -= price
        if self._budget < 0:
            raise ProtocolError(f"not a message: {len(self._content)} bytes claim to hold far more than that")


def write_binary(document: Document) -> bytes:
    """Return ``document`` in the binary form. Raises ProtocolError if the schema does not allow it."""
    builder = Builder(1024)
    builder.Finish(_write_table(builder, complete(document, strict=True), ROOT))
    return bytes(builder.Output())


def _write_table(builder: Any, content: Document, name: str) -> int:
    # The targets of a table are written before it.
    targets = {
        field.name: _write_target(builder, content, field)
        for field in TABLES[name]
        if content.get(field.name) is not None and (field.many or field.type not in _SCALARS | ENUMS)
    }
    builder.StartObject(sum(2 if field.type in UNIONS else 1 for field in TABLES[name]))
    slot = 0
    for field in TABLES[name]:
        if field.type in UNIONS:
            if field.name in targets:
                number = UNIONS[field.type].index(content[f"{field.name}_type"]) + 1
                builder.PrependUint8Slot(slot, number, 0)
            slot += 1
        if field.name in targets:
            builder.PrependUOffsetTRelativeSlot(slot, targets[field.name], 0)
        elif content.get(field.name) is not None:
            _write_scalar(builder, slot, field, content[field.name])
        slot += 1
    return int(builder.EndObject())


def _write_scalar(builder: Any, slot: int, field: Field, value: Any) -> None:
    if field.type in ENUMS:
        names = ENUMS[field.type]
        builder.PrependUint8Slot(slot, names.index(value), names.index(str(field.default)))
    else:
        builder.PrependSlot(_SCALARS[field.type], slot, value, field.default)


def _write_target(builder: Any, content: Document, field: Field) -> int:
    value = content[field.name]
    if field.type in UNIONS:
        return _write_table(builder, value, content[f"{field.name}_type"])
    if not field.many:
        return _write_one(builder, field.type, value)
    if field.type in _SCALARS:
        flags = _SCALARS[field.type]
        builder.StartVector(flags.bytewidth, len(value), flags.bytewidth)
        for item in reversed(value):
            builder.Prepend(flags, item)
    else:
        offsets = [_write_one(builder, field.type, item) for item in value]
        builder.StartVector(_OFFSET, len(value), _OFFSET)
        for offset in reversed(offsets):
            builder.PrependUOffsetTRelative(offset)
    return int(builder.EndVector())


def _write_one(builder: Any, kind: str, value: Any) -> int:
    return int(builder.CreateString(value)) if kind == "string" else _write_table(builder, value, kind)
