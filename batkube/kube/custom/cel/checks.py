"""What can be said of an expression before it is evaluated: that it is one, that it uses what there is, and is of the
type that is asked for. Types of fields are not followed; what is not known counts as right.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

from .syntax import Node, SyntaxProblem, parse

# Types, and what the functions of the Kubernetes libraries begin with (`k8s.io/apiserver/pkg/cel/library`).
_GLOBAL = frozenset(
    [
        "bool",
        "bytes",
        "double",
        "duration",
        "dyn",
        "int",
        "list",
        "map",
        "null_type",
        "string",
        "timestamp",
        "type",
        "uint",
        "format",
        "ip",
        "optional",
        "sets",
        "strings",
    ]
)
_LOOPS = frozenset(
    [
        "all",
        "exists",
        "exists_one",
        "existsOne",
        "filter",
        "map",
        "optFlatMap",
        "optMap",
        "sortBy",
        "transformList",
        "transformMap",
        "transformMapEntry",
    ]
)
_COMPARISONS = frozenset(("==", "!=", "<", "<=", ">", ">=", "in", "&&", "||"))
_RESULTS = {
    **dict.fromkeys(("has", "all", "exists", "exists_one", "existsOne"), "bool"),
    **dict.fromkeys(("startsWith", "endsWith", "contains", "matches", "isSorted"), "bool"),
    **dict.fromkeys(("size", "int"), "int"),
    "string": "string",
    "filter": "list",
}
_TYPES: tuple[tuple[type, str], ...] = (
    *((bool, "bool"), (int, "int"), (float, "double"), (str, "string"), (bytes, "bytes")),
)


def compilation_problem(
    text: str,
    variables: Collection[str],
    result: str = "bool",
    untyped: Collection[str] = (),
    fields: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> str:
    """What is wrong with an expression over those variables, "" if nothing is known to be. `untyped`: variables whose
    fields may be anything, so that none of them alone is of the type that is asked for; `result` "": any will do.
    `fields`: what there is of those variables that have certain fields only.
    """
    try:
        node = parse(text)
    except SyntaxProblem as error:
        return f"compilation failed: ERROR: <input>:1:1: Syntax error: {error}"
    if unknown := _undeclared(node, frozenset(variables)):
        return f"compilation failed: ERROR: <input>:1:1: undeclared reference to '{unknown}' (in container '')"
    if unknown := _undefined(node, fields):
        return f"compilation failed: ERROR: <input>:1:1: undefined field '{unknown}'"
    found = _type(node, frozenset(untyped))
    return f"must evaluate to {result}" if result and found not in ("", result) else ""


def _undefined(node: Node, fields: Mapping[str, Collection[str]]) -> str:
    """The first field that a variable has not."""
    if not fields:
        return ""
    if node.kind == "select" and node.parts[0].kind == "name":
        holder = fields.get(node.parts[0].value)
        return "" if holder is None or node.value in holder else str(node.value)
    return next(filter(None, (_undefined(part, fields) for part in node.parts)), "")


def _undeclared(node: Node, known: frozenset[str]) -> str:
    """The first name that means nothing."""
    if node.kind == "name":
        return "" if node.value in known or node.value in _GLOBAL else str(node.value)
    parts, bound = node.parts, known
    if node.kind == "call" and node.method and node.value in _LOOPS:
        found = _undeclared(parts[0], known)
        names = [part.value for part in parts[1:-1] if part.kind == "name"]
        parts, bound = parts[1 + len(names) :], known | frozenset(names)
        if found:
            return found
    elif node.kind == "call" and node.method and node.value == "bind" and len(parts) == 4:
        names = [parts[1].value]
        return _undeclared(parts[2], known) or _undeclared(parts[3], known | frozenset(names))
    return next(filter(None, (_undeclared(part, bound) for part in parts)), "")


def _type(node: Node, untyped: frozenset[str]) -> str:
    if node.kind == "literal":
        return (
            "null_type" if node.value is None else next(name for kind, name in _TYPES if isinstance(node.value, kind))
        )
    if node.kind == "binary":
        if node.value in _COMPARISONS:
            return "bool"
        left, right = (_type(part, untyped) for part in node.parts)
        return left if left == right else ""
    if node.kind == "unary":
        return "bool" if node.value == "!" else ""
    if node.kind in ("list", "map"):
        return node.kind
    if node.kind == "call":
        return _RESULTS.get(node.value, "")
    if node.kind in ("select", "index"):
        return _type(node.parts[0], untyped) if node.parts[0].kind != "call" else ""
    return "dyn" if node.kind == "name" and node.value in untyped else ""
