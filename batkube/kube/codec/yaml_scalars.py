"""The types of YAML's scalars, as go-yaml 2.4 resolves them (`resolve.go`)."""

from __future__ import annotations

import re
import struct
from math import inf, isfinite, nan
from typing import Any

_TAG = "tag:yaml.org,2002:"
STR, BOOL, INT, FLOAT, NULL, TIMESTAMP, BINARY, MERGE = (
    f"{_TAG}{name}" for name in ("str", "bool", "int", "float", "null", "timestamp", "binary", "merge")
)
_RESOLVABLE = frozenset(("", STR, BOOL, INT, FLOAT, NULL, TIMESTAMP))

_WORDS: dict[str, tuple[str, Any]] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), (BOOL, True)),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), (BOOL, False)),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), (NULL, None)),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), (FLOAT, nan)),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), (FLOAT, inf)),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), (FLOAT, -inf)),
}
_FIRST_OF_WORDS = frozenset("yYnNtTfFoO~")
_FIRST_OF_NUMBERS = frozenset("0123456789+-")
_INTEGER = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[oO]?([0-7]+)|0[bB]([01]+)|(0|[1-9][0-9]*))")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_POINTED_FLOAT = re.compile(r"\.[0-9]+(_[0-9]+)*([eE][-+]?[0-9]+(_[0-9]+)*)?")
_DIGITS = r"(\d\d?)"
_DATE = re.compile(
    rf"\d{{4}}-{_DIGITS}-{_DIGITS}(?:[Tt]{_DIGITS}:{_DIGITS}:{_DIGITS}(?:[.,]\d+)?(?:Z|[-+]\d\d:\d\d)"
    rf"| {_DIGITS}:{_DIGITS}:{_DIGITS}(?:[.,]\d+)?)?"
)
_SIXTIES = re.compile(r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?")


class YamlError(ValueError):
    """A text that is not YAML, or has content that JSON cannot have.

    The message is that of the Go libraries; `line` counts from 1.
    """

    def __init__(self, what: str, line: int = 0) -> None:
        super().__init__(what)
        self.line = line

    @property
    def why(self) -> str:
        """The message without the line, for callers that name the line themselves."""
        return re.sub(r"^yaml: (line \d+: )?", "", str(self))


def resolve(tag: str, text: str, line: int = 0) -> tuple[str, Any]:
    """Return the tag and value of a scalar with that tag ("" for none) and text. Raise YamlError if they do not fit."""
    if tag not in _RESOLVABLE:
        return tag, text
    found, value = _resolved(tag, text)
    if tag in ("", found, STR):
        return found, value
    if tag == FLOAT and found == INT and value < 1 << 63:
        return FLOAT, float(value)
    raise YamlError(f"yaml: cannot decode {_short(found)} `{text}` as a {_short(tag)}", line)


def is_plain_text(text: str) -> bool:
    """Return True if a reader takes the text without quotes for a string."""
    return resolve("", text)[0] == STR and not _SIXTIES.fullmatch(text)


def _resolved(tag: str, text: str) -> tuple[str, Any]:
    first = text[:1]
    if tag == STR or not (not first or first == "." or first in _FIRST_OF_WORDS or first in _FIRST_OF_NUMBERS):
        return STR, text
    if text in _WORDS:
        return _WORDS[text]
    if first == ".":
        if _POINTED_FLOAT.fullmatch(text) and isfinite(number := float(text)):
            return FLOAT, number
    elif first in _FIRST_OF_NUMBERS:
        if tag in ("", TIMESTAMP) and _is_date(text):
            return TIMESTAMP, text
        plain = text.replace("_", "")
        whole = _integer(plain)
        if whole is not None:
            return INT, whole
        if _FLOAT.fullmatch(plain) and plain.isascii() and isfinite(number := float(plain)):
            return FLOAT, number
    return STR, text


def _integer(plain: str) -> int | None:
    """Return the integer that `strconv.ParseInt` with base 0 reads, or ParseUint, which takes no sign; None if neither
    can.
    """
    found = _INTEGER.fullmatch(plain)
    if found is None or not plain.isascii():
        return None
    sign, sixteen, eight, two, ten = found.groups()
    if ten is not None and len(ten) > 20:
        return None
    value = int(sixteen or eight or two or ten, 16 if sixteen else 8 if eight else 2 if two else 10)
    if sign == "-":
        return -value if value <= 1 << 63 else None
    return value if value < 1 << (63 if sign else 64) else None


def _is_date(text: str) -> bool:
    found = _DATE.fullmatch(text)
    if found is None:
        return False
    month, day, *time = (int(part) for part in found.groups("0"))
    hours, minutes, seconds = (max(pair) for pair in zip(time[:3], time[3:], strict=True))
    most = (31, 29 if _leap(int(text[:4])) else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    return 1 <= month <= 12 and 1 <= day <= most[month - 1] and hours < 24 and minutes < 60 and seconds < 60


def _leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def number_as_key(value: float) -> str:
    """Return `strconv.FormatFloat(value, 'g', -1, 32)`, the form of keys that are numbers."""
    if value != value:
        return ".nan"
    try:
        (nearest,) = struct.unpack("<f", struct.pack("<f", value))
    except OverflowError:
        nearest = inf if value > 0 else -inf
    if not isfinite(nearest):
        return ".inf" if nearest > 0 else "-.inf"
    short = f"{nearest:.8e}"
    for digits in range(9):
        short = f"{nearest:.{digits}e}"
        if struct.pack("<f", float(short)) == struct.pack("<f", nearest):
            break
    mantissa, _, exponent = short.partition("e")
    power, negative = int(exponent), mantissa.startswith("-")
    if power < -4 or power >= 6:
        return f"{mantissa}e{'-' if power < 0 else '+'}{abs(power):02}"
    digits_only = mantissa.lstrip("-").replace(".", "")
    if power < 0:
        written = "0." + "0" * (-power - 1) + digits_only
    elif len(digits_only) <= power + 1:
        written = digits_only.ljust(power + 1, "0")
    else:
        written = f"{digits_only[: power + 1]}.{digits_only[power + 1 :]}"
    return f"-{written}" if negative else written


def _short(tag: str) -> str:
    return f"!!{tag.removeprefix(_TAG)}" if tag.startswith(_TAG) else tag
