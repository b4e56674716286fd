"""Conditions judged on the runs of two sides."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from batkube.comparison.expressions import Condition, Expression, Figure, NoValue, value
from batkube.comparison.facts import RecordedRun, common
from batkube.comparison.figure_names import COUNTS, MEASURES
from batkube.comparison.sides import Side, pairs
from batkube.comparison.statistics import (
    FEWEST,
    Interval,
    difference_interval,
    mean,
    mean_interval,
    serial_interval,
)
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

    Without a baseline in it, it is true if it is in each run. With one, the means over runs are compared; and where
    there is chance, because there are FEWEST runs or more, or the seeds are others, it has to be told from that.
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
    chance = not together or any(_seed(before) != _seed(run) for _, before, run in together)
    if together:
        both = [
            (_value(condition.left, run, before), _value(condition.right, run, before)) for _, before, run in together
        ]
        left, right = mean([a for a, _ in both]), mean([b for _, b in both])
        if len(both) >= FEWEST:
            interval = mean_interval([a - b for a, b in both])
        elif chance:
            interval = _over_jobs(condition, together)
    else:
        left, right, interval = _two_samples(condition, side, baseline)
    holds = condition.holds(left, right)
    why = _sides(condition, left, right)
    if condition.sign in ("==", "!=") or left == right:
        return Judgement(condition, "true" if holds else "false", why)
    if interval is not None:
        why += f" (95 % of the difference: {number(interval.low)} to {number(interval.high)})"
        # Only what is told apart from the limit counts.
        if interval.low <= 0 <= interval.high:
            return Judgement(condition, "untold", why)
    elif chance and not all(figure.name in COUNTS for figure in condition.figures()):
        return Judgement(condition, "untold", f"{why}; runs of other seeds, and too few of them")
    return Judgement(condition, "true" if holds else "false", why)


def _seed(run: RecordedRun) -> int | None:
    return run.run.seed if run.run is not None else None


def _over_jobs(condition: Condition, together: Sequence[tuple[str, RecordedRun, RecordedRun]]) -> Interval | None:
    """Return the interval of a mean's distance from its limit, job by job; None if the condition is of another kind.

    It is for runs of other seeds, of which there are too few.
    """
    left = condition.left
    if not isinstance(left, Figure) or left.group is not None or left.baseline:
        return None
    statistic, _, measure = left.name.partition("_")
    others = [figure for figure in condition.figures()[1:] if (figure.name, figure.group) != (left.name, None)]
    if statistic != "mean" or measure not in MEASURES.values() or others:
        return None
    distances = []
    for _, before, run in together:
        for job in common(before.jobs, run.jobs):
            was, now = before.jobs[job].measures, run.jobs[job].measures
            if was is not None and now is not None:
                limit = value(condition.right, _measure_of(now, was, measure))
                distances.append(now[measure] - limit)
        before.forget()
        run.forget()
    return serial_interval(distances)


def _measure_of(now: Mapping[str, float], was: Mapping[str, float], measure: str) -> Callable[[Figure], float]:
    return lambda figure: (was if figure.baseline else now)[measure]


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
