"""Failures of machines by chance: ``mtbf=30d,mttr=2h,per=host``.

Each host, or each zone, fails after a time whose mean is ``mtbf``, and is back after one whose mean is ``mttr``, again
and again. What is drawn for one depends on the seed and its name alone: more hosts change nothing for the others.
"""

import math
from collections.abc import Iterator, Mapping
from enum import StrEnum
from random import Random
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, model_validator

from batkube.batsim.machine_events import Course, Span
from batkube.machines.places import Place, Places
from batkube.startup.delays import STRICT
from batkube.startup.lengths import LONGEST, read_length_if_text

_SHORTEST = 1e-3
"""The least mean in seconds."""


class Per(StrEnum):
    """The machines that fail together."""

    HOST = "host"
    ZONE = "zone"


class Spread(StrEnum):
    """The distribution of the times between failures."""

    EXPONENTIAL = "exponential"
    WEIBULL = "weibull"


Mean = Annotated[Annotated[float, Field(ge=_SHORTEST, le=LONGEST)], BeforeValidator(read_length_if_text)]
Date = Annotated[Annotated[float, Field(ge=0, le=LONGEST)], BeforeValidator(read_length_if_text)]


class Failures(BaseModel):
    """One value of ``--failures``. Times are simulated seconds."""

    model_config = {**STRICT, "strict": False}

    mtbf: Mean
    """The mean from when it is up to its next failure."""
    mttr: Mean
    per: Per = Per.HOST
    dist: Spread = Spread.EXPONENTIAL
    shape: Annotated[float, Field(gt=0.05, le=100)] | None = None
    """Of Weibull's distribution: below 1 new machines fail more often, above 1 old ones do."""
    zone: str | None = None
    label: str | None = None
    after: Annotated[Date, Field(alias="from")] = 0.0
    lasts: Annotated[Date | None, Field(alias="for")] = None
    """The length of the time in which machines fail; None: as long as the run."""
    seed: int | None = None

    @model_validator(mode="after")
    def _goes_together(self) -> "Failures":
        if (self.dist is Spread.WEIBULL) != (self.shape is not None):
            raise ValueError("dist=weibull and shape=NUMBER go together")
        return self

    def courses(self, places: Places, *, seed: int, name: str) -> Mapping[str, Course]:
        """Return the course of each host that fails, by the host's name.

        ``name`` keeps apart what is said in several such texts. Raises ValueError if there is no such host.
        """
        seed = seed if self.seed is None else self.seed
        found = {}
        for place in self._concerned(places):
            what = place.zone if self.per is Per.ZONE else place.host
            found[place.host] = _Course(self, f"{seed} failures {name} {self.per} {what}")
        return found

    def _concerned(self, places: Places) -> list[Place]:
        found = places.all if self.zone is None else places.in_zone(self.zone)
        if self.label is not None:
            matching = {place.node for place in places.labelled(self.label)}
            found = [place for place in found if place.node in matching]
        if self.per is Per.ZONE:
            found = [place for place in found if place.zone]
        if not found:
            raise ValueError("there is no such node" if self.per is Per.HOST else "no such node is in a zone")
        return found

    def spans(self, draws: str) -> Iterator[Span]:
        """Yield from when to when one of them is gone. ``draws``: the text from which its chance follows."""
        chance = Random(draws)
        date = self.after
        while True:
            date += self._between(chance)
            if self.lasts is not None and date >= self.after + self.lasts:
                return
            begin, date = date, date + chance.expovariate(1 / self.mttr)
            yield begin, date

    def _between(self, chance: Random) -> float:
        if self.shape is None:
            return chance.expovariate(1 / self.mtbf)
        return chance.weibullvariate(self.mtbf / math.gamma(1 + 1 / self.shape), self.shape)


class _Course:
    """A Course of failures."""

    def __init__(self, failures: Failures, draws: str) -> None:
        self._failures, self._draws = failures, draws

    def __call__(self) -> Iterator[Span]:
        return self._failures.spans(self._draws)


def read_failures(text: str) -> Failures:
    """Read a value of the option. Raises ValueError, which says what is wrong."""
    given: dict[str, str] = {}
    for part in text.split(","):
        name, equals, value = part.partition("=")
        name = name.strip()
        if not (equals and name and value.strip()):
            raise ValueError(f"expected NAME=VALUE,... such as mtbf=30d,mttr=2h,per=host, not {text!r}")
        if name in given:
            raise ValueError(f"{name} is there twice")
        given[name] = value.strip()
    try:
        return Failures.model_validate(given)
    except ValidationError as error:
        raise ValueError(_said(error)) from None


def _said(error: ValidationError) -> str:
    first = error.errors()[0]
    name = ".".join(str(part) for part in first["loc"])
    what = first["msg"].removeprefix("Value error, ")
    match first["type"]:
        case "missing":
            return f"{name} is missing"
        case "extra_forbidden":
            names = [field.alias or key for key, field in Failures.model_fields.items()]
            return f"there is no {name}: expected some of {', '.join(names)}"
        case "value_error":
            return f"{name}: {what}" if name else what
    return f"{name}: {what[:1].lower()}{what[1:]}, not {first['input']!r}"
