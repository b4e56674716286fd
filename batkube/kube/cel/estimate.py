"""The most that an expression costs, told before it is evaluated (`google/cel-go/checker/cost.go`).

Values have the sizes that their declarations allow. Where none is declared, the largest number is taken.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from .call_estimates import Call, Estimate, Operand, estimate
from .checker import Checked, target_and_arguments
from .macros import RESULT, Fold
from .sizes import LARGEST, NOWHERE, ONE, UNKNOWN_SIZE, Path, Size, exactly, plus, times
from .tree import Node, qualified_name
from .types import OPTIONAL, Type

Bounds = Callable[[list[str]], Size | None]
"""A function that returns the size of the value to which steps lead, None if they lead nowhere. The first step is a
variable.
"""

_NEW = {"list": 10, "map": 30, "struct": 40}
_SCALARS = ("bool", "double", "duration", "int", "timestamp", "uint")
_WITH_FIELDS = ("map", "object")


@dataclass(frozen=True, slots=True)
class _Entries:
    """The sizes of what is in a list or a map."""

    kind: str
    key: Size
    value: Size

    def __or__(self, other: _Entries) -> _Entries:
        return _Entries(self.kind, self.key | other.key, self.value | other.value)


@dataclass(frozen=True, slots=True)
class _Local:
    """A variable of a fold."""

    path: Path
    size: Size | None
    entries: _Entries | None = None


def estimated(checked: Checked, bounds: Bounds) -> int:
    """Return the highest cost of a checked expression."""
    return _Estimation(checked, bounds).cost(checked.node)


class _Estimation:
    def __init__(self, checked: Checked, bounds: Bounds) -> None:
        self._checked = checked
        self._bounds = bounds
        self._paths: dict[int, Path] = {}
        self._sizes: dict[int, Size] = {}
        self._entries: dict[int, _Entries] = {}
        self._locals: defaultdict[str, list[_Local]] = defaultdict(list)

    # -- costs

    def cost(self, node: Node) -> int:
        found: int = getattr(self, f"_{node.kind}")(node)
        return found

    def _literal(self, node: Node) -> int:
        return 0

    def _name(self, node: Node) -> int:
        local = self._local(node)
        self._paths[id(node)] = Path.of(str(node.value)) if local is None else local.path
        return 1

    def _select(self, node: Node) -> int:
        holder = node.parts[0]
        if not self._checked.has(holder):
            self._paths[id(node)] = Path.of(qualified_name(node))
            return 1
        cost = self.cost(holder)
        self._paths[id(node)] = self._path(holder).grown(str(node.value))
        return plus(cost, self._checked.type_of(holder)[0] in _WITH_FIELDS)

    def _maybe_select(self, node: Node) -> int:
        cost = self.cost(node.parts[0])
        self._size(node.parts[0])
        self._keep_size(node, self._size(node))
        return plus(cost, 1)

    def _has(self, node: Node) -> int:
        return self.cost(node.parts[0])

    def _list(self, node: Node) -> int:
        cost, items = 0, self._nothing_or_all(node)
        for part in node.parts:
            cost = plus(cost, self.cost(part))
            items |= self._size(part) or UNKNOWN_SIZE
        self._entries[id(node)] = _Entries("list", ONE, items)
        return plus(cost, _NEW["list"])

    def _map(self, node: Node) -> int:
        cost, sizes = 0, [self._nothing_or_all(node), self._nothing_or_all(node)]
        for index, part in enumerate(node.parts):
            cost = plus(cost, self.cost(part))
            sizes[index % 2] |= self._size(part) or UNKNOWN_SIZE
        self._entries[id(node)] = _Entries("map", *sizes)
        return plus(cost, _NEW["map"])

    @staticmethod
    def _nothing_or_all(node: Node) -> Size:
        return Size(LARGEST if node.parts else 0, 0)

    def _struct(self, node: Node) -> int:
        return plus(*(self.cost(part.parts[0]) for part in node.parts), _NEW["struct"])

    def _call(self, node: Node) -> int:
        target, parts = target_and_arguments(node)
        if node.value in ("_&&_", "_||_"):
            return plus(*map(self.cost, parts))
        if node.value == "dyn" and target is None:
            cost = self.cost(parts[0])
            self._copy_sizes(node, parts[0])
            return plus(cost, 1)
        costs, arguments = [], []
        for part in parts:
            costs.append(self.cost(part))
            arguments.append(self._operand(part))
        on = None
        if target is not None:
            costs.append(self.cost(target))
            on = self._operand(target)
        if node.value == "_?_:_":
            return self._conditional(node, costs)
        most = 0
        size: Size | None = None
        for overload in self._checked.overloads_of(node):
            found = estimate(Call(overload, on, arguments))
            most = max(most, found.cost)
            size = self._result(node, overload.params, parts, found, size)
        self._keep_size(node, size)
        return plus(most, *costs)

    def _result(
        self, node: Node, params: tuple[Type, ...], parts: tuple[Node, ...], found: Estimate, size: Size | None
    ) -> Size | None:
        """Return the size of a call's result, as it is after one more of its overloads."""
        if found.size is not None:
            size = found.size if size is None else size | found.size
        if node.value == "_+_" and params[0][0] in ("string", "bytes", "list"):
            self._join_entries(node, parts)
        if node.value == "_[_]" and params[0][0] in ("list", "map"):
            within = self._entries_of(parts[0])
            size = within.value if within is not None else None
            step = "@items" if params[0][0] == "list" else "@values"
            self._paths[id(node)] = self._path(parts[0]).grown(step)
        return size or self._size(node)

    def _conditional(self, node: Node, costs: list[int]) -> int:
        _, then, other = node.parts
        size = (self._size(then) or UNKNOWN_SIZE) | (self._size(other) or UNKNOWN_SIZE)
        self._join_entries(node, (then, other))
        self._keep_size(node, size)
        return plus(costs[0], max(costs[1:]))

    def _join_entries(self, node: Node, parts: tuple[Node, ...]) -> None:
        one, other = map(self._entries_of, parts)
        if one is not None and other is not None:
            self._entries[id(node)] = one | other

    def _fold(self, node: Node) -> int:
        fold: Fold = node.value
        through, first, holds, step, result = node.parts
        cost = plus(self.cost(through), self.cost(first))
        made = _Local(self._path(first), self._size(first), self._entries_of(first))
        self._locals[fold.made].append(made)
        if _is_binding(node):
            cost = plus(cost, self.cost(result))
            self._locals[fold.made].pop()
            self._copy_sizes(node, result)
            return cost
        variables = self._variables(fold, through)
        for name, variable in variables:
            self._locals[name].append(variable)
        each = plus(self.cost(holds), self.cost(step))
        for name, _ in variables:
            self._locals[name].pop()
        cost = plus(cost, self.cost(result))
        self._locals[fold.made].pop()
        count = self._size(through) or UNKNOWN_SIZE
        if first.kind == "literal":
            self._keep_size(node, self._size(first))
        elif first.kind in ("list", "map"):
            self._keep_size(node, count)
            if (entries := self._entries_of(step)) is not None:
                self._entries[id(node)] = entries
        return plus(cost, times(count.most, each))

    def _variables(self, fold: Fold, through: Node) -> list[tuple[str, _Local]]:
        """Return the variables of a fold: of an item or a key, or of an index or a key, and of the value."""
        entries = self._entries_of(through)
        key, value = (entries.key, entries.value) if entries is not None else (None, None)
        is_list = (entries.kind if entries is not None else self._checked.type_of(through)[0]) == "list"

        def local(step: str, size: Size | None) -> _Local:
            return _Local(self._path(through).grown(step), size)

        if fold.value:
            keys = local("@indices" if is_list else "@keys", key)
            return [(fold.item, keys), (fold.value, local("@items" if is_list else "@values", value))]
        return [(fold.item, local("@items", value) if is_list else local("@keys", key))]

    # -- paths and sizes

    def _local(self, node: Node) -> _Local | None:
        known = self._locals.get(str(node.value)) if node.kind == "name" else None
        return known[-1] if known else None

    def _path(self, node: Node) -> Path:
        local = self._local(node)
        return self._paths.get(id(node), NOWHERE) if local is None else local.path

    def _operand(self, node: Node) -> Operand:
        return Operand(node, self._checked.type_of(node), self._path(node), self._size(node), self._bound)

    def _bound(self, path: Path) -> Size | None:
        steps = path.steps()
        return self._bounds(steps) if steps else None

    def _keep_size(self, node: Node, size: Size | None) -> None:
        if size is not None:
            self._sizes[id(node)] = size

    def _copy_sizes(self, to: Node, of: Node) -> None:
        self._keep_size(to, self._size(of))
        if (entries := self._entries_of(of)) is not None:
            self._entries[id(to)] = entries

    def _size(self, node: Node) -> Size | None:
        if (known := self._sizes.get(id(node))) is not None:
            return known
        if (written := _size_as_written(node)) is not None:
            return written
        if (bound := self._bound(self._path(node))) is not None:
            self._sizes[id(node)] = bound
            return bound
        if _is_scalar(self._checked.type_of(node)):
            return ONE
        local = self._local(node)
        return None if local is None else local.size

    def _entries_of(self, node: Node) -> _Entries | None:
        if (known := self._entries.get(id(node))) is not None:
            return known
        local = self._local(node)
        return None if local is None else local.entries


def _is_binding(node: Node) -> bool:
    """Return True if a fold only names a value, as `cel.bind` does."""
    through, _, holds, *_ = node.parts
    fold: Fold = node.value
    return through.kind == "list" and not through.parts and holds.value is False and fold.made != RESULT


def _size_as_written(node: Node) -> Size | None:
    if node.kind == "literal":
        return exactly(len(node.value)) if isinstance(node.value, str | bytes) else ONE
    if node.kind == "list":
        return exactly(len(node.parts))
    return exactly(len(node.parts) // 2) if node.kind == "map" else None


def _is_scalar(value_type: Type) -> bool:
    return value_type[0] in _SCALARS or (value_type[0] == OPTIONAL and _is_scalar(value_type[1]))
