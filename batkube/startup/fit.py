"""A start-up model made from recorded delays, and how well it fits others."""

from bisect import bisect_right
from collections.abc import Sequence
from math import exp, log
from random import Random
from statistics import fmean, pstdev

from batkube.startup.delays import Delay, quantile
from batkube.startup.families import Family
from batkube.startup.model import STAGES, StartupModel
from batkube.startup.recorded import Delays

POINTS = 101
"""The most quantiles that are written: one for each percent."""
FEWEST = 2
"""The fewest delays from which a stage can be fitted."""
_GRID = 1000
"""The number of places at which a model is compared."""


def delays_of(stage: str, rows: Sequence[Delays]) -> list[float]:
    """Return the delays of one stage, from the rows that have it."""
    return [row[stage] for row in rows if stage in row]


def fit(rows: Sequence[Delays], family: Family = Family.QUANTILES) -> StartupModel:
    """Return the model of the stages that have enough rows. Raises ValueError if none has."""
    values = {stage: delays_of(stage, rows) for stage in STAGES}
    return StartupModel(**{stage: _FIT[family](found) for stage, found in values.items() if len(found) >= FEWEST})


def split(rows: Sequence[Delays], part: float, seed: int) -> tuple[list[Delays], list[Delays]]:
    """Return the rows to fit, and a ``part`` (0 to 1) of the rows kept aside, chosen by ``seed``."""
    aside = set(Random(f"{seed} kept aside").sample(range(len(rows)), round(part * len(rows))))
    return (
        [row for index, row in enumerate(rows) if index not in aside],
        [row for index, row in enumerate(rows) if index in aside],
    )


def _quantiles(values: Sequence[float]) -> Delay:
    ordered, last = sorted(values), min(POINTS, len(values)) - 1
    return Delay(quantiles=[round(quantile(ordered, index / last), 6) for index in range(last + 1)])


def _lognormal(values: Sequence[float]) -> Delay:
    """Fit by the moments of the logarithms.

    A shift is subtracted first, such that the quantiles 5, 50 and 95 % lie as those of a lognormal do: its median is
    the geometric mean of its quantiles p and 1 - p.
    """
    ordered = sorted(values)
    low, middle, high = (quantile(ordered, p) for p in (0.05, 0.5, 0.95))
    asymmetry = low + high - 2 * middle
    shift = (low * high - middle**2) / asymmetry if asymmetry > 0 else 0.0
    shift = round(min(max(shift, 0.0), 0.999 * ordered[0]), 6)
    logs = [log(max(value - shift, 1e-6)) for value in values]
    fitted = {"median": round(exp(fmean(logs)), 9), "sigma": round(pstdev(logs), 9), "shift": shift}
    return Delay.model_validate({"lognormal": fitted})


def _exponential(values: Sequence[float]) -> Delay:
    """Fit with the least delay as the shift (without its bias), and the mean of the rest."""
    least, count = min(values), len(values)
    mean = max((fmean(values) - least) * count / (count - 1), 1e-6)
    return Delay.model_validate(
        {"exponential": {"mean": round(mean, 9), "shift": round(max(least - mean / count, 0.0), 9)}}
    )


_FIT = {Family.QUANTILES: _quantiles, Family.LOGNORMAL: _lognormal, Family.EXPONENTIAL: _exponential}


def sample(delay: Delay) -> list[float]:
    """Return a drawn delay's quantiles, at even distances."""
    return [delay.of("", "", (index + 0.5) / _GRID) for index in range(_GRID)]


def start_times(model: StartupModel) -> list[float]:
    """Return times from binding to Running in seconds, drawn as for many pods."""
    drawn = (model.delays(0, str(number), "") for number in range(10 * _GRID))
    return [delays.pulling + delays.pulled + delays.created + delays.started for delays in drawn]


def distance(values: Sequence[float], others: Sequence[float]) -> float:
    """Return the Kolmogorov-Smirnov distance of two samples: the greatest difference of their shares, 0 to 1."""
    one, two = sorted(values), sorted(others)
    return max(abs(bisect_right(one, value) / len(one) - bisect_right(two, value) / len(two)) for value in (*one, *two))
