"""The spellings of numbers and texts in expressions."""

from __future__ import annotations

import math
import re
from typing import Any

from .values import MAX_INT, MAX_UINT, MIN_INT, Uint

_ESCAPED = re.compile(r"\\(?:([xX])(..)|u(.{4})|U(.{8})|([0-3]..)|(.))", re.DOTALL)
_SIMPLE = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_MAX_DIGITS = 400  # more than any number that there is; Python takes its time to read long ones


class LiteralProblem(ValueError):
    """The error of a spelling that is not a number, or not a text."""


def number(kind: str, text: str) -> Any:
    """Return the value of a number of that kind: int, uint or float. Raise LiteralProblem if it is too large."""
    if kind == "float":
        value = float(text)
        if math.isinf(value):
            raise LiteralProblem("invalid double literal")
        return value
    digits = text.rstrip("uU")
    if len(digits) <= _MAX_DIGITS:
        whole = int(digits, 16) if "x" in digits else int(digits)
        if kind == "uint" and whole <= MAX_UINT:
            return Uint(whole)
        if kind == "int" and MIN_INT <= whole <= MAX_INT:
            return whole
    raise LiteralProblem(f"invalid {kind} literal")


def text_of(spelling: str) -> str | bytes:
    """Return the text, or the bytes, of a literal with its quotes. Raise LiteralProblem if it is malformed."""
    of_bytes = spelling[0] in "bB"
    spelling = spelling[of_bytes:].replace("\r\n", "\n").replace("\r", "\n")
    raw = spelling[0] in "rR"
    spelling = spelling[raw:]
    quotes = 3 if len(spelling) >= 6 and spelling[:3] in ("'''", '"""') else 1
    inner = spelling[quotes:-quotes]
    if of_bytes:
        return inner.encode() if raw else _bytes(inner)
    return inner if raw else _ESCAPED.sub(_character, inner)


def _character(found: re.Match[str]) -> str:
    _, byte, short, long, octal, simple = found.groups()
    if simple:
        return _SIMPLE.get(simple, simple)
    code = int(octal, 8) if octal else int(byte or short or long, 16)
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        raise LiteralProblem("invalid unicode code point")
    return chr(code)


def _bytes(inner: str) -> bytes:
    made, position = b"", 0
    for found in _ESCAPED.finditer(inner):
        _, byte, short, long, octal, simple = found.groups()
        if short or long:
            raise LiteralProblem("unable to unescape string")
        made += inner[position : found.start()].encode()
        position = found.end()
        made += _SIMPLE.get(simple, simple).encode() if simple else bytes([int(octal, 8) if octal else int(byte, 16)])
    return made + inner[position:].encode()
