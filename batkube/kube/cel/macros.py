"""The macros: calls that are expanded before anything else is done with an expression (`parser/macro.go`, `ext` of
cel-go).

Most macros go through a list or the keys of a map. They become a fold: a variable has a first value, and a new one for
each item, as long as a condition holds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .tree import Node, SyntaxProblem

RESULT = "@result"
"""The variable for the result of a fold. No expression can name it."""
_UNUSED, _SORTED = "#unused", "@__sortBy_input__"
_NO_NAME, _OVERWRITES = "argument must be a simple name", "iteration variable overwrites accumulator variable"


@dataclass(frozen=True, slots=True)
class Fold:
    """The variables of a fold: those of the item (or of its index or key, and its value), and that of the result.

    The parts of the node are the collection, the first value, the condition, the next value, and the result.
    """

    item: str
    value: str
    made: str


def expanded(node: Node, *, bind: bool) -> Node:
    """Return the expansion of a call, or the call itself if it is not a macro. Raise SyntaxProblem if its arguments are
    wrong.
    """
    if not node.method:
        return _has(node) if node.value == "has" and len(node.parts) == 1 else node
    target, *arguments = node.parts
    if bind and node.value == "bind" and len(arguments) == 3 and (target.kind, target.value) == ("name", "cel"):
        name = _name(arguments[0], "cel.bind() variable name must be a simple identifier")
        return _bound(node, name, arguments[1], arguments[2])
    macro = _MACROS.get((str(node.value), len(arguments)))
    return node if macro is None else macro(node, target, arguments)


def _has(node: Node) -> Node:
    (select,) = node.parts
    if select.kind != "select":
        raise SyntaxProblem("invalid argument to has() macro", select.at)
    return Node("has", node.at, select.value, select.parts)


def _name(node: Node, otherwise: str) -> str:
    if node.kind != "name":
        raise SyntaxProblem(otherwise, node.at)
    return str(node.value)


def _variables(arguments: list[Node], count: int, otherwise: str) -> tuple[str, str]:
    names = [_name(argument, otherwise) for argument in arguments[:count]]
    for name, argument in zip(names, arguments, strict=False):
        if name == "__result__":
            raise SyntaxProblem(_OVERWRITES, argument.at)
    if count == 2 and names[0] == names[1]:
        raise SyntaxProblem(f"duplicate variable name: {names[1]}", arguments[1].at)
    return names[0], names[1] if count == 2 else ""


def _literal(node: Node, value: object) -> Node:
    return Node("literal", node.at, value)


def _call(node: Node, function: str, *parts: Node) -> Node:
    return Node("call", node.at, function, parts)


def _result(node: Node) -> Node:
    return Node("name", node.at, RESULT)


def _empty(node: Node, kind: str) -> Node:
    return Node(kind, node.at, frozenset())


def _bound(node: Node, name: str, value: Node, then: Node) -> Node:
    """Return a fold over an empty list: an expression with a variable."""
    parts = (_empty(node, "list"), value, _literal(node, False), Node("name", node.at, name), then)
    return Node("fold", node.at, Fold(_UNUSED, "", name), parts)


_Macro = Callable[[Node, Node, list[Node]], Node]


def _quantifier(kind: str, count: int) -> _Macro:
    def expand(node: Node, target: Node, arguments: list[Node]) -> Node:
        item, value = _variables(arguments, count, _NO_NAME)
        test, made = arguments[count], _result(node)
        if kind == "all":
            first, holds = _literal(node, True), _call(node, "@not_strictly_false", made)
            step, result = _call(node, "_&&_", made, test), made
        elif kind == "exists":
            first, holds = _literal(node, False), _call(node, "@not_strictly_false", _call(node, "!_", made))
            step, result = _call(node, "_||_", made, test), made
        else:
            first, holds = _literal(node, 0), _literal(node, True)
            step = _call(node, "_?_:_", test, _call(node, "_+_", made, _literal(node, 1)), made)
            result = _call(node, "_==_", made, _literal(node, 1))
        return Node("fold", node.at, Fold(item, value, RESULT), (target, first, holds, step, result))

    return expand


def _collection(kind: str, count: int, *, filtered: bool) -> _Macro:
    """Return a macro that makes a list or a map of the results for the items."""
    otherwise = "argument is not an identifier" if count == 1 else _NO_NAME

    def expand(node: Node, target: Node, arguments: list[Node]) -> Node:
        item, value = _variables(arguments, count, otherwise)
        last, made = arguments[0] if kind == "filter" else arguments[-1], _result(node)
        if kind == "transformMap":
            step = _call(node, "cel.@mapInsert", made, Node("name", node.at, item), last)
        elif kind == "transformMapEntry":
            step = _call(node, "cel.@mapInsert", made, last)
        else:
            step = _call(node, "_+_", made, Node("list", node.at, frozenset(), (last,)))
        if filtered:
            step = _call(node, "_?_:_", arguments[count], step, made)
        first = _empty(node, "map" if kind.startswith("transformMap") else "list")
        return Node("fold", node.at, Fold(item, value, RESULT), (target, first, _literal(node, True), step, made))

    return expand


def _mapped(node: Node, target: Node, arguments: list[Node]) -> Node:
    """Expand `optMap` and `optFlatMap`: they apply an expression to an optional value, if there is one."""
    name = _name(arguments[0], f"{node.value}() variable name must be a simple identifier")
    value = Node("call", node.at, "value", (target,), method=True)
    then = _bound(node, name, value, arguments[1])
    none = _optional(node, "none")
    if node.value == "optMap":
        then = _optional(node, "of", then)
    return _call(node, "_?_:_", Node("call", node.at, "hasValue", (target,), method=True), then, none)


def _optional(node: Node, name: str, *parts: Node) -> Node:
    return _call(node, f"optional.{name}", *parts)


def _sorted(node: Node, target: Node, arguments: list[Node]) -> Node:
    if target.kind in ("literal", "map", "struct"):
        why = "sortBy can only be applied to a list, identifier, comprehension, call or select expression"
        raise SyntaxProblem(why, target.at)
    given = Node("name", node.at, _SORTED)
    keys = _collection("map", 1, filtered=False)(node, given, arguments)
    return _bound(node, _SORTED, target, Node("call", node.at, "@sortByAssociatedKeys", (given, keys), method=True))


_MACROS: dict[tuple[str, int], _Macro] = {
    **{(name, 2): _quantifier(name, 1) for name in ("all", "exists", "exists_one")},
    **{(name, 3): _quantifier(name, 2) for name in ("all", "exists", "exists_one", "existsOne")},
    ("filter", 2): _collection("filter", 1, filtered=True),
    ("map", 2): _collection("map", 1, filtered=False),
    ("map", 3): _collection("map", 1, filtered=True),
    **{
        (name, 3): _collection(name, 2, filtered=False)
        for name in ("transformList", "transformMap", "transformMapEntry")
    },
    **{
        (name, 4): _collection(name, 2, filtered=True)
        for name in ("transformList", "transformMap", "transformMapEntry")
    },
    ("optMap", 2): _mapped,
    ("optFlatMap", 2): _mapped,
    ("sortBy", 2): _sorted,
}
"""The macros by name and number of arguments."""
