"""The way from the text of an expression to a tree (the grammar of the CEL specification)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from .literals import LiteralProblem, number, text_of
from .macros import expanded
from .tree import Node, SyntaxProblem, qualified_name

MAX_SIZE = 100_000  # characters
MAX_DEPTH = 100  # brackets in brackets
MAX_CHAIN = 250  # operators, or selections, after each other

_ESCAPE = r"\\(?:[abfnrtv\"'\\?`]|[0-3][0-7]{2}|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"
_TOKEN = re.compile(
    rf"""(?P<blank>(?:[ \t\r\n\f]|//[^\n]*)+)
  | (?P<string>[bB]?(?:
        [rR](?:\"\"\"(?s:.*?)\"\"\"|'''(?s:.*?)'''|"[^"\n\r]*"|'[^'\n\r]*')
      | \"\"\"(?:{_ESCAPE}|[^\\])*?\"\"\"|'''(?:{_ESCAPE}|[^\\])*?'''
      | "(?:{_ESCAPE}|[^\\"\n\r])*"|'(?:{_ESCAPE}|[^\\'\n\r])*'))
  | (?P<float>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)
  | (?P<uint>(?:0x[0-9a-fA-F]+|[0-9]+)[uU])
  | (?P<int>0x[0-9a-fA-F]+|[0-9]+)
  | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<op>&&|\|\||==|!=|<=|>=|[-+*/%!<>?:.,()\[\]{{}}])""",
    re.VERBOSE,
)
_RELATIONS, _SUMS, _PRODUCTS = ("==", "!=", "<", "<=", ">", ">=", "in"), ("+", "-"), ("*", "/", "%")
_BELOW = {_RELATIONS: _SUMS, _SUMS: _PRODUCTS}
_WORDS = {"true": True, "false": False, "null": None}
_RESERVED = frozenset(
    (
        *("as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop", "package"),
        *("namespace", "return", "var", "void", "while"),
    )
)
_PRIMARY = (
    "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"
)
_TOO_DEEP = "expression recursion limit exceeded: 250"


@lru_cache(maxsize=1024)
def parse(text: str, *, bind: bool = False) -> Node:
    """Return the tree of an expression, macros expanded; `bind`: `cel.bind` is one. SyntaxProblem if it is none."""
    if len(text) > MAX_SIZE:
        raise SyntaxProblem(f"expression code point size exceeds limit: size: {len(text)}, limit {MAX_SIZE}", 0)
    try:
        return _Reader(text, bind).whole()
    except RecursionError:
        raise SyntaxProblem(_TOO_DEEP, 0) from None


class _Reader:
    def __init__(self, text: str, bind: bool) -> None:
        self._bind = bind
        self._tokens: list[tuple[str, str, int]] = []
        position = 0
        while position < len(text):
            found = _TOKEN.match(text, position)
            if found is None:
                raise SyntaxProblem(f"Syntax error: token recognition error at: '{text[position]}'", position)
            if found.lastgroup != "blank":
                self._tokens.append((str(found.lastgroup), found[0], position))
            position = found.end()
        self._tokens.append(("end", "<EOF>", len(text)))
        self._at = self._depth = 0

    def whole(self) -> Node:
        node = self._expression()
        if self._tokens[self._at][0] != "end":
            raise self._unexpected("<EOF>")
        return node

    def _peek(self) -> str:
        kind, text, _ = self._tokens[self._at]
        return text if kind in ("op", "name") else ""

    def _next(self) -> int:
        """Move to the next token, and return the position of the token before it."""
        self._at += 1
        return self._tokens[self._at - 1][2]

    def _take(self, wanted: str) -> bool:
        if self._peek() == wanted:
            self._at += 1
            return True
        return False

    def _expect(self, wanted: str) -> None:
        if not self._take(wanted):
            raise self._unexpected(f"'{wanted}'")

    def _unexpected(self, wanted: str) -> SyntaxProblem:
        _, text, at = self._tokens[self._at]
        return SyntaxProblem(f"Syntax error: mismatched input '{text}' expecting {wanted}", at)

    def _expression(self) -> Node:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise SyntaxProblem(_TOO_DEEP, 0)
        node = self._joined("||")
        if self._peek() == "?":
            at = self._next()
            then = self._joined("||")
            self._expect(":")
            node = Node("call", at, "_?_:_", (node, then, self._expression()))
        self._depth -= 1
        return node

    def _joined(self, operator: str) -> Node:
        """Read the operands of `||`, or of `&&`: one node, however many operands there are."""
        parts, at = [self._part(operator)], 0
        while self._peek() == operator:
            at = self._next()
            parts.append(self._part(operator))
        return parts[0] if len(parts) == 1 else Node("call", at, f"_{operator}_", tuple(parts))

    def _part(self, operator: str) -> Node:
        return self._joined("&&") if operator == "||" else self._chain(_RELATIONS)

    def _chain(self, operators: tuple[str, ...]) -> Node:
        below = _BELOW.get(operators)
        node = self._chain(below) if below else self._unary()
        count = 0
        while (operator := self._peek()) in operators:
            at = self._next()
            count += 1
            if count > MAX_CHAIN:
                raise SyntaxProblem(_TOO_DEEP, 0)
            right = self._chain(below) if below else self._unary()
            node = Node("call", at, "@in" if operator == "in" else f"_{operator}_", (node, right))
        return node

    def _unary(self) -> Node:
        operator = self._peek()
        if operator not in ("!", "-"):
            return self._member(self._primary())
        at, count = self._tokens[self._at][2], 0
        while self._take(operator):
            count += 1
        kind, text, _ = self._tokens[self._at]
        if operator == "-" and count == 1 and kind in ("int", "float"):
            self._at += 1
            return self._member(_number(kind, f"-{text}", at))
        node = self._member(self._primary())
        return node if count % 2 == 0 else Node("call", at, f"{operator}_", (node,))

    def _member(self, node: Node) -> Node:
        count = 0
        while (token := self._peek()) in (".", "[", "{"):
            count += 1
            if count > MAX_CHAIN:
                raise SyntaxProblem(_TOO_DEEP, 0)
            if token == "{" and not (name := qualified_name(node)):
                break
            at = self._next()
            if token == ".":
                node = self._selected(node, at)
            elif token == "{":
                node = Node("struct", at, name, self._fields())
            else:
                function = "_[?_]" if self._take("?") else "_[_]"
                node = Node("call", at, function, (node, self._expression()))
                self._expect("]")
        return node

    def _selected(self, node: Node, at: int) -> Node:
        if self._take("?"):
            return Node("maybe_select", at, self._name(), (node,))
        name = self._name()
        if self._peek() != "(":
            return Node("select", at, name, (node,))
        at = self._next()
        call = Node("call", at, name, (node, *self._arguments(")")), method=True)
        return expanded(call, bind=self._bind)

    def _name(self) -> str:
        kind, text, _ = self._tokens[self._at]
        if kind != "name" or text in _WORDS or text == "in":
            raise self._unexpected("IDENTIFIER")
        self._at += 1
        return text

    def _arguments(self, end: str) -> list[Node]:
        found: list[Node] = []
        while not self._take(end):
            if found:
                self._expect(",")
            found.append(self._expression())
        return found

    def _primary(self) -> Node:
        kind, text, at = self._tokens[self._at]
        if kind == "op":
            return self._bracketed(text, at)
        if kind == "end":
            raise self._unexpected(_PRIMARY)
        self._at += 1
        if kind in ("int", "uint", "float"):
            return _number(kind, text, at)
        if kind == "string":
            try:
                return Node("literal", at, text_of(text))
            except LiteralProblem as problem:
                raise SyntaxProblem(str(problem), at) from None
        return self._identifier(text, at)

    def _identifier(self, text: str, at: int) -> Node:
        if text in _WORDS:
            return Node("literal", at, _WORDS[text])
        if text == "in":
            self._at -= 1
            raise self._unexpected(_PRIMARY)
        if text in _RESERVED:
            raise SyntaxProblem(f"reserved identifier: {text}", at)
        if self._peek() == "(":
            at = self._next()
            return expanded(Node("call", at, text, tuple(self._arguments(")"))), bind=self._bind)
        return Node("name", at, text)

    def _bracketed(self, text: str, at: int) -> Node:
        if text not in (".", "(", "[", "{"):
            kind, digits, _ = self._tokens[min(self._at + 1, len(self._tokens) - 1)]
            if text == "-" and kind in ("int", "float"):  # after a `!`
                self._at += 2
                return _number(kind, f"-{digits}", at)
            raise self._unexpected(_PRIMARY)
        self._at += 1
        if text == ".":
            return self._identifier(self._name(), at)
        if text == "(":
            node = self._expression()
            self._expect(")")
            return node
        parts, optional = self._items("]" if text == "[" else "}")
        return Node("list" if text == "[" else "map", at, optional, tuple(parts))

    def _items(self, end: str) -> tuple[list[Node], frozenset[int]]:
        """Read the items of a list, or the keys and values of a map, and note which of them are optional."""
        found: list[Node] = []
        optional = set()
        if self._peek() == "," and self._tokens[self._at + 1][1] == end:
            self._at += 1
        while not self._take(end):
            if found:
                self._expect(",")
                if self._take(end):
                    break
            if self._take("?"):
                optional.add(len(found))
            found.append(self._expression())
            if end == "}":
                self._expect(":")
                found.append(self._expression())
        return found, frozenset(optional)

    def _fields(self) -> tuple[Node, ...]:
        found: list[Node] = []
        while not self._take("}"):
            if found:
                self._expect(",")
                if self._take("}"):
                    break
            self._take("?")
            at = self._tokens[self._at][2]
            name = self._name()
            self._expect(":")
            found.append(Node("select", at, name, (self._expression(),)))
        return tuple(found)


def _number(kind: str, text: str, at: int) -> Node:
    try:
        value: Any = number(kind, text)
    except LiteralProblem as problem:
        raise SyntaxProblem(str(problem), at) from None
    return Node("literal", at, value)
