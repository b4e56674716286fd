"""The interface of a reader of a format, and what it makes of a file: one record a job."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from batkube.batsim.workload import WorkloadError
from batkube.workloads.source import Head, Source


class FormatError(WorkloadError):
    """A file that is in no known format, or wrong in its own. The text, one line, names file, line and field."""


@dataclass(slots=True)
class Record:
    """A job as a reader finds it. Times are simulated seconds."""

    id: str
    submit: float
    duration: float
    """The seconds that it runs, more than 0."""
    pods: int = 1
    """The pods that start together."""
    walltime: float | None = None
    wants: dict[str, Any] = field(default_factory=dict)
    """The requests of each pod, and its user, by the names of batkube's fields in a Batsim job: ``cpu``, ``memory``,
    ``user``, ``nodeSelector`` ..."""


class Reader(ABC):
    """Reads one format.

    A package adds one by an entry point of the group ``batkube.workload_readers`` that names a subclass.
    """

    name: ClassVar[str]
    """The name of the format, as ``--format`` has it."""
    title: ClassVar[str]
    """The format in a few words."""

    @abstractmethod
    def claims(self, head: Head) -> bool:
        """Tell by the beginning of a file whether it is in this format. It must not raise, whatever is there."""

    @abstractmethod
    def records(self, source: Source) -> Iterator[Record]:
        """Yield the jobs, one at a time, so that a large file needs little memory.

        What is fine and yet no job that can run is left out by ``source.skip(reason)``; what is wrong is a
        ``source.error(line, ...)``, which is raised.
        """
