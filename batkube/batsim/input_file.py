"""Reading input files that may be wrong or hostile: bounded in size and depth, strict JSON, errors in a line."""

import json
from pathlib import Path
from typing import Any, NoReturn

from pydantic import BaseModel, ConfigDict, PrivateAttr, ValidationError

from batkube.named_file import read_named_text

_QUOTED = 60


class FileObject(BaseModel):
    """An object of an input file, checked."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True, defer_build=True)

    _raw: dict[str, Any] = PrivateAttr(default_factory=dict)

    @property
    def raw(self) -> dict[str, Any]:
        """The object as in the file."""
        # Pydantic's own access to private attributes by name is slow, and workloads have many jobs.
        raw: dict[str, Any] = self.__pydantic_private__["_raw"]  # type: ignore[index]
        return raw

    @property
    def extra(self) -> dict[str, Any]:
        """The members that Batsim does not know, as in the file."""
        return self.model_extra or {}


def read_text(path: Path) -> str:
    """Return the text of a file. Raises ValueError: not there, not readable, too large, not UTF-8."""
    try:
        return read_named_text(path)
    except OSError as error:
        raise ValueError(error.strerror or str(error)) from None


def parse_json(text: str) -> Any:
    """Return the value of a JSON text. Raises ValueError, also for NaN, for infinity and for a member named twice."""
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant, parse_float=_number)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}, column {error.colno}: not JSON: {error.msg}") from None
    except RecursionError:
        raise ValueError("is nested too deeply") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise ValueError(f"an object has two members named {name!r}")
            seen.add(name)
    return result


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number that JSON knows")


def _number(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"the number {quote(text)} is too large")
    return value


def explain(error: ValidationError) -> str:
    """Return the first thing that is wrong, in a line: ``member: expected ..., not value``."""
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    if first["type"] == "missing":
        return f"{where}: missing"
    reason = first["msg"].removeprefix("Value error, ").replace("Input should be", "expected")
    if first["type"] == "value_error":
        return f"{where}: {reason}" if where else reason
    return f"{where}: {reason}, not {quote(first['input'])}"


def quote(value: object) -> str:
    """Return ``value`` as an error quotes it, cut if it is long."""
    try:
        quoted = repr(value)
    except ValueError:  # an integer with more digits than Python likes to print
        return "a number of thousands of digits"
    return quoted if len(quoted) <= _QUOTED else f"{quoted[: _QUOTED - 3]}..."
