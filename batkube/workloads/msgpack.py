"""MessagePack, as far as traces have it: https://github.com/msgpack/msgpack/blob/master/spec.md."""

import struct
from collections.abc import Hashable
from typing import Any

DEEPEST = 200
_NUMBERS = {
    0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q", 0xD0: ">b", 0xD1: ">h", 0xD2: ">i",
    0xD3: ">q",
}  # fmt: skip
_TEXTS = {0xD9: ">B", 0xDA: ">H", 0xDB: ">I"}
_BYTES = {0xC4: ">B", 0xC5: ">H", 0xC6: ">I"}
_ARRAYS = {0xDC: ">H", 0xDD: ">I"}
_MAPS = {0xDE: ">H", 0xDF: ">I"}
_WORDS = {0xC0: None, 0xC2: False, 0xC3: True}


def decoded(data: bytes) -> Any:
    """Return the one value that the bytes hold. Arrays are tuples, so that they may be keys. Raises ValueError."""
    decoder = _Decoder(data)
    value = decoder.value(0)
    if decoder.place != len(data):
        raise ValueError(f"byte {decoder.place}: expected the end")
    return value


class _Decoder:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self.place = 0

    def value(self, depth: int) -> Any:
        """Return the value that begins here, and go behind it."""
        if depth > DEEPEST:
            raise ValueError(f"byte {self.place}: is nested too deeply")
        kind = self._take(1)[0]
        if kind < 0x80:
            return kind
        if kind >= 0xE0:
            return kind - 0x100
        if kind < 0x90:
            return self._map(kind & 0x0F, depth)
        if kind < 0xA0:
            return self._array(kind & 0x0F, depth)
        if kind < 0xC0:
            return self._text(kind & 0x1F)
        if kind in _WORDS:
            return _WORDS[kind]
        if kind in _NUMBERS:
            return self._number(_NUMBERS[kind])
        if kind in _TEXTS:
            return self._text(self._number(_TEXTS[kind]))
        if kind in _BYTES:
            return self._take(self._number(_BYTES[kind]))
        if kind in _ARRAYS:
            return self._array(self._number(_ARRAYS[kind]), depth)
        if kind in _MAPS:
            return self._map(self._number(_MAPS[kind]), depth)
        raise ValueError(f"byte {self.place - 1}: {kind:#04x} begins nothing that is known here")

    def _take(self, count: int) -> bytes:
        part = self._data[self.place : self.place + count]
        if len(part) < count:
            raise ValueError(f"byte {self.place}: ends in the middle")
        self.place += count
        return part

    def _number(self, form: str) -> Any:
        return struct.unpack(form, self._take(struct.calcsize(form)))[0]

    def _text(self, length: int) -> str:
        begin = self.place
        try:
            return self._take(length).decode()
        except UnicodeDecodeError:
            raise ValueError(f"byte {begin}: a text that is not UTF-8") from None

    def _array(self, count: int, depth: int) -> tuple[Any, ...]:
        self._check(count)
        return tuple(self.value(depth + 1) for _ in range(count))

    def _map(self, count: int, depth: int) -> dict[Any, Any]:
        self._check(count)
        found: dict[Any, Any] = {}
        for _ in range(count):
            begin = self.place
            key = self.value(depth + 1)
            try:
                hash(key)
            except TypeError:
                raise ValueError(f"byte {begin}: a key that is a map") from None
            assert isinstance(key, Hashable)
            found[key] = self.value(depth + 1)
        return found

    def _check(self, count: int) -> None:
        """Refuse more members than there are bytes left for."""
        if count > len(self._data) - self.place:
            raise ValueError(f"byte {self.place}: ends in the middle")
