"""The protobuf wire format: varints, tags, lengths."""

from __future__ import annotations

MAGIC = b"k8s\x00"

VARINT, FIXED64, BYTES, START_GROUP, END_GROUP, FIXED32 = range(6)

_MAX_VARINT = 10  # bytes


class ProtobufError(ValueError):
    """A body that is no object in Kubernetes' protobuf encoding; the text says why in one line."""


class NotProtobuf(ProtobufError):
    """The body does not begin as such bodies do."""


class UnknownKind(ProtobufError):
    """The body says it is of a kind that is not built in. `api_version` and `kind` are what it says."""

    def __init__(self, api_version: str, kind: str) -> None:
        super().__init__(f'no kind "{kind}" is registered for version "{api_version}"')
        self.api_version = api_version
        self.kind = kind


def truncated() -> ProtobufError:
    return ProtobufError("unexpected EOF")


def read_varint(data: bytes, position: int, end: int) -> tuple[int, int]:
    """A varint at `position` and the position behind it."""
    result = shift = 0
    limit = position + _MAX_VARINT
    while position < end:
        byte = data[position]
        position += 1
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return result & 0xFFFF_FFFF_FFFF_FFFF, position
        shift += 7
        if position == limit:
            raise ProtobufError("proto: integer overflow")
    raise truncated()


def read_length(data: bytes, position: int, end: int) -> tuple[int, int]:
    """Of a length-delimited value at `position`: where its content begins and ends."""
    length, position = read_varint(data, position, end)
    stop = position + length
    if stop > end:
        raise truncated()
    return position, stop


def skip(data: bytes, position: int, end: int, tag: int) -> int:
    """The position behind the value of an unknown field, whose tag has been read. Groups are no part of proto3 and
    of no Kubernetes client; they are refused.
    """
    wire_type = tag & 7
    if tag >> 3 == 0:
        raise ProtobufError(f"proto: Unknown: illegal tag 0 (wire type {wire_type})")
    if wire_type == VARINT:
        return read_varint(data, position, end)[1]
    if wire_type == BYTES:
        return read_length(data, position, end)[1]
    if wire_type in (FIXED32, FIXED64):
        position += 8 if wire_type == FIXED64 else 4
        if position > end:
            raise truncated()
        return position
    raise ProtobufError(f"proto: illegal wireType {wire_type}")


def signed(value: int, bits: int) -> int:
    """A varint as the two's complement number of so many bits."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def varint(value: int) -> bytes:
    """A number as a varint; negative ones as 64 bits."""
    if value < 0:
        value &= 0xFFFF_FFFF_FFFF_FFFF
    if value < 0x80:
        return SMALL[value]
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


SMALL = [bytes((value,)) for value in range(0x80)]  # the varints of one byte
