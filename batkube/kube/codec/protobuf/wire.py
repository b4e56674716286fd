"""The protobuf wire format: varints, tags, lengths."""

from __future__ import annotations

MAGIC = b"k8s\x00"

VARINT, FIXED64, BYTES, START_GROUP, END_GROUP, FIXED32 = range(6)

_MAX_VARINT = 10  # bytes


class ProtobufError(ValueError):
    """A body that is not an object in Kubernetes' protobuf encoding. The message says why in one line."""


class NotProtobuf(ProtobufError):
    """A body that does not begin with the magic number of such bodies."""


class UnknownKind(ProtobufError):
    """A body of a kind that is not built in. `api_version` and `kind` are those in the body."""

    def __init__(self, api_version: str, kind: str) -> None:
        super().__init__(f'no kind "{kind}" is registered for version "{api_version}"')
        self.api_version = api_version
        self.kind = kind


def truncated() -> ProtobufError:
    return ProtobufError("unexpected EOF")


def read_varint(data: bytes, position: int, end: int) -> tuple[int, int]:
    """Return a varint at `position` and the position after it."""
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
    """Return the beginning and the end of the content of a length-delimited value at `position`."""
    length, position = read_varint(data, position, end)
    stop = position + length
    if stop > end:
        raise truncated()
    return position, stop


def skip(data: bytes, position: int, end: int, tag: int) -> int:
    """Return the position after the value of an unknown field, whose tag has been read.

    Groups are not part of proto3, and no Kubernetes client sends them. They are refused.
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
    """Return a varint as the two's complement number of so many bits."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def varint(value: int) -> bytes:
    """Return a number as a varint. Negative numbers take 64 bits."""
    if value < 0:
        value &= 0xFFFF_FFFF_FFFF_FFFF
    if value < 0x80:
        return SMALL[value]
    if value < 0x4000:  # most lengths, which is what most numbers are
        return bytes((value & 0x7F | 0x80, value >> 7))
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


SMALL = [bytes((value,)) for value in range(0x80)]  # the varints of one byte
