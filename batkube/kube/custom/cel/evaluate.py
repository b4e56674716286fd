"""The value of an expression."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .functions import FUNCTIONS, LIBRARIES, METHODS
from .operators import OPERATORS
from .syntax import Node
from .values import CelError, Optional, is_int, is_number, part_of, truth, type_name

MAX_STEPS = 100_000  # of one evaluation: a rule may not hold the server up

Scope = Mapping[str, Any]


def evaluate(node: Node, scope: Scope) -> Any:
    """The value, with the variables of `scope`."""
    try:
        return _Evaluation().value(node, scope)
    except RecursionError:
        raise CelError("the expression is too long") from None


class _Evaluation:
    def __init__(self) -> None:
        self._steps = 0

    def value(self, node: Node, scope: Scope) -> Any:
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise CelError("operation cancelled: actual cost limit exceeded")
        return getattr(self, f"_{node.kind}")(node, scope)

    def _literal(self, node: Node, scope: Scope) -> Any:
        return node.value

    def _name(self, node: Node, scope: Scope) -> Any:
        if node.value not in scope and node.value in _TYPE_NAMES:
            return node.value
        if node.value not in scope:
            raise CelError(f"undeclared reference to '{node.value}'")
        return scope[node.value]

    def _select(self, node: Node, scope: Scope) -> Any:
        holder = self.value(node.parts[0], scope)
        name = _unescaped(node.value)
        if isinstance(holder, Optional):
            return part_of(holder, name)
        if not isinstance(holder, dict):
            raise CelError(f"type '{type_name(holder)}' does not support field selection")
        if name not in holder:
            raise CelError(f"no such key: {name}")
        return holder[name]

    def _index(self, node: Node, scope: Scope) -> Any:
        holder, index = (self.value(part, scope) for part in node.parts)
        if isinstance(holder, Optional):
            return part_of(holder, index)
        if isinstance(holder, list) and is_int(index):
            if not 0 <= index < len(holder):
                raise CelError(f"index out of bounds: {index}")
            return holder[index]
        if isinstance(holder, dict):
            if index not in holder:
                raise CelError(f"no such key: {index}")
            return holder[index]
        raise CelError("no such overload")

    def _maybe_select(self, node: Node, scope: Scope) -> Any:
        return part_of(self.value(node.parts[0], scope), _unescaped(node.value))

    def _maybe_index(self, node: Node, scope: Scope) -> Any:
        holder, index = (self.value(part, scope) for part in node.parts)
        return part_of(holder, index)

    def _list(self, node: Node, scope: Scope) -> Any:
        return [self.value(part, scope) for part in node.parts]

    def _map(self, node: Node, scope: Scope) -> Any:
        values = [self.value(part, scope) for part in node.parts]
        return dict(zip(values[::2], values[1::2], strict=True))

    def _choice(self, node: Node, scope: Scope) -> Any:
        return self.value(node.parts[1 if truth(self.value(node.parts[0], scope)) else 2], scope)

    def _unary(self, node: Node, scope: Scope) -> Any:
        value = self.value(node.parts[0], scope)
        if node.value == "!":
            return not truth(value)
        if not is_number(value):
            raise CelError("no such overload")
        return -value

    def _binary(self, node: Node, scope: Scope) -> Any:
        if node.value in ("&&", "||"):
            return self._logical(node, scope)
        left, right = (self.value(part, scope) for part in node.parts)
        return OPERATORS[node.value](left, right)

    def _logical(self, node: Node, scope: Scope) -> bool:
        """One side that decides is enough, even if the other has no value."""
        decides = node.value == "||"
        problem: CelError | None = None
        for part in node.parts:
            try:
                if truth(self.value(part, scope)) is decides:
                    return decides
            except CelError as error:
                problem = error
        if problem is not None:
            raise problem
        return not decides

    def _call(self, node: Node, scope: Scope) -> Any:
        name = node.value
        if name == "has" and not node.method and len(node.parts) == 1 and node.parts[0].kind == "select":
            select = node.parts[0]
            holder = self.value(select.parts[0], scope)
            return isinstance(holder, dict) and _unescaped(select.value) in holder
        if node.method and name in _MACROS and len(node.parts) >= 3 and node.parts[1].kind == "name":
            return self._macro(node, scope)
        if node.method and name in ("optMap", "optFlatMap") and len(node.parts) == 3:
            return self._mapped(node, scope)
        library = node.parts[0].value if node.method and node.parts[0].kind == "name" else ""
        if f"{library}.{name}" in LIBRARIES and library not in scope:
            function: Callable[..., Any] | None = LIBRARIES[f"{library}.{name}"]
            arguments = [self.value(part, scope) for part in node.parts[1:]]
        else:
            arguments = [self.value(part, scope) for part in node.parts]
            function = METHODS.get(name) if node.method else FUNCTIONS.get(name)
        if function is None:
            raise CelError(f"undeclared reference to '{name}'")
        try:
            return function(*arguments)
        except (TypeError, AttributeError, ValueError, OverflowError) as error:
            raise CelError(f"no such overload: {name}: {error}") from None

    def _mapped(self, node: Node, scope: Scope) -> Any:
        """What an expression makes of an optional value, if it is there."""
        holder, variable, then = node.parts
        given = self.value(holder, scope)
        if not isinstance(given, Optional):
            raise CelError("no such overload")
        if not given.there:
            return given
        made = self.value(then, {**scope, variable.value: given.value})
        return made if node.value == "optFlatMap" else Optional(True, made)

    def _macro(self, node: Node, scope: Scope) -> Any:
        holder = self.value(node.parts[0], scope)
        if not isinstance(holder, list | dict):
            raise CelError("expression of this type cannot be the range of a comprehension")
        variable = node.parts[1].value
        scopes = [{**scope, variable: item} for item in holder]
        if node.value != "map" and len(node.parts) == 4 and node.parts[2].kind == "name":
            pairs_of = holder.items() if isinstance(holder, dict) else enumerate(holder)
            scopes = [{**scope, variable: key, node.parts[2].value: item} for key, item in pairs_of]
            node = Node(node.kind, node.value, (node.parts[0], node.parts[1], node.parts[3]), node.method)
        if node.value == "map":
            if len(node.parts) == 4:
                scopes = [its for its in scopes if truth(self.value(node.parts[2], its))]
            return [self.value(node.parts[-1], its) for its in scopes]
        if node.value == "filter":
            pairs = zip(holder, scopes, strict=True)
            return [item for item, its in pairs if truth(self.value(node.parts[2], its))]
        if node.value in ("exists_one", "existsOne"):
            return sum(truth(self.value(node.parts[2], its)) for its in scopes) == 1
        decides = node.value == "exists"
        problem: CelError | None = None
        for its in scopes:
            try:
                if truth(self.value(node.parts[2], its)) is decides:
                    return decides
            except CelError as error:
                problem = error
        if problem is not None:
            raise problem
        return not decides


_MACROS = frozenset(("all", "exists", "exists_one", "existsOne", "map", "filter"))
# Names that CEL reserves are written with underscores.
_RESERVED = {f"__{name}__": name for name in ("namespace", "if", "in", "for", "break", "const", "package", "import")}
_SYMBOLS = {"__dot__": ".", "__dash__": "-", "__slash__": "/", "__underscores__": "__"}


def _unescaped(name: str) -> str:
    if name in _RESERVED:
        return _RESERVED[name]
    for escape, symbol in _SYMBOLS.items():
        name = name.replace(escape, symbol)
    return name


_TYPE_NAMES = frozenset(
    ("bool", "bytes", "double", "int", "list", "map", "null_type", "string", "uint", "type", "timestamp", "duration")
)
