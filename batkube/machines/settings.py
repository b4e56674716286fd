"""The options by which machines come to harm."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, field_validator

from batkube.machines.failures import Failures, read_failures
from batkube.option import CLUSTER, Option


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
        for text in texts:
            read_failures(text)
        return texts

    @property
    def read(self) -> list[Failures]:
        """The failures, as they are meant."""
        return [read_failures(text) for text in self.failures]
