"""Numbers, lengths of time and quantities in the fields of files. What is none is a ValueError, in half a line."""

import re

from batkube.batsim.input_file import quote
from batkube.batsim.jobs import MAX_DATE, MAX_RESOURCES
from batkube.kube.apimachinery.quantity import Quantity, QuantityError
from batkube.startup.lengths import length_in_units

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_WHOLE = re.compile(r"[0-9]{1,18}")
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_./-]*[A-Za-z0-9])?")


def number(text: str) -> float:
    """Return a number of a table."""
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"expected a number, not {quote(text)}")
    value = float(text)
    if not abs(value) <= MAX_DATE:
        raise ValueError(f"{quote(text)} is too large")
    return value


def whole(text: str, *, least: int = 0, most: int = MAX_RESOURCES) -> int:
    """Return a whole number."""
    if not _WHOLE.fullmatch(text) or not least <= int(text) <= most:
        raise ValueError(f"expected a whole number from {least} to {most}, not {quote(text)}")
    return int(text)


def seconds(text: str) -> float:
    """Return a length of time: a number of seconds, or such as ``1h30m``, ``2d``, ``500ms``."""
    if _NUMBER.fullmatch(text):
        return number(text)
    found = length_in_units(text)
    if found is None:
        raise ValueError(f"expected seconds, or such as 1h30m, not {quote(text)}")
    if found > MAX_DATE:
        raise ValueError(f"{quote(text)} is too large")
    return found


def quantity(text: str) -> str:
    """Return a quantity, as Kubernetes spells it."""
    try:
        found = Quantity.parse(text)
    except QuantityError:
        raise ValueError(f"expected a quantity such as 4, 500m or 16Gi, not {quote(text)}") from None
    if found < Quantity(0):
        raise ValueError(f"must not be negative, and is {quote(text)}")
    return str(found)


def selector(text: str) -> dict[str, str]:
    """Return labels, ``zone=a disk=ssd``, with spaces or semicolons between."""
    labels: dict[str, str] = {}
    for word in text.replace(";", " ").split():
        key, equals, value = word.partition("=")
        if not equals or not _NAME.fullmatch(key) or (value and not _NAME.fullmatch(value)):
            raise ValueError(f"expected labels such as zone=a disk=ssd, not {quote(text)}")
        if key in labels:
            raise ValueError(f"names {quote(key)} twice")
        labels[key] = value
    return labels


def tidy(value: float) -> float | int:
    """Return a number as a file shows it: whole ones without a point."""
    return int(value) if value == int(value) else value
