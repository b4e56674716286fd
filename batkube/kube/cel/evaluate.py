"""The value of an expression, and the cost of computing it.

A tree becomes functions that call each other (`steps`). Each step has the cost that it has on the real server
(`google/cel-go/interpreter/runtimecost.go`), so that the same expressions are too expensive. Work that is expensive
only here is counted as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from . import steps
from .library import TYPES, functions
from .macros import RESULT, Fold
from .steps import Evaluation, Step
from .syntax import parse
from .tree import Node, SyntaxProblem, qualified_name
from .values import CelError, CostExceeded, Object, Optional, Spent, TypeValue, part_of

COST_LIMIT = 1_000_000
"""The greatest cost of an evaluation (`PerCallLimit`)."""


@lru_cache(maxsize=1024)
def program(text: str, variables: tuple[str, ...]) -> Program:
    """Return what evaluates an expression over those variables. SyntaxProblem if it is none."""
    try:
        return Program(parse(text), variables)
    except RecursionError:
        raise SyntaxProblem("expression recursion limit exceeded: 250", 0) from None


class Program:
    """A compiled expression, ready for evaluation."""

    def __init__(self, node: Node, variables: tuple[str, ...]) -> None:
        self._first = len(variables)
        self._count = 0
        self._step = self._compiled(node, {name: place for place, name in enumerate(variables)})

    def value(self, *variables: Any, limit: int = COST_LIMIT) -> Any:
        """Return the value. CelError where there is none, CostExceeded beyond the limit."""
        return self.run(variables, limit)[0]

    def run(self, variables: Iterable[Any], limit: int = COST_LIMIT) -> tuple[Any, Spent]:
        """Return the value and what it took. A CelError has that with it."""
        run = Evaluation([*variables, *[None] * self._count], limit)
        try:
            value = self._step(run)
            run.check()
        except RecursionError:
            raise CelError("expression recursion limit exceeded: 250") from None
        except CelError as error:
            error.spent = run.spent
            raise
        return value, run.spent

    def _slot(self) -> int:
        self._count += 1
        return self._first + self._count - 1

    def _compiled(self, node: Node, places: Mapping[str, int]) -> Step:
        step: Step = getattr(self, f"_{node.kind}")(node, places)
        return step

    def _literal(self, node: Node, places: Mapping[str, int]) -> Step:
        value = node.value
        return lambda run: value

    def _name(self, node: Node, places: Mapping[str, int]) -> Step:
        name = str(node.value)
        if name not in places:
            return self._type_name(name)
        place = places[name]

        def look(run: Evaluation) -> Any:
            run.cost += 1
            return run.slots[place]

        def look_made(run: Evaluation) -> Any:
            run.cost += 1
            value = run.slots[place]
            if type(value) is steps.Failed:
                raise value.error
            return value

        return look_made if name == RESULT else look

    @staticmethod
    def _type_name(name: str) -> Step:
        value = TypeValue(name)

        def look(run: Evaluation) -> Any:
            if name not in TYPES:
                raise CelError(f"undeclared reference to '{name}'")
            return value

        return look

    def _select(self, node: Node, places: Mapping[str, int]) -> Step:
        if (name := qualified_name(node)) in TYPES:
            return self._type_name(name)
        holder, field, cost = self._compiled(node.parts[0], places), str(node.value), _part_cost(node.parts[0])

        def select(run: Evaluation) -> Any:
            value = holder(run)
            run.cost += cost
            kind = type(value)
            if kind is Object:
                try:
                    return value.field(field)
                except KeyError:
                    raise CelError(f"no such key: {field}") from None
            if kind is dict:
                if field in value:
                    return value[field]
                raise CelError(f"no such key: {field}")
            if kind is Optional:
                return part_of(value, field)
            raise CelError(f"no such key: {field}")

        return select

    def _maybe_select(self, node: Node, places: Mapping[str, int]) -> Step:
        holder, field = self._compiled(node.parts[0], places), str(node.value)

        def select(run: Evaluation) -> Any:
            found = part_of(holder(run), field)
            run.cost += found.there
            return found

        return select

    def _has(self, node: Node, places: Mapping[str, int]) -> Step:
        holder, field = self._compiled(node.parts[0], places), str(node.value)

        def has(run: Evaluation) -> bool:
            value = holder(run)
            if isinstance(value, Object | dict | Optional):
                return part_of(value, field).there
            raise CelError("no such overload")

        return has

    def _list(self, node: Node, places: Mapping[str, int]) -> Step:
        items = [self._compiled(part, places) for part in node.parts]
        optional, constant = node.value, _constant(node)

        def make(run: Evaluation) -> list[Any]:
            made = [item(run) for item in items]
            run.cost += 0 if constant else steps.LIST_COST
            if not optional:
                return made
            return [
                value.value if place in optional else value
                for place, value in enumerate(made)
                if place not in optional or steps.optional(value).there
            ]

        return make

    def _map(self, node: Node, places: Mapping[str, int]) -> Step:
        parts = [self._compiled(part, places) for part in node.parts]
        optional, constant = node.value, _constant(node)

        def make(run: Evaluation) -> dict[Any, Any]:
            values = [part(run) for part in parts]
            run.cost += 0 if constant else steps.MAP_COST
            made: dict[Any, Any] = {}
            for place in range(0, len(values), 2):
                key, value = values[place : place + 2]
                if not isinstance(key, str | int | float):
                    raise CelError("unsupported key type")
                if place not in optional or steps.optional(value).there:
                    made[key] = value.value if place in optional else value
            return made

        return make

    def _struct(self, node: Node, places: Mapping[str, int]) -> Step:
        def refuse(run: Evaluation) -> Any:
            raise CelError(f"undeclared reference to '{node.value}'")

        return refuse

    def _fold(self, node: Node, places: Mapping[str, int]) -> Step:
        fold: Fold = node.value
        made, item = self._slot(), self._slot()
        value = self._slot() if fold.value else item
        outer = {**places, fold.made: made}
        inner = {**outer, fold.item: item, **({fold.value: value} if fold.value else {})}
        through, first = (self._compiled(part, places) for part in node.parts[:2])
        holds, step = (self._compiled(part, inner) for part in node.parts[2:4])
        result, two = self._compiled(node.parts[4], outer), bool(fold.value)
        always = node.parts[2].kind == "literal" and node.parts[2].value is True
        if node.parts[2].value == "@not_strictly_false":
            test = self._compiled(node.parts[3].parts[1], inner)
            return steps.quantifier(through, test, (item, value) if two else (item,), node.parts[3].value == "_||_")

        def go(run: Evaluation) -> Any:
            given, slots = through(run), run.slots
            slots[made] = first(run)
            for here in steps.entries(given) if two else steps.items(given):
                if two:
                    slots[item], slots[value] = here
                else:
                    slots[item] = here
                if not always and not holds(run):
                    break
                run.check()
                try:
                    slots[made] = step(run)
                except CostExceeded:
                    raise
                except CelError as error:
                    slots[made] = steps.Failed(error)
                    if always:
                        break
            return result(run)

        return go

    def _call(self, node: Node, places: Mapping[str, int]) -> Step:
        name, parts, method = str(node.value), node.parts, node.method
        if method and (prefix := qualified_name(parts[0])) and f"{prefix}.{name}" in functions():
            name, parts, method = f"{prefix}.{name}", parts[1:], False
        values = [self._compiled(part, places) for part in parts]
        if not method and name in ("_&&_", "_||_"):
            return steps.logical(values, name == "_||_")
        if not method and name == "_?_:_":
            return steps.choice(values, [_is_part_of_variable(part) for part in parts[1:]])
        if not method and name == "@not_strictly_false":
            return steps.not_strictly_false(values[0])
        if method and name in ("or", "orValue") and len(values) == 2:
            return steps.otherwise(values[0], values[1], name == "or")
        if name == "_+_" and parts[0].kind == "name" and parts[0].value == RESULT and parts[1].kind == "list":
            item = self._compiled(parts[1].parts[0], places)
            return steps.appended(values[0], item, 0 if _constant(parts[1]) else steps.LIST_COST)
        free = _constant(node) or (name == "@in" and parts[1].kind == "list" and _constant(parts[1]))
        called = steps.called(steps.Dispatch(name, method, len(values), free=free), values)
        if name in ("_[_]", "_[?_]"):
            return steps.indexed(called, _part_cost(parts[0]) - 1 - (parts[1].kind in ("name", "select")))
        return called


FOLDED = ("bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint")
"""The conversions that are computed beforehand if the argument is a literal, and cost nothing."""


def _constant(node: Node) -> bool:
    if node.kind in ("list", "map"):
        return not node.value and all(map(_constant, node.parts))
    if node.kind == "call" and not node.method and node.value in FOLDED and len(node.parts) == 1:
        return _constant(node.parts[0])
    return node.kind == "literal"


def _part_cost(holder: Node) -> int:
    """Return what it costs to have a part of that: one more if it is neither a variable nor a part of one."""
    return 1 if holder.kind in ("name", "select", "maybe_select") or holder.value in ("_[_]", "_[?_]", "_?_:_") else 2


def _is_part_of_variable(node: Node) -> bool:
    while node.kind == "select":
        node = node.parts[0]
    return node.kind == "name"
