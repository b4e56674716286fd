"""The single values of typed objects: texts, numbers, times, amounts, as Go's JSON decoder reads them, with
its errors.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..apimachinery.go_base64 import corrupt_byte
from ..apimachinery.quantity import QuantityError, canonical
from ..apimachinery.times import TimeError, read_micro_time, read_time

# Reads a value at a path, notes what is unknown, and gives it in the server's own spelling.
Read = Callable[[Any, str, "Notes"], Any]


class Mismatch(Exception):
    """A value that does not fit its field."""


class Unfit(Mismatch):
    """A value of another type. The structs around it add the path of its field, from the inside to the outside."""

    def __init__(self, kind: str, wanted: str) -> None:
        super().__init__()
        self._kind, self._wanted = kind, wanted
        self._struct, self._path = "", ""

    def within(self, struct: str, field: str) -> None:
        """Add that the mismatch is in that field of a struct."""
        self._struct = self._struct or struct
        self._path = f"{field}.{self._path}" if self._path else field

    def __str__(self) -> str:
        where = f"{self._struct}.{self._path}"
        return f"json: cannot unmarshal {self._kind} into Go struct field {where} of type {self._wanted}"


@dataclass(slots=True)
class Notes:
    """The notes made while an object is read: the paths of the fields that its type does not know."""

    unknown: list[str] = field(default_factory=list)


def read_string(value: Any, path: str, notes: Notes) -> str:
    """Return a text. Raise Unfit if it is not one."""
    if not isinstance(value, str):
        raise unfit(value, "string")
    return value


def _bool(value: Any, path: str, notes: Notes) -> bool:
    if not isinstance(value, bool):
        raise unfit(value, "bool")
    return value


def _integer(bits: int) -> Read:
    bound = 1 << (bits - 1)

    def read(value: Any, path: str, notes: Notes) -> int:
        if type(value) is not int or not -bound <= value < bound:
            raise unfit(value, f"int{bits}", exact=True)
        return value

    return read


def _double(value: Any, path: str, notes: Notes) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise unfit(value, "float64")
    return value


def _bytes(value: Any, path: str, notes: Notes) -> str:
    text = read_string(value, path, notes)
    if (wrong := corrupt_byte(text)) is not None:
        raise Mismatch(f"illegal base64 data at input byte {wrong}")
    text = text.replace("\n", "").replace("\r", "")
    # Bits that the last letter has too many are not kept.
    return base64.b64encode(base64.b64decode(text)).decode() if text.endswith("=") else text


def _time(value: Any, path: str, notes: Notes) -> str | None:
    return _read_time(read_time, value, path, notes)


def _micro_time(value: Any, path: str, notes: Notes) -> str | None:
    return _read_time(read_micro_time, value, path, notes)


def _read_time(read: Callable[[str], str], value: Any, path: str, notes: Notes) -> str | None:
    if value is None:
        return None
    try:
        return read(read_string(value, path, notes))
    except TimeError as error:
        raise Mismatch(str(error)) from None


def _quantity(value: Any, path: str, notes: Notes) -> str:
    """Return a quantity in the real server's spelling."""
    text = value if isinstance(value, str) else str(value).removesuffix(".0") if _is_number(value) else ""
    try:
        return canonical(text)
    except QuantityError as error:
        raise Mismatch(str(error)) from None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _int_or_string(value: Any, path: str, notes: Notes) -> int | str:
    if isinstance(value, str):
        return value
    if type(value) is not int or not -(1 << 31) <= value < 1 << 31:
        raise unfit(value, "int32", exact=True)
    return value


def read_anything(value: Any, path: str, notes: Notes) -> Any:
    """Return a value as it is: no type describes it."""
    return value


SCALARS: dict[str, Read] = {
    "string": read_string,
    "bool": _bool,
    "int32": _integer(32),
    "int64": _integer(64),
    "double": _double,
    "bytes": _bytes,
    "Time": _time,
    "MicroTime": _micro_time,
    "Quantity": _quantity,
    "IntOrString": _int_or_string,
}
ZEROS: dict[str, Any] = {
    "string": "",
    "bool": False,
    "int32": 0,
    "int64": 0,
    "double": 0,
    "bytes": "",
    "Quantity": "0",
    "IntOrString": 0,
}
# Structs in Go although single values in JSON: omitempty does not leave them out.
STRUCT_LIKE = frozenset(("Quantity", "IntOrString"))
RAW = "RawExtension"  # whatever was sent: an empty object is one
# Structs as well, of which those without a date are null.
TIMES = frozenset(("Time", "MicroTime"))


def unfit(value: Any, wanted: str, exact: bool = False) -> Unfit:
    """Return the error of a value that is not of the wanted type, which has Go's name. An `exact` error
    shows numbers.
    """
    kind = {bool: "bool", int: "number", float: "number", str: "string", list: "array", dict: "object"}[type(value)]
    if exact and kind == "number":
        kind = f"number {value}"
    return Unfit(kind, wanted)
