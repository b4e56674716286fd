"""Conditions judged on the runs of two sides."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from batkube.comparison.expressions import Condition, Expression, Figure, NoValue, value
from batkube.comparison.facts import RecordedRun
from batkube.comparison.sides import Side, pairs
from batkube.comparison.statistics import FEWEST, Interval, difference_interval, mean, mean_interval
from batkube.comparison.words import number

Truth = Literal["true", "false", "untold", "absent"]
"""``untold``: it may be chance; ``absent``: a figure is not there."""


@dataclass(frozen=True)
class Judgement:
    """Is a condition true, and by which values?"""

    condition: Condition
    truth: Truth
    why: str
    """The values, in words."""


def judge(condition: Condition, side: Side, baseline: Side | None) -> Judgement:
    """Judge a condition. Raises ValueError if it needs a baseline and there is none.

    Without a baseline in it, it is true if it is in each run. With one, the means over runs are compared; and of
    FEWEST pairs of runs or more the interval of the difference has to tell it, too.
    """
    if condition.needs_baseline and baseline is None:
        raise ValueError(f"{condition.text!r} needs a baseline")
    try:
        if baseline is None or not condition.needs_baseline:
            return _in_each(condition, side)
        return _against(condition, side, baseline)
    except NoValue as error:
        return Judgement(condition, "absent", f"there is {error}")


def _in_each(condition: Condition, side: Side) -> Judgement:
    values = []
    for name, run in side.runs.items():
        left, right = (_value(part, run, None) for part in (condition.left, condition.right))
        values.append((name, left, right, condition.holds(left, right)))
    broken = [found for found in values if not found[3]]
    name, left, right, holds = (broken or values)[0]
    why = _sides(condition, left, right) + (f" in run {name}" if broken and name else "")
    if len(broken) > 1:
        why += f", and so in {len(broken) - 1} more"
    return Judgement(condition, "true" if holds else "false", why)


def _against(condition: Condition, side: Side, baseline: Side) -> Judgement:
    together = pairs(baseline, side)
    interval: Interval | None = None
    if together:
        both = [
            (_value(condition.left, run, before), _value(condition.right, run, before)) for _, before, run in together
        ]
        left, right = mean([a for a, _ in both]), mean([b for _, b in both])
        if len(both) >= FEWEST:
            interval = mean_interval([a - b for a, b in both])
    else:
        left, right, interval = _two_samples(condition, side, baseline)
    holds = condition.holds(left, right)
    why = _sides(condition, left, right)
    if interval is not None and condition.sign not in ("==", "!="):
        why += f" (95 % of the difference: {number(interval.low)} to {number(interval.high)})"
        # Only what is told apart from the limit counts.
        if interval.low <= 0 <= interval.high and interval.low != interval.high:
            return Judgement(condition, "untold", why)
    return Judgement(condition, "true" if holds else "false", why)


def _two_samples(condition: Condition, side: Side, baseline: Side) -> tuple[float, float, Interval | None]:
    """Return the means of both sides where no run has its like, and the interval of their difference."""
    befores, runs = list(baseline.runs.values()), list(side.runs.values())
    separate = not any(figure.baseline for figure in _of(condition.left)) and all(
        figure.baseline for figure in _of(condition.right)
    )
    if not separate:
        raise NoValue(f"no way to judge {condition.text!r} on runs that do not go in pairs: its sides mix both")
    lefts = [_value(condition.left, run, None) for run in runs]
    rights = [_value(condition.right, before, before) for before in befores]
    return mean(lefts), mean(rights), difference_interval(rights, lefts)


def _of(expression: Expression) -> Iterator[Figure]:
    yield from Condition("", expression, "==", expression).figures()


def _value(expression: Expression, run: RecordedRun, before: RecordedRun | None) -> float:
    return value(expression, _lookup(run, before))


def _lookup(run: RecordedRun, before: RecordedRun | None) -> Callable[[Figure], float]:
    def find(figure: Figure) -> float:
        where = before if figure.baseline else run
        if where is None:
            raise NoValue(f"no baseline for {figure}")
        values = where.values if figure.group is None else where.group_values(*figure.group)
        found = None if values is None else values[figure.name]
        if found is None:
            raise NoValue(f"no {figure} in {where.path}")
        return found

    return find


def _sides(condition: Condition, left: float, right: float) -> str:
    return f"{number(left)} {condition.sign} {number(right)}"
