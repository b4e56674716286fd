"""The checks of literals, once all types of an expression are known (`cel.ASTValidators`, `ext.Strings`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ..apimachinery.expressions import ExpressionError, expression
from .times import duration, timestamp
from .tree import Node
from .types import OPTIONAL, Type, shown
from .values import CelError

Problem = tuple[int, str]
"""The position of a problem, in characters, and its message."""
TypeOf = Callable[[Node], Type]

_DIRECTIVE = re.compile(r"%(?:\.\d*)?(.?)", re.DOTALL)
_WHOLE = ("int", "uint")
_TEXTS = (
    *("list", "map", "int", "uint", "double", "bool", "string", "timestamp", "bytes", "duration", "type", "null_type"),
)
_CLAUSES = {
    "s": (
        "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and "
        "timestamps",
        _TEXTS,
    ),
    "d": ("decimal clause can only be used on integers", _WHOLE),
    "f": ("fixed-point clause can only be used on doubles", ("double", "string")),
    "e": ("scientific clause can only be used on doubles", ("double", "string")),
    "b": ("only integers and bools can be formatted as binary", (*_WHOLE, "bool")),
    "x": ("only integers, byte buffers, and strings can be formatted as hex", (*_WHOLE, "string", "bytes")),
    "X": ("only integers, byte buffers, and strings can be formatted as hex", (*_WHOLE, "string", "bytes")),
    "o": ("octal clause can only be used on integers", _WHOLE),
}


def literal_problems(node: Node, type_of: TypeOf, *, formatting: bool = False) -> Iterator[Problem]:
    """Yield the errors in the literals of an expression. `formatting`: it is among the values of `format`."""
    if node.kind == "call":
        yield from _of_call(node, type_of)
        formatting = formatting or node.value == "format"
    if node.kind in ("list", "map") and not formatting:
        yield from _mixed(node, type_of)
    for part in node.parts:
        yield from literal_problems(part, type_of, formatting=formatting)


def _of_call(node: Node, type_of: TypeOf) -> Iterator[Problem]:
    first = node.parts[1:2] if node.method else node.parts[:1]
    if node.value == "format" and node.method and len(node.parts) == 2:
        yield from _of_format(node, type_of)
    if not first or first[0].kind != "literal" or not isinstance(first[0].value, str):
        return
    try:
        if node.value == "duration":
            duration(first[0].value)
        elif node.value == "timestamp":
            timestamp(first[0].value)
        elif node.value == "matches" and node.method:
            expression(first[0].value)
    except (ExpressionError, ValueError, CelError):
        yield first[0].at, f"invalid {node.value} argument"


def _mixed(node: Node, type_of: TypeOf) -> Iterator[Problem]:
    """Yield the error of the first item that is not of the type of those before it."""
    step = 1 if node.kind == "list" else 2
    for offset in range(step):
        wanted: Type | None = None
        for index in range(offset, len(node.parts), step):
            part_type = type_of(node.parts[index])
            if index - offset in node.value and offset == step - 1:
                part_type = part_type[1] if part_type[0] == OPTIONAL else part_type
            wanted = wanted or part_type
            if not _same(wanted, part_type):
                yield node.parts[index].at, f"expected type '{shown(wanted)}' but found '{shown(part_type)}'"
                break


def _same(one: Type, other: Type) -> bool:
    return one[0] == other[0] and (one[0] == "type" or one == other)


def _of_format(node: Node, type_of: TypeOf) -> Iterator[Problem]:
    template, values = node.parts
    if template.kind != "literal" or not isinstance(template.value, str) or values.kind != "list":
        return
    count = 0
    for found in _DIRECTIVE.finditer(template.value):
        if found[0] == "%%":
            continue
        if not found[1]:
            yield node.at, "unexpected end of string"
            return
        if count >= len(values.parts):
            yield node.at, f"index {count} out of range"
            return
        value = values.parts[count]
        count += 1
        if found[1] not in _CLAUSES:
            told = f'unrecognized formatting clause "{found[1]}"'
            yield node.at, f"could not parse formatting clause: {told}"
            return
        why, allowed = _CLAUSES[found[1]]
        value_type = type_of(value)
        if value_type[0] not in ("dyn", "any", "unknown", *allowed):
            name = shown((value_type[0],)) if value_type[0] != "object" else shown(value_type)
            yield value.at, f"error during formatting: {why}, was given {name}"
            return
    if len(values.parts) > count:
        told = f"(expected {count}, got {len(values.parts)})"
        yield node.at, f"too many arguments supplied to string.format {told}"
