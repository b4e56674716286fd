"""Quantities of resources: `100m`, `1.5Gi`, `1e3` (k8s.io/apimachinery/pkg/api/resource).

Numbers are exact: fractions, never floats. A quantity keeps the family of its spelling (decimal, binary, exponent). If
the spelling is canonical for the real server, the quantity keeps its text as well: `1e3` stays `1e3`, `0.1` becomes
`100m`.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache, total_ordering

DECIMAL, BINARY, EXPONENT = "DecimalSI", "BinarySI", "DecimalExponent"

_LONGEST = 1000  # characters; more digits than Python would read
_PATTERN = re.compile(r"([+-]?)0*([0-9]*)(?:(\.)([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)", re.ASCII)
_DECIMAL_SUFFIXES = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY_SUFFIXES = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_NAMES = {exponent: suffix for suffix, exponent in _DECIMAL_SUFFIXES.items()}
_BINARY_NAMES = ("", *_BINARY_SUFFIXES)
_EXPONENT = re.compile(r"[eE]([+-]?[0-9]+)", re.ASCII)

_MAX = (1 << 63) - 1  # binary quantities are cut here
_NANO = 10**9  # the finest part that is kept
_FAST_DIGITS = 18  # decimal digits that the real server keeps in 64 bits
_MAX_EXPONENT = 100  # no resource is that large; keeps numbers small enough to compute with

FORMAT_WRONG = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"  # the server's words
)
SUFFIX_WRONG = "unable to parse quantity's suffix"


class QuantityError(ValueError):
    """A text that is not a quantity."""


@total_ordering
class Quantity:
    """An amount of a resource. Immutable; equal if the amounts are, however they are spelt."""

    __slots__ = ("_text", "format", "value")

    def __init__(self, value: Fraction | int, family: str = DECIMAL, text: str = "") -> None:
        self.value = Fraction(value)
        self.format = family
        self._text = text

    @classmethod
    def parse(cls, text: str) -> Quantity:
        """Return the quantity. Raise QuantityError, in the real server's words, if the text is not a quantity."""
        return _parse(text)

    def round_up(self, decimals: int) -> Quantity:
        """Return the quantity rounded away from zero to that many decimal places; unchanged if it has no more."""
        unit = 10**decimals
        scaled = self.value * unit
        if scaled.denominator == 1:
            return self
        return Quantity(Fraction(_away_from_zero(scaled), unit), self.format)

    def __add__(self, other: Quantity) -> Quantity:
        return Quantity(self.value + other.value, self.format if self.value else other.format)

    def __sub__(self, other: Quantity) -> Quantity:
        return Quantity(self.value - other.value, self.format if self.value else other.format)

    def __mul__(self, times: int) -> Quantity:
        return Quantity(self.value * times, self.format)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self.value == other.value

    def __lt__(self, other: Quantity) -> bool:
        return self.value < other.value

    def __hash__(self) -> int:
        return hash(self.value)

    def __str__(self) -> str:
        """Return the canonical form."""
        if not self._text:
            self._text = _canonical(self.value, self.format)
        return self._text

    def __repr__(self) -> str:
        return f"Quantity({str(self)!r})"


@lru_cache(maxsize=8192)
def canonical(text: str) -> str:
    """Return the text as the real server writes the quantity."""
    return str(_parse(text))


@lru_cache(maxsize=8192)
def milli(text: str) -> str:
    """Return the canonical text of the quantity, rounded up to thousandths.

    The server rounds the quantities in lists of resources so (`SetDefaults_ResourceList`).
    """
    return str(_parse(text).round_up(3))


@lru_cache(maxsize=8192)
def _parse(text: str) -> Quantity:
    text = text.strip(" \t\n\v\f\r")
    if len(text) > _LONGEST:
        raise QuantityError(FORMAT_WRONG)
    found = _PATTERN.fullmatch(text)
    if found is None or not text:
        raise QuantityError(FORMAT_WRONG)
    sign, whole, _, decimals, suffix = found.groups()
    whole, decimals = whole or "0", decimals or ""
    if suffix in _DECIMAL_SUFFIXES:
        family, exponent = DECIMAL, _DECIMAL_SUFFIXES[suffix]
    elif suffix in _BINARY_SUFFIXES:
        family, exponent = BINARY, _BINARY_SUFFIXES[suffix]
    else:
        exponential = _EXPONENT.fullmatch(suffix)
        if exponential is None:
            raise QuantityError(SUFFIX_WRONG)
        family = EXPONENT
        exponent = max(-_MAX_EXPONENT, min(int(exponential[1][:6]), _MAX_EXPONENT))
    amount = Fraction(int(whole + decimals), 10 ** len(decimals))
    if family == BINARY:
        amount *= 1 << exponent
    else:
        amount *= Fraction(10) ** exponent
    if _keeps_text(whole, decimals, family, exponent):
        return Quantity(-amount if sign == "-" else amount, family, text)
    nanos = amount * _NANO
    if nanos.denominator != 1:
        amount = Fraction(_away_from_zero(nanos), _NANO)
    if family == BINARY:
        amount = min(amount, Fraction(_MAX))
        if 0 < amount < 1:
            family = DECIMAL
    return Quantity(-amount if sign == "-" else amount, family)


def _keeps_text(whole: str, decimals: str, family: str, exponent: int) -> bool:
    """Return True if the text is canonical by the test of `ParseQuantity`, which lets some extra zeros and
    points pass.
    """
    if family == BINARY:
        precision = 15 - len(whole) - exponent * 3 // 10 - 1
        return not decimals and precision >= 0 and int(whole) & 7 != 0
    scale = exponent - len(decimals)
    digits = whole + decimals
    if len(digits) > _FAST_DIGITS or scale < -9:
        return False
    return scale % 3 == 0 and not digits.endswith("000") and digits[0] != "0"


def _away_from_zero(value: Fraction) -> int:
    rounded = -(-abs(value.numerator) // value.denominator)
    return -rounded if value < 0 else rounded


def _canonical(value: Fraction, family: str) -> str:
    if not value:
        return "0"
    if family == BINARY and value.denominator == 1 and abs(value) >= 1024:
        number, times = value.numerator, 0
        while number % 1024 == 0 and times < len(_BINARY_NAMES) - 1:
            number //= 1024
            times += 1
        return f"{number}{_BINARY_NAMES[times]}"
    exponent = 0
    while value.denominator != 1:
        value *= 1000
        exponent -= 3
    number = value.numerator
    while number % 1000 == 0 and (family == EXPONENT or exponent < 18):
        number //= 1000
        exponent += 3
    if family == EXPONENT:
        return f"{number}e{exponent}" if exponent else str(number)
    return f"{number}{_DECIMAL_NAMES[exponent]}"
