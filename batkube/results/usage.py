"""``usage.csv``: what the pods that run on each node really use, beside what they request, over simulated time.

There is such a file only if a pod says what it uses; it begins with the first that does. A row holds until the next of
its node.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from batkube.results.csv_rows import Table


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
    """Yield the rows of the file. Raises ResultsError."""
    return USAGE.read(path)
