"""``usage.csv``: what the pods that run on each node really use, beside what they request, over simulated time.

There is such a file only if a pod says what it uses; it begins with the first that does. A row holds until the next of
its node.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from batkube.results.csv_rows import Table

_DECIMALS = 9
"""The decimals of cores: Kubernetes counts no less than a billionth."""


@dataclass(frozen=True, slots=True)
class UsageRow:
    """A row of the file: a node from a date on. cpu in cores, memory in bytes."""

    time: float
    node: str
    pods: int
    """The pods that run there."""
    cpu_requested: float
    """By these."""
    cpu_used: float
    memory_requested: int
    memory_used: int


USAGE = Table(UsageRow)


def read_usage_csv(path: Path) -> Iterator[UsageRow]:
    """Yield the rows of the file; none if there is no file. Raises ResultsError."""
    return USAGE.read(path) if path.exists() else iter(())


@dataclass(frozen=True, slots=True)
class ClusterUse:
    """The use of all nodes together from a date on; as in the file."""

    time: float
    cpu_requested: float
    cpu_used: float
    memory_requested: int
    memory_used: int


def cluster_use(rows: Iterable[UsageRow]) -> Iterator[ClusterUse]:
    """Yield the use of all nodes together, whenever it changes."""
    present: dict[str, UsageRow] = {}
    cpu_requested = cpu_used = 0.0
    memory_requested = memory_used = 0
    for time, changes in groupby(rows, key=lambda row: row.time):
        for row in changes:
            if (before := present.get(row.node)) is not None:
                cpu_requested, cpu_used = cpu_requested - before.cpu_requested, cpu_used - before.cpu_used
                memory_requested -= before.memory_requested
                memory_used -= before.memory_used
            cpu_requested, cpu_used = cpu_requested + row.cpu_requested, cpu_used + row.cpu_used
            memory_requested += row.memory_requested
            memory_used += row.memory_used
            present[row.node] = row
        # What is left of millions of sums and differences of doubles is rounded away.
        cpu_requested, cpu_used = round(cpu_requested, _DECIMALS) + 0.0, round(cpu_used, _DECIMALS) + 0.0
        yield ClusterUse(time, cpu_requested, cpu_used, memory_requested, memory_used)


def used_of_requested(uses: Sequence[ClusterUse], end: float) -> tuple[float, float] | None:
    """Return the shares of the cores and of the bytes that running pods request and use; None if they request none."""
    requested, used = [0.0, 0.0], [0.0, 0.0]
    for use, until in zip(uses, [*(use.time for use in uses[1:]), end], strict=True):
        seconds = until - use.time
        requested = [requested[0] + use.cpu_requested * seconds, requested[1] + use.memory_requested * seconds]
        used = [used[0] + use.cpu_used * seconds, used[1] + use.memory_used * seconds]
    if not requested[0]:
        return None
    return used[0] / requested[0], used[1] / requested[1] if requested[1] else 0.0
