"""Events of machines in YAML: what happens when to which of them.

events:
  - {at: 700, zone: b, down: 20m}                       # the whole zone fails, and is back after 20 minutes
  - {at: 10:00, node: n7, drain: 2h}                    # maintenance, at a time of the first day
  - {at: 1h, label: disk=ssd, down: 30s, every: 2m, times: 10}
  - {at: 1h, node: n3, slow: 2h, speed: 50%}            # it works at half its speed
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, PrivateAttr, ValidationInfo, model_validator

from batkube.bridge.hosts import SLOWEST
from batkube.machines.places import Place, Places
from batkube.startup.dates import Date
from batkube.startup.delays import STRICT
from batkube.startup.lengths import Length, read_length_if_text
from batkube.startup.model_file import read_model
from batkube.startup.shares import share_if_percent

FOREVER = "forever"
_EVENTS = re.compile(r"^[\"']?events[\"']?[ \t]*:", re.MULTILINE)
_MOST = 100_000
"""The most times that one entry may happen."""


@dataclass(frozen=True)
class Scene:
    """The cluster that events are said of."""

    places: Places
    epoch: float
    """Unix seconds at which simulated time 0 lies."""


def is_event_file(text: str) -> bool:
    """Tell whether a file of events is in this form; all others are Batsim's."""
    return _EVENTS.search(text) is not None


def _scene(info: ValidationInfo) -> Scene:
    scene = info.context
    assert isinstance(scene, Scene)
    return scene


def _span(value: Any) -> Any:
    return math.inf if value == FOREVER else read_length_if_text(value)


def _names(value: Any) -> Any:
    return [value] if isinstance(value, str | int) else value


def _name(value: Any) -> Any:
    """Return a name that YAML takes for a number as it was meant."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Name = Annotated[str, BeforeValidator(_name)]
Names = Annotated[Annotated[list[Name], Field(min_length=1)], BeforeValidator(_names)]
Span = Annotated[Annotated[float, Field(gt=0, allow_inf_nan=True)], BeforeValidator(_span)]


class Entry(BaseModel):
    """One entry: one of ``node``, ``zone`` and ``label``, and one of ``down``, ``drain`` and ``slow``."""

    model_config = STRICT

    at: Date
    node: Names | None = None
    zone: Names | None = None
    label: str | None = None
    down: Span | None = None
    """The seconds for which they are gone."""
    drain: Span | None = None
    """The seconds for which they are cordoned."""
    slow: Span | None = None
    """The seconds for which they work at ``speed``."""
    speed: Annotated[Annotated[float, Field(ge=SLOWEST, lt=1)], BeforeValidator(share_if_percent)] | None = None
    """The share of their speed that is left."""
    every: Length | None = None
    times: Annotated[int, Field(ge=1, le=_MOST)] = 1

    _places: list[Place] = PrivateAttr(default_factory=list)

    @model_validator(mode="before")
    @classmethod
    def _mapping(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            raise ValueError("expected an event such as {at: 700, zone: b, down: 20m}")
        return value

    @model_validator(mode="after")
    def _goes_together(self, info: ValidationInfo) -> "Entry":
        if sum(length is not None for length in (self.down, self.drain, self.slow)) != 1:
            raise ValueError("expected either down, drain or slow, with how long")
        if (self.slow is None) != (self.speed is None):
            raise ValueError("slow and speed go together, as in slow: 2h, speed: 50%")
        if sum(where is not None for where in (self.node, self.zone, self.label)) != 1:
            raise ValueError("expected one of node, zone and label")
        if (self.every is None) != ("times" not in self.model_fields_set):
            raise ValueError("every and times go together")
        if self.every is not None and self.length >= self.every:
            raise ValueError("every: must be longer than what happens each time")
        places = _scene(info).places
        found: dict[str, Place] = {}
        for name in self.node or ():
            found |= {place.node: place for place in places.named(name)}
        for name in self.zone or ():
            found |= {place.node: place for place in places.in_zone(name)}
        if self.label is not None:
            found |= {place.node: place for place in places.labelled(self.label)}
        self._places = list(found.values())
        return self

    @property
    def length(self) -> float:
        """The seconds that it lasts; infinity for what has no end."""
        return next(length for length in (self.down, self.drain, self.slow) if length is not None)

    @property
    def places(self) -> list[Place]:
        """The machines that it is about."""
        return self._places

    def spans(self) -> Iterator[tuple[float, float]]:
        """Yield from when to when it lasts, each time."""
        for number in range(self.times):
            begin = self.at + number * (self.every or 0.0)
            yield begin, begin + self.length


class EventFile(BaseModel):
    """The whole file."""

    model_config = STRICT

    events: list[Entry]


def read_event_file(path: Path, scene: Scene) -> list[Entry]:
    """Read the file. Raises StartupError, which names the file, the line and the field."""
    return read_model(path, EventFile, scene).events
