"""The checks of an expression before it is evaluated, in the words of the real server."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType

from .checker import Checked, check
from .evaluate import FOLDED, Program
from .library import AUTHORIZER
from .literal_checks import Problem
from .syntax import parse
from .tree import Node, SyntaxProblem
from .types import DYN, UNKNOWN, ObjectType, Type
from .values import CelError

_MAX_ERRORS = 100


def compiled(text: str, variables: Mapping[str, Type], *, bind: bool = False) -> tuple[Checked | None, str]:
    """Return an expression over those variables with its types, and what is wrong with it; "" if nothing is.

    The problem that `instantiation_problem` finds is to be told after that one.
    """
    try:
        node = parse(text, bind=bind)
    except SyntaxProblem as problem:
        return None, compilation_failed(text, [(problem.at, str(problem))])
    try:
        checked = check(node, variables)
        return checked, compilation_failed(text, checked.problems) if checked.problems else ""
    except RecursionError:
        return None, compilation_failed(text, [(0, "expression recursion limit exceeded: 250")])


def type_problem(text: str, variables: Mapping[str, Type], *, bind: bool = False) -> tuple[Type, str]:
    """Return the type of an expression over those variables, and what is wrong with it; "" if nothing is."""
    checked, problem = compiled(text, variables, bind=bind)
    return checked.type if checked is not None else DYN, problem


def instantiation_problem(text: str, *, bind: bool = False) -> str:
    """Return why a literal in a valid expression cannot be converted; "" if all can."""
    return _unreadable(parse(text, bind=bind))


def _unreadable(node: Node) -> str:
    for part in node.parts:
        if problem := _unreadable(part):
            return problem
    if node.kind != "call" or node.value not in FOLDED or not all(part.kind == "literal" for part in node.parts):
        return ""
    try:
        Program(node, ()).value()
    except CelError as error:
        return f"program instantiation failed: {error}"
    return ""


def compilation_failed(text: str, problems: Iterable[Problem]) -> str:
    """Return the errors, with the lines of the expression in which they are. An empty expression has none."""
    return "compilation failed: " + "\n".join(_told(text, at, why) for at, why in list(problems)[:_MAX_ERRORS])


def _told(text: str, at: int, why: str) -> str:
    if not text:
        return f"ERROR: <input>:1:0: {why}"
    line = text.count("\n", 0, at)
    column = at - (text.rfind("\n", 0, at) + 1)
    shown = text.split("\n")[line].replace("\t", " ")
    dots = "".join("." if char.isascii() else "．" for char in shown[:column])
    mark = "^" if shown[column : column + 1].isascii() else "＾"
    return f"ERROR: <input>:{line + 1}:{column + 1}: {why}\n | {shown}\n | {dots}{mark}"


def compilation_problem(
    text: str,
    variables: Collection[str],
    result: str = "bool",
    untyped: Collection[str] = (),
    fields: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> str:
    """Return what is wrong with an expression over those variables; "" if no error is known.

    The expression must have the type `result` ("": any type). `untyped` are variables whose fields may be anything, so
    that no such variable alone has that type. `fields` are the fields of variables that have only these.
    """
    types: dict[str, Type] = {}
    for name in variables:
        if name in fields:
            named = dict.fromkeys(fields[name], UNKNOWN)
            types[name] = ("object", ObjectType(name, lambda named=named: named))  # type: ignore[misc]
        else:
            types[name] = AUTHORIZER if name.startswith("authorizer") else DYN if name in untyped else UNKNOWN
    result_type, problem = type_problem(text, types)
    if problem:
        return problem
    return (
        instantiation_problem(text)
        if not result or result_type[0] in ("unknown", result)
        else f"must evaluate to {result}"
    )
