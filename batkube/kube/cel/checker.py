"""The types of an expression, and what in it does not go together (`google/cel-go/checker`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .declarations import Overload
from .library import TYPES, functions
from .literal_checks import Problem, literal_problems
from .macros import RESULT, Fold
from .tree import Node, qualified_name
from .types import (
    BOOL,
    BYTES,
    DOUBLE,
    DYN,
    ERROR,
    INT,
    NULL,
    OPTIONAL,
    STRING,
    UINT,
    UNKNOWN,
    WILD,
    Type,
    Unifier,
    less_specific,
    replaced,
    shown,
)
from .values import Uint

_LITERALS: dict[type, Type] = {
    bool: BOOL,
    int: INT,
    Uint: UINT,
    float: DOUBLE,
    str: STRING,
    bytes: BYTES,
    type(None): NULL,
}


def check(node: Node, variables: Mapping[str, Type]) -> Checked:
    """Return the types of an expression and of all its parts, and its errors."""
    checker = _Checker()
    checker.check(node, variables)
    problems = checker.problems or list(literal_problems(node, checker.type_of))
    return Checked(node, checker, sorted(problems, key=lambda problem: problem[0]))


def target_and_arguments(node: Node) -> tuple[Node | None, tuple[Node, ...]]:
    """Return what a method is called on, None for a function, and the other parts of the call. `sets.contains(a, b)` is
    a function.
    """
    return (node.parts[0], node.parts[1:]) if node.method and not _qualified(node) else (None, _arguments(node))


class Checked:
    """An expression with the types of its parts. `problems` are its errors, with their positions."""

    def __init__(self, node: Node, checker: _Checker, problems: list[Problem]) -> None:
        self.node = node
        self.problems = problems
        self._checker = checker

    @property
    def type(self) -> Type:
        return self.type_of(self.node)

    def type_of(self, node: Node) -> Type:
        return self._checker.type_of(node)

    def has(self, node: Node) -> bool:
        """Return False for a node that is only a part of a name, as `google` in `google.protobuf.Duration`."""
        return self._checker.has(node)

    def overloads_of(self, node: Node) -> list[Overload]:
        """Return the overloads that a call may be of: several where types are known only when it is evaluated."""
        return self._checker.overloads_of(node)


class _Checker:
    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self._types = Unifier()
        self._found: dict[int, Type] = {}
        self._overloads: dict[int, list[Overload]] = {}

    def type_of(self, node: Node) -> Type:
        """Return the final type of a part of the checked expression."""
        return self._types.plain(self._found[id(node)], rest_dyn=True)

    def has(self, node: Node) -> bool:
        return id(node) in self._found

    def overloads_of(self, node: Node) -> list[Overload]:
        return self._overloads[id(node)]

    def check(self, node: Node, scope: Mapping[str, Type]) -> Type:
        found: Type = getattr(self, f"_{node.kind}")(node, scope)
        self._found[id(node)] = found
        return found

    def _wrong(self, node: Node, why: str) -> Type:
        self.problems.append((node.at, why))
        return ERROR

    def _literal(self, node: Node, scope: Mapping[str, Type]) -> Type:
        return _LITERALS[type(node.value)]

    def _name(self, node: Node, scope: Mapping[str, Type]) -> Type:
        name = str(node.value)
        if name in scope:
            return scope[name]
        if name in TYPES:
            return ("type", TYPES[name])
        return self._wrong(node, f"undeclared reference to '{name}' (in container '')")

    def _select(self, node: Node, scope: Mapping[str, Type]) -> Type:
        name = qualified_name(node)
        if name in TYPES:
            return ("type", TYPES[name])
        return self._field(node, scope, optional=False)

    def _maybe_select(self, node: Node, scope: Mapping[str, Type]) -> Type:
        return self._field(node, scope, optional=True)

    def _has(self, node: Node, scope: Mapping[str, Type]) -> Type:
        self._field(node, scope, optional=False)
        return BOOL

    def _field(self, node: Node, scope: Mapping[str, Type], *, optional: bool) -> Type:
        holder = self._types.plain(self.check(node.parts[0], scope))
        within = holder[0] == OPTIONAL
        held = holder[1] if within else holder
        found: Type = DYN
        if held[0] == "map":
            found = held[2]
        elif held[0] == "object":
            known = held[1].fields.get(node.value)
            found = self._wrong(node, f"undefined field '{node.value}'") if known is None else known
        elif held[0] == "var":
            self._types.fits([DYN], [held])
        elif held == UNKNOWN:
            found = UNKNOWN
        elif held[0] not in WILD:
            self._wrong(node, f"type '{shown(held)}' does not support field selection")
        found = self._types.plain(found)
        return (OPTIONAL, found) if optional or within else found

    def _call(self, node: Node, scope: Mapping[str, Type]) -> Type:
        name, parts, method = _qualified(node) or str(node.value), node.parts, node.method
        if name != node.value:
            parts, method = parts[1:], False
        arguments = [self.check(part, scope) for part in (*parts[1:], *parts[:1])] if method else []
        given = [arguments[-1], *arguments[:-1]] if method else [self.check(part, scope) for part in parts]
        known = functions().get(name)
        if known is None:
            return self._wrong(node, f"undeclared reference to '{name}' (in container '')")
        if name in ("_&&_", "_||_"):
            fit = [self._expect(part, BOOL, given_type) for part, given_type in zip(parts, given, strict=True)]
            return BOOL if all(fit) else ERROR
        found = self._resolved(node, [it for it in known if it.method is method], given)
        if found is None:
            return self._no_overload(node, name, given, method=method)
        return found

    def _resolved(self, node: Node, candidates: list[Overload], given: list[Type]) -> Type | None:
        result: Type | None = None
        chosen = self._overloads[id(node)] = []
        for overload in candidates:
            by = {name: self._types.fresh() for name in _parameters(overload)}
            if self._types.fits(given, [replaced(param, by) for param in overload.params]):
                chosen.append(overload)
                result_type = self._types.plain(replaced(overload.result, by))
                if result is None:
                    result = result_type
                elif result[0] not in ("dyn", "any", "unknown") and result_type != result:
                    result = UNKNOWN if UNKNOWN in map(self._types.plain, given) else DYN
        return result

    def _no_overload(self, node: Node, name: str, given: list[Type], *, method: bool) -> Type:
        texts = [shown(self._types.plain(given_type, rest_dyn=True)) for given_type in given]
        told = f"{texts[0]}.({', '.join(texts[1:])})" if method else f"({', '.join(texts)})"
        return self._wrong(node, f"found no matching overload for '{name}' applied to '{told}'")

    def _expect(self, node: Node, wanted: Type, given: Type) -> bool:
        fits = self._types.fits([wanted], [given])
        if not fits:
            told = shown(self._types.plain(given))
            self._wrong(node, f"expected type '{shown(self._types.plain(wanted))}' but found '{told}'")
        return fits

    def _joined(self, before: Type | None, value_type: Type) -> Type:
        """Return the common type of the items of a list to which this item is added."""
        if before is None:
            return value_type
        if self._types.fits([before], [value_type]):
            return before if less_specific(before, value_type) else value_type
        return DYN

    def _unwrapped(self, node: Node, value_type: Type, optional: bool) -> Type:
        if not optional:
            return value_type
        value_type = self._types.plain(value_type)
        if value_type[0] == OPTIONAL:
            inner: Type = value_type[1]
            return inner
        if value_type[0] not in WILD:
            self._wrong(node, f"expected type '{shown((OPTIONAL, value_type))}' but found '{shown(value_type)}'")
        return value_type

    def _list(self, node: Node, scope: Mapping[str, Type]) -> Type:
        items: Type | None = None
        for index, part in enumerate(node.parts):
            value_type = self._unwrapped(part, self.check(part, scope), index in node.value)
            items = self._joined(items, value_type)
        return ("list", items or self._types.fresh())

    def _map(self, node: Node, scope: Mapping[str, Type]) -> Type:
        keys: Type | None = None
        values: Type | None = None
        for index in range(0, len(node.parts), 2):
            key, value = node.parts[index : index + 2]
            keys = self._joined(keys, self.check(key, scope))
            value_type = self._unwrapped(value, self.check(value, scope), index in node.value)
            values = self._joined(values, value_type)
        return ("map", keys or self._types.fresh(), values or self._types.fresh())

    def _struct(self, node: Node, scope: Mapping[str, Type]) -> Type:
        """Return the type of a struct. Those of policies (`Object{...}`, `JSONPatch{...}`) may have any fields; there
        are no others.
        """
        for part in node.parts:
            self.check(part.parts[0], scope)
        holder = scope.get(str(node.value).partition(".")[0])
        if holder == UNKNOWN:
            return UNKNOWN
        if holder is not None:
            return self._wrong(node, f"'{shown(holder)}' is not a type")
        return self._wrong(node, f"undeclared reference to '{node.value}' (in container '')")

    def _fold(self, node: Node, scope: Mapping[str, Type]) -> Type:
        fold: Fold = node.value
        through, first, holds, step, result = node.parts
        given = self._types.plain(self.check(through, scope))
        made = self.check(first, scope)
        item, value = self._items(through, given, two=bool(fold.value))
        outer = {**scope, fold.made: made}
        inner = {**outer, fold.item: item, **({fold.value: value} if fold.value else {})}
        self._expect(holds, BOOL, self.check(holds, inner))
        self._expect(step, made, self.check(step, inner))
        found = self._types.plain(self.check(result, outer))
        return UNKNOWN if found == DYN and given == UNKNOWN and fold.made != RESULT else found

    def _items(self, node: Node, given: Type, *, two: bool) -> tuple[Type, Type]:
        """Return the types of a fold's variables: of an item or a key; or of an index or a key, and of the value."""
        if given[0] == "list":
            return (INT, given[1]) if two else (given[1], DYN)
        if given[0] == "map":
            return given[1], given[2]
        if given[0] in (*WILD, "var"):
            self._types.fits([DYN], [given])
            return (UNKNOWN, UNKNOWN) if given == UNKNOWN else (DYN, DYN)
        told = f"expression of type '{shown(given)}' cannot be range of a comprehension"
        self._wrong(node, f"{told} (must be list, map, or dynamic)")
        return ERROR, ERROR


def _qualified(node: Node) -> str:
    """Return the name of the function that a call with dots in its name is of; "" if it is of a method."""
    prefix = qualified_name(node.parts[0]) if node.method else ""
    name = f"{prefix}.{node.value}"
    return name if prefix and name in functions() else ""


def _arguments(node: Node) -> tuple[Node, ...]:
    return node.parts[1:] if node.method else node.parts


def _parameters(overload: Overload) -> set[str]:
    names: set[str] = set()

    def look(value_type: Any) -> None:
        if value_type[0] == "param":
            names.add(value_type[1])
        else:
            for part in value_type[1:]:
                look(part)

    for value_type in (*overload.params, overload.result):
        look(value_type)
    return names
