"""A pod template as Go's spew prints it (``k8s.io/utils/dump.ForHash``): all fields of all structs, with their types.

``fields.json`` has the structs: of each field its name in Go, in JSON (none: its fields are those of the struct around
it), and its type. A type is ``*T``, a slice ``NAME|[]T``, a map ``NAME|{}T``, a value ``NAME=KIND`` or a struct. It is
made by ``tests/controllers/pod-template-hash/main.go``.
"""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from batkube.controllers.templates.quantities import quantity

JSON = dict[str, Any]
_NIL = "<nil>"
_NEVER = "{Time:(time.Time){wall:(uint64)0 ext:(int64)0 loc:(*time.Location)<nil>}}"
_ZEROS = {"string": "", "bool": "false"}


@cache
def _structs() -> dict[str, list[tuple[str, str, str]]]:
    found: dict[str, list[tuple[str, str, str]]] = json.loads((Path(__file__).parent / "fields.json").read_text())
    return found


def dump(template: JSON) -> str:
    """Return the text of a PodTemplateSpec."""
    return _typed(template, "v1.PodTemplateSpec")


def _typed(value: Any, of: str) -> str:
    """Return a value with its type in front."""
    return f"({_go_type(of)}){_bare(value, of)}"


def _go_type(of: str) -> str:
    if of.startswith("*"):
        return "*" + _go_type(of[1:])
    return of.partition("|")[0].partition("=")[0]


def _bare(value: Any, of: str) -> str:
    """Return a value without its type."""
    if of.startswith("*"):
        return _NIL if value is None else _bare(value, of[1:])
    name, _, inner = of.partition("|")
    if inner.startswith("[]"):
        return _NIL if not value else "[" + " ".join(_bare(each, inner[2:]) for each in value) + "]"
    if inner.startswith("{}"):
        return _NIL if not value else "map[" + " ".join(_pairs(value, inner[2:])) + "]"
    name, _, kind = of.partition("=")
    if kind:
        return _scalar(value, kind)
    if name == "v1.Time":
        return _NEVER
    if name == "resource.Quantity":
        return quantity(value)
    if name == "intstr.IntOrString":
        return _int_or_string(value)
    given = value or {}
    fields = _structs()[name]
    told = (f"{go}:{_typed(given.get(key) if key else given, kind)}" for go, key, kind in fields)
    return "{" + " ".join(told) + "}"


def _pairs(values: JSON, of: str) -> Iterator[str]:
    for key in sorted(values):
        yield f"{key}:{_bare(values[key], of)}"


def _scalar(value: Any, kind: str) -> str:
    if value is None:
        return _ZEROS.get(kind, "0")
    if kind == "bool":
        return "true" if value else "false"
    return str(value)


def _int_or_string(value: Any) -> str:
    text, number = (value, 0) if isinstance(value, str) else ("", value or 0)
    kind = 1 if isinstance(value, str) else 0
    return f"{{Type:(intstr.Type){kind} IntVal:(int32){number} StrVal:(string){text}}}"
