"""``series.csv`` and ``node_series.csv``: the cluster, and each node, as exact step functions of simulated time.

A row holds from its time until that of the next row (of the same node), the last one to the end of the run.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from batkube.results.csv_rows import Table


@dataclass(slots=True)
class SeriesRow:
    """A row of ``series.csv``: the cluster from a date on. cpu in cores, memory in bytes, gpu in devices."""

    time: float
    nodes_up: int
    """The number of nodes that are ready."""
    running_pods: int
    waiting_pods: int
    """The pods that were created and have not started."""
    queued_cpu: float
    """The cores that these ask for."""
    queued_work: float
    """Core-seconds: those cores times the seconds for which each of these pods will run."""
    cpu_allocatable: float
    """Of the nodes that are up; so is what is requested and used."""
    cpu_requested: float
    """By pods that are bound."""
    cpu_used: float
    """By pods that run: what they asked for."""
    memory_allocatable: int
    memory_requested: int
    memory_used: int
    gpu_allocatable: int
    gpu_requested: int
    gpu_used: int
    fragmentation: float
    """1 - (most free cores on one node) / (free cores of all); 0 where none is free."""


@dataclass(slots=True)
class NodeSeriesRow:
    """A row of ``node_series.csv``: a node from a date on."""

    time: float
    node: str
    up: bool
    pods: int
    """The pods that are bound to it and have not ended."""
    cpu_requested: float
    memory_requested: int
    gpu_requested: int


SERIES = Table(SeriesRow)
NODE_SERIES = Table(NodeSeriesRow)

_SERIES_LINE = "%.6f,%d,%d,%d,%.6f,%.6f,%.6f,%.6f,%.6f,%d,%d,%d,%d,%d,%d,%.6f\n"
_NODE_LINE = "%.6f,%s,%d,%d,%.6f,%d,%d\n"
"""Nodes are named as Kubernetes names may be: nothing in them has to be quoted."""


def write_series(
    path: Path, nodes_path: Path, changes: Iterable[tuple[SeriesRow | None, Sequence[NodeSeriesRow]]]
) -> None:
    """Write both files: for each date at which something changed a row of the cluster, and rows of its nodes."""
    with path.open("w", encoding="utf-8") as file, nodes_path.open("w", encoding="utf-8") as node_file:
        file.write(",".join(SERIES.names) + "\n")
        node_file.write(",".join(NODE_SERIES.names) + "\n")
        for row, nodes in changes:
            if row is not None:
                file.write(series_line(row))
            for node in nodes:
                node_file.write(node_line(node))


def series_line(row: SeriesRow) -> str:
    """Return a row as a line of the file."""
    return _SERIES_LINE % (
        row.time, row.nodes_up, row.running_pods, row.waiting_pods, row.queued_cpu, row.queued_work,
        row.cpu_allocatable, row.cpu_requested, row.cpu_used,
        row.memory_allocatable, row.memory_requested, row.memory_used,
        row.gpu_allocatable, row.gpu_requested, row.gpu_used, row.fragmentation,
    )  # fmt: skip


def node_line(row: NodeSeriesRow) -> str:
    """Return a row as a line of the file of nodes."""
    return _NODE_LINE % (
        row.time, row.node, row.up, row.pods, row.cpu_requested, row.memory_requested, row.gpu_requested,
    )  # fmt: skip


def read_series_csv(path: Path) -> Iterator[SeriesRow]:
    """Yield the rows of ``series.csv``. Raises ResultsError."""
    return SERIES.read(path)


def read_node_series_csv(path: Path) -> Iterator[NodeSeriesRow]:
    """Yield the rows of ``node_series.csv``. Raises ResultsError."""
    return NODE_SERIES.read(path)
