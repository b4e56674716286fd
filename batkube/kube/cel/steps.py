"""The steps of an evaluation: functions that return the value of a part of an expression, and count its cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .declarations import Cost
from .library import functions
from .types import Type
from .values import CelError, CostExceeded, Optional, Spent, kind_of, truth

WORK_LIMIT = 1_000_000
"""The work not shown in costs that an evaluation may take, in steps of some tenths of a microsecond each."""
LIST_COST, MAP_COST = 10, 30
_GO_NAMES = {
    **{name: name.title() for name in ("bool", "bytes", "double", "duration", "int", "string", "timestamp", "uint")},
    "null_type": "Null",
}


class Evaluation:
    """One evaluation of an expression: its variables, and its cost so far."""

    __slots__ = ("_work", "cost", "limit", "slots")

    def __init__(self, slots: list[Any], limit: int) -> None:
        self.slots = slots
        self.cost = 0
        self.limit = limit
        self._work = 0

    @property
    def spent(self) -> Spent:
        """The costs and the work so far."""
        return Spent(self.cost, self._work)

    def check(self) -> None:
        """Stop an evaluation whose cost is too high."""
        if self.cost > self.limit:
            raise CostExceeded

    def work(self, steps: int) -> None:
        """Count work that costs do not show."""
        self._work += steps
        if self._work > WORK_LIMIT:
            raise CostExceeded

    def watch(self, steps: int) -> None:
        """Stop a single function that takes too many steps."""
        if steps > WORK_LIMIT:
            raise CostExceeded


class Failed:
    """The value of a fold that has none yet, because of an error."""

    __slots__ = ("error",)

    def __init__(self, error: CelError) -> None:
        self.error = error


Step = Callable[[Evaluation], Any]


def optional(value: Any) -> Optional:
    if not isinstance(value, Optional):
        raise CelError(f"cannot initialize optional entry from non-optional value {value}")
    return value


def items(given: Any) -> list[Any]:
    if isinstance(given, list):
        return given
    if isinstance(given, dict):
        return list(given)
    raise _not_iterable(given)


def entries(given: Any) -> list[tuple[Any, Any]]:
    if isinstance(given, list):
        return list(enumerate(given))
    if isinstance(given, dict):
        return list(given.items())
    raise _not_iterable(given)


def _not_iterable(given: Any) -> CelError:
    return CelError(f"got 'types.{_GO_NAMES.get(kind_of(type(given)), 'Val')}', expected iterable type")


def logical(steps: list[Step], decides: bool) -> Step:
    """Return the step of a logical operator. One side that decides is enough, even if another has no value."""

    def logical(run: Evaluation) -> bool:
        problem: CelError | None = None
        for step in steps:
            try:
                if truth(step(run)) is decides:
                    return decides
            except CostExceeded:
                raise
            except CelError as error:
                problem = error
        if problem is not None:
            raise problem
        return not decides

    return logical


def choice(steps: list[Step], saved: list[bool]) -> Step:
    """Return the step of a choice. `saved` are the costs that are taken off in each branch, for the variables in it."""
    test, then, other = steps
    save_then, save_other = saved

    def choose(run: Evaluation) -> Any:
        if truth(test(run)):
            run.cost -= save_then
            return then(run)
        run.cost -= save_other
        return other(run)

    return choose


def not_strictly_false(step: Step) -> Step:
    def test(run: Evaluation) -> bool:
        try:
            value = step(run)
        except CostExceeded:
            raise
        except CelError:
            value = True
        run.cost += 1
        return value is not False

    return test


def otherwise(given: Step, other: Step, optional: bool) -> Step:
    def choose(run: Evaluation) -> Any:
        value = given(run)
        if not isinstance(value, Optional):
            raise CelError("no such overload")
        if value.there:
            return value if optional else value.value
        return other(run)

    return choose


def appended(made: Step, item: Step, cost: int) -> Step:
    """Add to the list that a fold makes, and that nothing else refers to yet."""

    def append(run: Evaluation) -> list[Any]:
        values: list[Any] = made(run)
        values.append(item(run))
        run.cost += cost + 1
        return values

    return append


def quantifier(through: Step, test: Step, places: tuple[int, ...], decides: bool) -> Step:
    """Return the fold of `all` or `exists`, without its condition and its next value, which are known."""
    two = len(places) == 2
    item, value = places[0], places[-1]
    cost = 3 if decides else 2  # of the condition

    def go(run: Evaluation) -> bool:
        given, slots = through(run), run.slots
        problem: CelError | None = None
        decided = False
        for here in entries(given) if two else items(given):
            run.cost += cost
            if decided:
                break
            if two:
                slots[item], slots[value] = here
            else:
                slots[item] = here
            run.cost += 1
            if run.cost > run.limit:
                raise CostExceeded
            try:
                decided = truth(test(run)) is decides
            except CostExceeded:
                raise
            except CelError as error:
                problem = error
        run.cost += 1
        if problem is not None and not decided:
            raise problem
        return decides is decided

    return go


class Dispatch:
    """The choice of an overload by the types of the values."""

    def __init__(self, name: str, method: bool, count: int, *, free: bool) -> None:
        self._name = name
        self._free = free
        known = functions().get(name, [])
        self._known = [it for it in known if it.method is method and len(it.params) == count]
        self.found: dict[tuple[type, ...], _Call] = {}
        """The calls by the types of the arguments: the function, its cost (None: one), and True if it is watched."""

    def look(self, *kinds: type) -> _Call:
        """Return the call for values of those types."""
        for overload in self._known:
            if all(map(_fits, overload.params, kinds)):
                costs = _nothing if self._free else overload.costs
                self.found[kinds] = (overload.call, costs, overload.watched)
                return self.found[kinds]
        told = "" if not self._name.isalnum() else f": {self._name}({', '.join(map(kind_of, kinds))})"
        raise CelError(f"no such overload{told if self._name != 'size' else ': size'}")


_Call = tuple[Callable[..., Any], Cost | None, bool]


def _nothing(*values: Any) -> int:
    return 0


def _fits(param: Type, kind: type) -> bool:
    return param[0] in ("param", "dyn") or param[0] == kind_of(kind)


def called(dispatch: Dispatch, steps: list[Step]) -> Step:
    if len(steps) == 2:
        return _called_on_two(dispatch, *steps)
    found, look = dispatch.found, dispatch.look

    def step(run: Evaluation) -> Any:
        values = [step(run) for step in steps]
        kinds = tuple(map(type, values))
        call, costs, watched = found.get(kinds) or look(*kinds)
        try:
            result = call(run, *values) if watched else call(*values)
        except (ValueError, OverflowError) as error:
            raise CelError(str(error)) from None
        run.cost += 1 if costs is None else costs(*values, result)
        return result

    return step


def _called_on_two(dispatch: Dispatch, first: Step, second: Step) -> Step:
    """Return the same as `_called`, but faster: nearly all calls of rules are operators."""
    found, look = dispatch.found, dispatch.look

    def step(run: Evaluation) -> Any:
        left, right = first(run), second(run)
        kinds = (type(left), type(right))
        call, costs, watched = found.get(kinds) or look(*kinds)
        try:
            result = call(run, left, right) if watched else call(left, right)
        except (ValueError, OverflowError) as error:
            raise CelError(str(error)) from None
        run.cost += 1 if costs is None else costs(left, right, result)
        return result

    return step


def indexed(step: Step, more: int) -> Step:
    if not more:
        return step

    def take(run: Evaluation) -> Any:
        value = step(run)
        run.cost += more
        return value

    return take
