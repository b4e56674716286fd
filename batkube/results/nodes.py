"""``nodes.csv``: each node, what it offered, how long it was up, and how much of it was used."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from batkube.results.csv_rows import Table


@dataclass(frozen=True, slots=True)
class Node:
    """A node as the platform has it."""

    node: str
    host: str
    """The name of the host in the platform."""
    cpu: float
    """Allocatable cores."""
    memory: int
    """Allocatable bytes."""
    gpu: int
    """Allocatable ``nvidia.com/gpu``."""


@dataclass(frozen=True, slots=True)
class NodeChange:
    """A node that went (not ready any more) or came back."""

    time: float
    node: str
    up: bool
    failure: bool = True
    """False for a node that is not there yet."""


@dataclass(slots=True)
class NodeRow:
    """A row of the file. Times are simulated seconds, from 0 to the end of the run."""

    node: str
    host: str
    cpu_allocatable: float
    memory_allocatable: int
    gpu_allocatable: int
    up_seconds: float = 0.0
    """The seconds for which it was ready."""
    busy_seconds: float = 0.0
    """The seconds for which it was ready and a pod was on it."""
    pods: int = 0
    """The number of pods that ran there."""
    cpu_requested_seconds: float = 0.0
    """Core-seconds asked for by the pods on it while it was up."""
    cpu_utilization: float | None = None
    """The part of its cores that pods asked for, over the time for which it was up."""
    memory_utilization: float | None = None
    gpu_utilization: float | None = None
    """None where it has none."""
    failures: int = 0
    """The number of times it went."""


NODES = Table(NodeRow)


def write_nodes_csv(path: Path, nodes: Iterable[NodeRow]) -> None:
    """Write one row for each node, in the order given."""
    NODES.write(path, nodes)


def read_nodes_csv(path: Path) -> Iterator[NodeRow]:
    """Yield the nodes of a file. Raises ResultsError."""
    return NODES.read(path)
