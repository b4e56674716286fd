"""The tree of an expression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


class SyntaxProblem(ValueError):
    """The error of a text that is not an expression. `at` is its position, in characters."""

    def __init__(self, why: str, at: int) -> None:
        super().__init__(why)
        self.at = at


@dataclass(frozen=True, slots=True)
class Node:
    """A part of an expression; `at` is its position, in characters.

    Kinds: literal; name; select (of a field), has (a test for a field), maybe_select (of an optional field); call
    (`value` is the function, the first part its receiver if `method`; operators are `_+_`, `@in` ...); list and map
    (keys and values in turn; `value`: which of them are optional); struct; fold (`value` are its variables,
    `macros.Fold`).
    """

    kind: str
    at: int
    value: Any = None
    parts: tuple[Node, ...] = ()
    method: bool = False


def qualified_name(node: Node) -> str:
    """Return `a.b.c` for a node of names with dots between them; "" for other nodes."""
    names: list[str] = []
    while node.kind == "select":
        names.append(str(node.value))
        node = node.parts[0]
    return ".".join([str(node.value), *reversed(names)]) if node.kind == "name" else ""
