"""The options by which machines come to harm."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, field_validator

from batkube.option import CLUSTER, INPUTS, Option

if TYPE_CHECKING:
    from batkube.machines.failures import Failures


RecordedEvents = Annotated[
    tuple[Path, ...],
    Option("The events of machines of that run: its drains are done again; repeat for several.", INPUTS, "FILE"),
]
"""The files of ``--events``, for a recorded Batsim, which has told of what failed."""


class MachineSettings(BaseModel):
    """Of ``batkube run``."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    failures: Annotated[
        tuple[str, ...],
        Option(
            "Hosts fail by chance: 'mtbf=30d,mttr=2h,per=host' (docs/machines.md); may be repeated.", CLUSTER, "TEXT"
        ),
    ] = ()

    @field_validator("failures")
    @classmethod
    def _are_failures(cls, texts: tuple[str, ...]) -> tuple[str, ...]:
        _read(texts)
        return texts

    @property
    def read(self) -> "list[Failures]":
        """The failures, as they are meant."""
        return _read(self.failures)


def _read(texts: tuple[str, ...]) -> "list[Failures]":
    from batkube.machines.failures import read_failures  # it takes a while to load, and few name failures

    return [read_failures(text) for text in texts]
