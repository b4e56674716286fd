"""A file of ``--schedule``: the dates at which objects of manifests are created.

schedule:
  - {at: 10:00, kind: Deployment, name: web}
  - {at: 1h, every: 5m, selector: tier=batch}   # the first at 1h, the next five minutes later ...
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, BeforeValidator, Field, PrivateAttr, ValidationInfo, model_validator

from batkube.kube.storage.selectors import EVERYTHING
from batkube.startup.dates import Date
from batkube.startup.delays import STRICT
from batkube.startup.lengths import LONGEST, read_length_if_text
from batkube.startup.model_file import read_model
from batkube.startup.selector import Selector

JSON = dict[str, Any]


class _Scene(NamedTuple):
    """The objects that a schedule is of, and Unix seconds at simulated second 0."""

    objects: Sequence[JSON]
    epoch: float


def _scene(info: ValidationInfo) -> _Scene:
    scene = info.context
    assert isinstance(scene, _Scene)
    return scene


class Entry(BaseModel):
    """One entry: what it does not say of an object fits any."""

    model_config = STRICT

    at: Date
    kind: str | None = None
    name: str | None = None
    namespace: str | None = None
    selector: Selector = EVERYTHING
    every: Annotated[Annotated[float, Field(ge=0, le=LONGEST)], BeforeValidator(read_length_if_text)] = 0.0
    """The seconds from one object to the next, in the order of the files."""

    _fitting: list[int] = PrivateAttr(default_factory=list)

    @model_validator(mode="before")
    @classmethod
    def _mapping(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            raise ValueError("expected an entry such as {at: 10m, kind: Job, name: report}")
        return value

    @model_validator(mode="after")
    def _is_of_some(self, info: ValidationInfo) -> "Entry":
        self._fitting = [index for index, obj in enumerate(_scene(info).objects) if self._fits(obj)]
        if not self._fitting:
            raise ValueError("there is no such object among the manifests")
        return self

    @property
    def fitting(self) -> list[int]:
        """The objects that it fits, by index."""
        return self._fitting

    def _fits(self, obj: JSON) -> bool:
        metadata = obj["metadata"]
        said = (
            (self.kind, obj["kind"]),
            (self.name, metadata.get("name")),
            (self.namespace, metadata.get("namespace") or "default"),
        )
        return all(ours in (None, theirs) for ours, theirs in said) and self.selector.matches(metadata.get("labels"))


class Schedule(BaseModel):
    """The whole file. Of several entries that fit an object the first counts."""

    model_config = STRICT

    schedule: Annotated[list[Entry], Field(min_length=1)]


def planned_dates(path: Path, objects: Sequence[JSON], epoch: float) -> dict[int, float]:
    """Return the simulated seconds at which objects come, by index; those of which nothing is said are left out.

    ``epoch``: Unix seconds at simulated second 0. Raises StartupError, which names the file, the line and the field.
    """
    dates: dict[int, float] = {}
    for entry in read_model(path, Schedule, _Scene(objects, epoch)).schedule:
        others = (index for index in entry.fitting if index not in dates)
        dates |= {index: round(entry.at + count * entry.every, 6) for count, index in enumerate(others)}
    return dates
