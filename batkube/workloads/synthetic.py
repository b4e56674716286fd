"""Workloads that nobody has seen: drawn from a seed, by distributions or like those of a trace."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import log
from random import Random
from typing import Any, TypeVar

from batkube.workloads.reader import FormatError, Record

Choice = TypeVar("Choice")
JSON = dict[str, Any]

SHORTEST = 1.0
"""The least seconds of a duration that is drawn."""
LONGEST = 30 * 86400.0
MILLISECONDS = 3


@dataclass(frozen=True)
class Shape:
    """The shape of the jobs to make. Times are simulated seconds."""

    every: float = 30.0
    """The mean time from one submission to the next; these come at random (exponential)."""
    duration: float = 600.0
    """The median of the durations, which are lognormal."""
    spread: float = 1.0
    """The standard deviation of the logarithm of the durations."""
    sizes: Sequence[tuple[int, float]] = ((1, 1.0),)
    """Numbers of pods, with their weights."""
    cpus: Sequence[tuple[str, float]] = (("1", 1.0),)
    """The cores that a pod may ask for, each with its weight."""
    users: int = 10
    """The number of users; the n-th has a part of 1/n of what the first has."""
    priorities: Sequence[tuple[int, float]] = ()
    """Priorities with their weights; none where jobs have none."""


def drawn(shape: Shape, count: int, seed: int) -> Iterator[Record]:
    """Yield so many jobs, in order of submission."""
    random, urgency = Random(f"generate {seed}"), Random(f"generate {seed} priorities")
    weights = list(accumulate(1 / number for number in range(1, shape.users + 1)))
    now = 0.0
    for number in range(1, count + 1):
        length = min(max(random.lognormvariate(log(shape.duration), shape.spread), SHORTEST), LONGEST)
        wants: JSON = {"cpu": _one_of(random, shape.cpus), "user": f"user-{_index(random, weights) + 1}"}
        if shape.priorities:  # drawn apart: the jobs are the same with them and without
            wants["priority"] = _one_of(urgency, shape.priorities)
        yield Record(
            str(number),
            round(now, MILLISECONDS),
            round(length, MILLISECONDS),
            _one_of(random, shape.sizes),
            wants=wants,
        )
        now += random.expovariate(1 / shape.every)


def drawn_like(trace: Sequence[Record], count: int, seed: int, every: float | None = None) -> Iterator[Record]:
    """Yield so many jobs, in order of submission, each as one of the trace is, with the times between those of a trace.

    So sizes, durations, users and what they ask for stay together as they were. ``every``: the mean time from one
    submission to the next; None: that of the trace. Raises FormatError for a trace of less than two jobs.
    """
    if len(trace) < 2:
        raise FormatError("--like: a trace of at least two jobs is needed")
    dates = sorted(record.submit for record in trace)
    gaps = [later - earlier for earlier, later in pairwise(dates)]
    mean = sum(gaps) / len(gaps)
    if every is not None and mean == 0:
        raise FormatError("--every: all jobs of the trace come at once, so that there is no time between them")
    scale = 1.0 if every is None else every / mean
    random = Random(f"generate {seed}")
    now = 0.0
    for number in range(1, count + 1):
        model = trace[random.randrange(len(trace))]
        yield Record(str(number), round(now, MILLISECONDS), model.duration, model.pods, model.walltime, model.wants)
        now += gaps[random.randrange(len(gaps))] * scale


def _one_of(random: Random, choices: Sequence[tuple[Choice, float]]) -> Choice:
    return choices[_index(random, list(accumulate(weight for _, weight in choices)))][0]


def _index(random: Random, sums: Sequence[float]) -> int:
    """Return the place of a draw in the sums of weights."""
    point = random.random() * sums[-1]
    return next(index for index, total in enumerate(sums) if point < total)
