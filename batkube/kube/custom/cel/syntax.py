"""From the text of an expression to a tree (the grammar of the CEL specification)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

MAX_DEPTH = 40  # of brackets in brackets

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<float>\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)
  | (?P<uint>(?:0[xX][0-9a-fA-F]+|\d+)[uU])
  | (?P<int>0[xX][0-9a-fA-F]+|\d+)
  | (?P<string>[rRbB]{0,2}(?:\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'))
  | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<op>&&|\|\||==|!=|<=|>=|[-+*/%!<>?:.,()\[\]{}])
)""",
    re.VERBOSE,
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_BINARY = (("||",), ("&&",), ("==", "!=", "<", "<=", ">", ">=", "in"), ("+", "-"), ("*", "/", "%"))


class SyntaxProblem(ValueError):
    """A text that is no expression."""


@dataclass(frozen=True, slots=True)
class Node:
    """A part of an expression. Kinds: literal, name, select (of a field), index, call (`value` the function, the first
    part its receiver if `method`), list, map (keys and values in turns), unary, binary, choice; maybe_select and
    maybe_index give an optional value (`a.?b`, `a[?0]`).
    """

    kind: str
    value: Any = None
    parts: tuple[Node, ...] = ()
    method: bool = False


@lru_cache(maxsize=2048)
def parse(text: str) -> Node:
    """The tree of an expression. SyntaxProblem if it is none."""
    reader = _Reader(text)
    node = reader.expression(0)
    reader.end()
    return node


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens: list[tuple[str, str]] = []
        position = 0
        stripped = text.rstrip()
        while position < len(stripped):
            found = _TOKEN.match(stripped, position)
            if found is None or found.lastgroup is None:
                raise SyntaxProblem(f"token recognition error at: '{stripped[position : position + 10].strip()}'")
            self._tokens.append((found.lastgroup, found[found.lastgroup]))
            position = found.end()
        self._at = 0

    def end(self) -> None:
        if self._at < len(self._tokens):
            raise SyntaxProblem(f"mismatched input '{self._tokens[self._at][1]}' expecting <EOF>")

    def _peek(self) -> str:
        if self._at == len(self._tokens):
            return ""
        kind, text = self._tokens[self._at]
        return text if kind in ("op", "name") else ""

    def _take(self, wanted: str) -> bool:
        if self._peek() == wanted:
            self._at += 1
            return True
        return False

    def _expect(self, wanted: str) -> None:
        if not self._take(wanted):
            found = self._tokens[self._at][1] if self._at < len(self._tokens) else "<EOF>"
            raise SyntaxProblem(f"mismatched input '{found}' expecting '{wanted}'")

    def expression(self, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise SyntaxProblem("expression is nested too deeply")
        node = self._binary(0, depth)
        if self._take("?"):
            then = self._binary(0, depth)
            self._expect(":")
            node = Node("choice", None, (node, then, self.expression(depth + 1)))
        return node

    def _binary(self, level: int, depth: int) -> Node:
        if level == len(_BINARY):
            return self._unary(depth)
        node = self._binary(level + 1, depth)
        while self._peek() in _BINARY[level]:
            operator = self._tokens[self._at][1]
            self._at += 1
            node = Node("binary", operator, (node, self._binary(level + 1, depth)))
        return node

    def _unary(self, depth: int) -> Node:
        for operator in ("!", "-"):
            if self._take(operator):
                if depth > MAX_DEPTH:
                    raise SyntaxProblem("expression is nested too deeply")
                return Node("unary", operator, (self._unary(depth + 1),))
        return self._member(depth)

    def _member(self, depth: int) -> Node:
        node = self._primary(depth)
        while True:
            if self._take("."):
                maybe = self._take("?")
                name = self._name()
                if maybe:
                    node = Node("maybe_select", name, (node,))
                elif self._take("("):
                    node = Node("call", name, (node, *self._arguments(")", depth)), method=True)
                else:
                    node = Node("select", name, (node,))
            elif self._take("["):
                kind = "maybe_index" if self._take("?") else "index"
                index = self.expression(depth + 1)
                self._expect("]")
                node = Node(kind, None, (node, index))
            else:
                return node

    def _name(self) -> str:
        if self._at < len(self._tokens) and self._tokens[self._at][0] == "name":
            self._at += 1
            return self._tokens[self._at - 1][1]
        raise SyntaxProblem("expecting an identifier")

    def _arguments(self, end: str, depth: int) -> list[Node]:
        found: list[Node] = []
        while not self._take(end):
            if found:
                self._expect(",")
                if self._take(end):
                    break
            found.append(self.expression(depth + 1))
        return found

    def _primary(self, depth: int) -> Node:
        if self._at == len(self._tokens):
            raise SyntaxProblem("mismatched input '<EOF>'")
        if self._take("("):
            node = self.expression(depth + 1)
            self._expect(")")
            return node
        if self._take("["):
            return Node("list", None, tuple(self._arguments("]", depth)))
        if self._take("{"):
            return self._map(depth)
        kind, text = self._tokens[self._at]
        self._at += 1
        if kind == "float":
            return Node("literal", float(text))
        if kind in ("int", "uint"):
            return Node("literal", int(text.rstrip("uU"), 0))
        if kind == "string":
            marks = text[: text.index(text[-1])].lower()
            its = _string("r" * ("r" in marks) + text[len(marks) :])
            return Node("literal", its.encode() if "b" in marks else its)
        if kind == "name":
            if text in ("true", "false", "null"):
                return Node("literal", {"true": True, "false": False, "null": None}[text])
            if self._take("("):
                return Node("call", text, tuple(self._arguments(")", depth)))
            return Node("name", text)
        raise SyntaxProblem(f"mismatched input '{text}'")

    def _map(self, depth: int) -> Node:
        parts: list[Node] = []
        while not self._take("}"):
            if parts:
                self._expect(",")
            parts.append(self.expression(depth + 1))
            self._expect(":")
            parts.append(self.expression(depth + 1))
        return Node("map", None, tuple(parts))


def _string(text: str) -> str:
    if text[0] in "rR":
        return text[2:-1]

    def plain(found: re.Match[str]) -> str:
        escape = found[1]
        if escape[0] in "uUx":
            return chr(int(escape[1:], 16))
        return _ESCAPES.get(escape, escape)

    return re.sub(r"\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|x[0-9a-fA-F]{2}|.)", plain, text[1:-1])
