"""The kinds of delay, in seconds: a constant, a distribution, or a column of recorded delays.

A distribution is known by its quantile function. A pod's delay is one quantile of it, so that the same pod has the same
delay whatever other pods do.
"""

import csv
from collections.abc import Sequence
from math import exp, log
from pathlib import Path
from statistics import NormalDist
from typing import Annotated, Any, Protocol

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationInfo, model_validator

from batkube.named_file import open_named_text
from batkube.startup.errors import StartupError

Seconds = Annotated[float, Field(ge=0, le=1e9)]

STRICT = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, defer_build=True)

_NORMAL = NormalDist()


class Distribution(Protocol):
    """Delays that are drawn."""

    def quantile(self, p: float) -> float:
        """Return the delay in seconds that a part ``p`` (0 < p < 1) of all pods does not exceed."""


class Constant(BaseModel):
    """The same delay for all pods."""

    model_config = STRICT

    seconds: Seconds

    def quantile(self, p: float) -> float:
        """Return the constant."""
        return self.seconds


class Lognormal(BaseModel):
    """``shift`` + a time whose logarithm is normal, with standard deviation ``sigma`` and median ``median``."""

    model_config = STRICT

    median: Annotated[float, Field(gt=0, le=1e9)]
    sigma: Annotated[float, Field(ge=0, le=20)]
    shift: Seconds = 0.0

    def quantile(self, p: float) -> float:
        """Return the exact quantile."""
        return self.shift + self.median * exp(self.sigma * _NORMAL.inv_cdf(p))


class Exponential(BaseModel):
    """``shift`` + an exponential time of mean ``mean``."""

    model_config = STRICT

    mean: Annotated[float, Field(gt=0, le=1e9)]
    shift: Seconds = 0.0

    def quantile(self, p: float) -> float:
        """Return the exact quantile."""
        return self.shift - self.mean * log(1 - p)


class Quantiles(BaseModel):
    """Measured quantiles at even distances, the least first, the greatest last; linear in between."""

    model_config = STRICT

    values: Annotated[list[Seconds], Field(min_length=2)]

    @model_validator(mode="after")
    def _ascend(self) -> "Quantiles":
        for number, (one, next_one) in enumerate(zip(self.values, self.values[1:], strict=False), start=2):
            if next_one < one:
                raise ValueError(f"quantiles must not fall: number {number} is {next_one:g}, after {one:g}")
        return self

    def quantile(self, p: float) -> float:
        """Return the quantile by linear interpolation."""
        return quantile(self.values, p)


class Trace(BaseModel):
    """Recorded delays: ``column`` of a CSV ``file``, whose column ``pod`` or ``job_id`` names their pod or job.

    The path is relative to the folder of the file that names it. Raises ValueError if the CSV cannot be used.
    """

    model_config = STRICT

    file: str
    column: str

    _path: Path = PrivateAttr()
    _key: str = PrivateAttr()
    _delays: dict[str, float] = PrivateAttr(default_factory=dict)

    @model_validator(mode="after")
    def _read(self, info: ValidationInfo) -> "Trace":
        self._path = Path(info.context or ".") / self.file
        try:
            with open_named_text(self._path) as file:
                rows = csv.DictReader(file)
                names = rows.fieldnames or []
                self._key = next((name for name in ("pod", "job_id") if name in names), "")
                if not self._key:
                    raise ValueError(f"{self._path}: has neither a column pod nor a column job_id")
                if self.column not in names:
                    raise ValueError(f"{self._path}: has no column {self.column}")
                for row in rows:
                    self._take(row, rows.line_num)
        except OSError as error:
            raise ValueError(f"{self._path}: {error.strerror}") from None
        except (UnicodeDecodeError, csv.Error) as error:
            raise ValueError(f"{self._path}: not CSV: {error}") from None
        return self

    def _take(self, row: dict[str, Any], line: int) -> None:
        key, text = row[self._key], row[self.column]
        where = f"{self._path}: line {line}, column {self.column}"
        try:
            delay = float(text)
        except (TypeError, ValueError):
            raise ValueError(f"{where}: expected seconds, not {text!r}") from None
        if not 0 <= delay <= 1e9:
            raise ValueError(f"{where}: expected seconds from 0 on, not {text}")
        if key in self._delays:
            raise ValueError(f"{self._path}: line {line}, column {self._key}: {key} is there twice")
        self._delays[key] = delay

    def of(self, pod: str, job: str) -> float:
        """Return the delay of a pod, by its name or by the name of its job. Raises StartupError if it has none."""
        key = pod if self._key == "pod" else job
        try:
            return self._delays[key]
        except KeyError:
            raise StartupError(f"{self._path}: no row has {self._key} {key}, which needs its {self.column}") from None


class Delay(BaseModel):
    """One stage's delay as in the file: a number, or one of these kinds by its name."""

    model_config = STRICT

    constant: Seconds | None = None
    lognormal: Lognormal | None = None
    exponential: Exponential | None = None
    quantiles: Annotated[list[Seconds], Field(min_length=2)] | None = None
    trace: Trace | None = None

    _kind: Distribution | Trace = PrivateAttr()

    @model_validator(mode="before")
    @classmethod
    def _number(cls, value: Any) -> Any:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return {"constant": value}
        if not isinstance(value, dict):
            raise ValueError(f"expected seconds, or one of {', '.join(cls.model_fields)}")
        return value

    @model_validator(mode="after")
    def _one(self) -> "Delay":
        if len(self.model_fields_set) != 1:
            raise ValueError(f"expected seconds, or one of {', '.join(type(self).model_fields)}")
        constant, quantiles = self.constant, self.quantiles
        found = (
            Constant(seconds=constant) if constant is not None else None,
            Quantiles(values=quantiles) if quantiles is not None else None,
            self.lognormal, self.exponential, self.trace,
        )  # fmt: skip
        kind = next((kind for kind in found if kind is not None), None)
        if kind is None:
            raise ValueError("must not be empty")
        self._kind = kind
        return self

    def of(self, pod: str, job: str, p: float) -> float:
        """Return a pod's delay in seconds; ``p`` (0 < p < 1) is its place in the distribution. Raises StartupError."""
        return self._kind.of(pod, job) if isinstance(self._kind, Trace) else self._kind.quantile(p)


def quantile(ordered: Sequence[float], p: float) -> float:
    """Return a quantile of values in ascending order, by linear interpolation; ``p`` from 0 to 1."""
    place = p * (len(ordered) - 1)
    index = min(int(place), max(len(ordered) - 2, 0))
    low, high = ordered[index], ordered[min(index + 1, len(ordered) - 1)]
    return low + (place - index) * (high - low)
