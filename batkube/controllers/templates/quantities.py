"""A quantity as Go has it in memory once it has read its canonical text (``resource.ParseQuantity``)."""

import re

from batkube.kube.apimachinery.quantity import canonical

_PARTS = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?(.*)")
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_MOST_DIGITS = 18
_BIGGEST = 2**63
_WORD = 2**64


def quantity(text: object) -> str:
    """Return the members of a quantity as spew prints them."""
    text = "" if text is None else canonical(str(text))
    if text in ("", "0"):
        return _told(0, 0, text, "DecimalSI" if text else "")
    found = _PARTS.fullmatch(text)
    assert found is not None, text
    sign, whole, part, suffix = found.groups()
    whole, part = whole.lstrip("0"), (part or "").rstrip("0") if part else ""
    whole = whole or ("" if part else "0")
    if suffix in _BINARY:
        return _binary(text, sign, whole, part, _BINARY[suffix])
    if suffix in _DECIMAL:
        return _decimal(text, sign, whole, part, _DECIMAL[suffix], "DecimalSI")
    return _decimal(text, sign, whole, part, int(suffix[1:]), "DecimalExponent")


def _binary(text: str, sign: str, whole: str, part: str, exponent: int) -> str:
    value = int(whole or 0) << exponent
    fits = not part and 15 - len(whole) - exponent * 3 // 10 - 1 >= 0 and value < _BIGGEST
    if fits:
        kept = text if exponent % 10 == 0 and int(whole) & 7 else ""
        return _told(_signed(sign, value), 0, kept, "BinarySI")
    exact = int((whole + part) or 0) << exponent
    return _big(_signed(sign, -(-exact * 10**9 // 10 ** len(part))), "BinarySI")


def _decimal(text: str, sign: str, whole: str, part: str, exponent: int, form: str) -> str:
    digits, scale = whole + part, exponent - len(part)
    if len(digits) <= _MOST_DIGITS and scale >= -9:
        canonical = scale % 3 == 0 and not digits.endswith("000") and not digits.startswith("0")
        return _told(_signed(sign, int(digits)), scale, text if canonical else "", form)
    power = scale + 9
    value = int(digits) * 10**power if power >= 0 else -(-int(digits) // 10**-power)
    return _big(_signed(sign, value), form)


def _signed(sign: str, value: int) -> int:
    return -value if sign == "-" else value


def _told(value: int, scale: int, text: str, form: str) -> str:
    amount = f"{{value:(int64){value} scale:(resource.Scale){scale}}}"
    return (
        f"{{i:(resource.int64Amount){amount} d:(resource.infDecAmount){{Dec:(*inf.Dec)<nil>}} "
        f"s:(string){text} Format:(resource.Format){form}}}"
    )


def _big(nanos: int, form: str) -> str:
    """Return a quantity that is too long for a number of 64 bits."""
    words, left = [], abs(nanos)
    while left:
        words.append(str(left % _WORD))
        left //= _WORD
    negative = "true" if nanos < 0 else "false"
    unscaled = f"{{neg:(bool){negative} abs:(big.nat)[{' '.join(words)}]}}"
    return (
        "{i:(resource.int64Amount){value:(int64)0 scale:(resource.Scale)0} "
        f"d:(resource.infDecAmount){{Dec:(*inf.Dec){{unscaled:(big.Int){unscaled} scale:(inf.Scale)9}}}} "
        f"s:(string) Format:(resource.Format){form}}}"
    )
