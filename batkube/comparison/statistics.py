"""Confidence intervals by the bootstrap: can a difference be told from chance?

Percentile intervals, widened for few values as Student's t is (T. C. Hesterberg, What teachers should know about the
bootstrap, The American Statistician 69(4), 2015: the expanded percentile interval). The draws follow from a fixed seed:
the same values give the same interval.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from random import Random
from statistics import NormalDist

LEVEL = 0.95
RESAMPLES = 2000
FEWEST = 5
"""The runs on a side below which no interval over runs is given: with fewer it would hold far less than LEVEL."""
_SEED = 20150101


@dataclass(frozen=True, slots=True)
class Interval:
    """The bounds of the true mean, with a confidence of LEVEL."""

    low: float
    high: float

    @property
    def tells(self) -> bool:
        """True if zero is outside: there is a difference."""
        return self.low > 0 or self.high < 0


def mean(values: Sequence[float]) -> float:
    """Return the mean, the same whatever the order."""
    return math.fsum(values) / len(values)


def mean_interval(values: Sequence[float]) -> Interval | None:
    """Return the interval of the mean of values that do not depend on one another; None for fewer than FEWEST."""
    if len(values) < FEWEST:
        return None
    return _percentiles(_resampled_means(values, 1, Random(_SEED)), len(values))


def serial_interval(values: Sequence[float]) -> Interval | None:
    """Return the interval of the mean of values in a row of which neighbours are alike, as jobs of a queue are.

    Blocks of neighbours are drawn, not single values (D. N. Politis, J. P. Romano, A circular block-resampling
    procedure for stationary data, 1992).
    """
    blocks = len(values) // block_length(len(values)) if values else 0
    if blocks < FEWEST:
        return None
    return _percentiles(_resampled_means(values, block_length(len(values)), Random(_SEED)), blocks)


def difference_interval(left: Sequence[float], right: Sequence[float]) -> Interval | None:
    """Return the interval of mean(right) - mean(left), of values that do not go in pairs."""
    fewest = min(len(left), len(right))
    if fewest < FEWEST:
        return None
    draw = Random(_SEED)
    lefts, rights = _resampled_means(left, 1, draw), _resampled_means(right, 1, draw)
    return _percentiles([b - a for a, b in zip(lefts, rights, strict=True)], fewest)


def block_length(count: int) -> int:
    """Return how many neighbours are drawn together: the square root of all."""
    return max(1, math.isqrt(count))


def _resampled_means(values: Sequence[float], length: int, draw: Random) -> list[float]:
    """Return the means of RESAMPLES samples, made of blocks of ``length`` neighbours; the row is taken as a ring."""
    count = len(values)
    ring = [*values, *values[: length - 1]]
    sums = [0.0, *accumulate(ring)]
    blocks = [sums[start + length] - sums[start] for start in range(count)]
    number = max(1, round(count / length))
    random = draw.random
    return [
        math.fsum(blocks[int(random() * count)] for _ in range(number)) / (number * length) for _ in range(RESAMPLES)
    ]


def _percentiles(means: list[float], count: int) -> Interval:
    means.sort()
    tail = NormalDist().cdf(-math.sqrt(count / (count - 1)) * _student(count - 1))
    low = min(len(means) - 1, int(tail * len(means)))
    return Interval(means[low], means[-1 - low])


@cache
def _student(freedom: int) -> float:
    """Return the two-sided quantile of Student's t at LEVEL (G. W. Hill, Algorithm 396, CACM 13(10), 1970)."""
    if freedom == 1:
        return math.tan(math.pi / 2 * LEVEL)
    if freedom == 2:
        tail = 1 - LEVEL
        return math.sqrt(2 / (tail * (2 - tail)) - 2)
    n, p = float(freedom), 1 - LEVEL
    a = 1 / (n - 0.5)
    b = 48 / (a * a)
    c = ((20700 * a / b - 98) * a - 16) * a + 96.36
    d = ((94.5 / (b + c) - 3) / b + 1) * math.sqrt(a * math.pi / 2) * n
    y = (d * p) ** (2 / n)
    if y > 0.05 + a:
        x = NormalDist().inv_cdf(p / 2)
        y = x * x
        if n < 5:
            c += 0.3 * (n - 4.5) * (x + 0.6)
        c = (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b + c
        y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * x
        y = math.expm1(a * y * y)
    else:
        y = ((1 / (((n + 6) / (n * y) - 0.089 * d - 0.822) * (n + 2) * 3) + 0.5 / (n + 4)) * y - 1) * (n + 1) / (
            n + 2
        ) + 1 / y
    return math.sqrt(n * y)
