"""The error messages for a text that is not JSON, in the words of Go's encoding/json (`scanner.go`), which clients
print.
"""

from __future__ import annotations

import re

MAX_DEPTH = 10_000

_BLANK = re.compile(rb"[ \t\r\n]*")
_NUMBER_START = frozenset(b"-0123456789")
_PLAIN = re.compile(rb'[^"\\\x00-\x1f]*')
_DIGITS = re.compile(rb"[0-9]*")
_LITERALS = {ord("t"): b"true", ord("f"): b"false", ord("n"): b"null"}
_HEX = frozenset(b"0123456789abcdefABCDEF")

_END = "unexpected end of JSON input"


class _Wrong(Exception):
    """The error of a text that is not JSON."""


def problem(data: bytes) -> str | None:
    """Return Go's message for the text; None if the text is JSON."""
    try:
        _Scanner(data).document()
    except _Wrong as wrong:
        return str(wrong)
    return None


def json_type(value: object) -> str:
    """Return Go's name for the type of a value in JSON."""
    return {bool: "bool", int: "number", float: "number", str: "string", list: "array"}.get(type(value), "object")


def character(byte: int) -> str:
    """Return a character as Go quotes it."""
    if byte == ord("'"):
        return r"'\''"
    if byte == ord('"'):
        return "'\"'"
    text = chr(byte)
    if byte == ord("\\"):
        text = r"\\"
    elif short := {7: r"\a", 8: r"\b", 9: r"\t", 10: r"\n", 11: r"\v", 12: r"\f", 13: r"\r"}.get(byte):
        text = short
    elif byte < 0x20 or byte == 0x7F:
        text = f"\\x{byte:02x}"
    elif not text.isprintable():
        text = f"\\u{byte:04x}"
    return f"'{text}'"


class _Scanner:
    """The reader of one document. It keeps its own stack: texts may be nested deeper than Python's calls."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def document(self) -> None:
        closers: list[int] = []  # of the objects and arrays that are open
        while True:
            opened = self._value(closers)
            if opened:
                continue
            while True:  # a value has ended: what may follow?
                if not closers:
                    if self._peek() is not None:
                        raise self._wrong("after top-level value")
                    return
                in_object = closers[-1] == ord("}")
                found = self._need()
                if found == closers[-1]:
                    self._at += 1
                    closers.pop()
                    continue
                if found != ord(","):
                    raise self._wrong("after object key:value pair" if in_object else "after array element")
                self._at += 1
                if in_object:
                    self._need()
                    self._key()
                break

    def _value(self, closers: list[int]) -> bool:
        """Read a scalar or an empty container. Of a container with members read only the beginning, and return True."""
        first = self._need()
        if first in b"{[":
            if len(closers) >= MAX_DEPTH:
                raise self._wrong("exceeded max depth")
            closer = ord("}") if first == ord("{") else ord("]")
            self._at += 1
            if self._need() == closer:
                self._at += 1
                return False
            closers.append(closer)
            if closer == ord("}"):
                self._key()
            return True
        if first == ord('"'):
            self._string()
        elif first in _LITERALS:
            self._literal(_LITERALS[first])
        elif first in _NUMBER_START:
            self._number()
        else:
            raise self._wrong("looking for beginning of value")
        return False

    def _key(self) -> None:
        if self._need() != ord('"'):
            raise self._wrong("looking for beginning of object key string")
        self._string()
        if self._need() != ord(":"):
            raise self._wrong("after object key")
        self._at += 1

    def _string(self) -> None:
        self._at += 1
        while True:
            self._skip(_PLAIN)
            found = self._next()
            if found == ord('"'):
                return
            if found != ord("\\"):
                raise self._wrong("in string literal", back=1)
            escape = self._next()
            if escape == ord("u"):
                for _ in range(4):
                    if self._next() not in _HEX:
                        raise self._wrong("in \\u hexadecimal character escape", back=1)
            elif escape not in b'bfnrt\\/"':
                raise self._wrong("in string escape code", back=1)

    def _literal(self, word: bytes) -> None:
        for index, wanted in enumerate(word):
            if self._next() != wanted:
                raise self._wrong(f"in literal {word.decode()} (expecting {character(word[index])})", back=1)

    def _number(self) -> None:
        if self._data[self._at] == ord("-"):
            self._at += 1
            self._digit("in numeric literal")
            self._at -= 1
        if self._data[self._at] == ord("0"):
            self._at += 1
        else:
            self._skip(_DIGITS)
        if self._data[self._at : self._at + 1] == b".":
            self._at += 1
            self._digit("after decimal point in numeric literal")
            self._skip(_DIGITS)
        if self._data[self._at : self._at + 1] in (b"e", b"E"):
            self._at += 1
            if self._data[self._at : self._at + 1] in (b"+", b"-"):
                self._at += 1
            self._digit("in exponent of numeric literal")
            self._skip(_DIGITS)

    def _digit(self, context: str) -> None:
        if not ord("0") <= self._next() <= ord("9"):
            raise self._wrong(context, back=1)

    def _peek(self) -> int | None:
        self._skip(_BLANK)
        return self._data[self._at] if self._at < len(self._data) else None

    def _need(self) -> int:
        found = self._peek()
        if found is None:
            raise _Wrong(_END)
        return found

    def _next(self) -> int:
        if self._at >= len(self._data):
            raise _Wrong(_END)
        self._at += 1
        return self._data[self._at - 1]

    def _skip(self, pattern: re.Pattern[bytes]) -> None:
        match = pattern.match(self._data, self._at)
        assert match is not None
        self._at = match.end()

    def _wrong(self, context: str, back: int = 0) -> _Wrong:
        return _Wrong(f"invalid character {character(self._data[self._at - back])} {context}")
