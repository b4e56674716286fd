"""``resizes.csv``: the pods whose requests were changed while they were on their node. No file where there are none."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from batkube.results.csv_rows import Table


@dataclass(frozen=True, slots=True)
class Resize:
    """A row of the file: what a pod asks for from a date on. cpu in cores, memory in bytes."""

    time: float
    pod: str
    node: str
    cpu: float
    memory: int


RESIZES = Table(Resize)


def read_resizes_csv(path: Path) -> Iterator[Resize]:
    """Yield the rows of the file; none if there is no file. Raises ResultsError."""
    return RESIZES.read(path) if path.exists() else iter(())


@dataclass(frozen=True, slots=True)
class Span:
    """A time in which a pod asks for the same."""

    since: float
    until: float | None
    cpu: float
    memory: int


def spans(begin: float, end: float | None, cpu: float, memory: int, resizes: Iterable[Resize]) -> list[Span]:
    """Return the spans of a pod that is on its node from ``begin`` to ``end`` (None: to the end of the run).

    ``cpu``, ``memory``: what it asks for at first; ``resizes``: in order of their dates.
    """
    found = []
    since = begin
    for resize in resizes:
        if resize.time < begin or (end is not None and resize.time > end):
            continue
        if resize.time > since:
            found.append(Span(since, resize.time, cpu, memory))
        since, cpu, memory = resize.time, resize.cpu, resize.memory
    found.append(Span(since, end, cpu, memory))
    return found
