"""``usage.csv``: what the pods that run on each node really use, beside what they request, over simulated time.

There is such a file only if a pod says what it uses; it begins with the first that does. A row holds until the next of
its node.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from batkube.results.csv_rows import Table
from batkube.results.result_stream import ResultStream


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


class UsageLog:
    """Writes the file while the run goes on, from the first row on."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stream: ResultStream | None = None

    def write(self, row: UsageRow) -> None:
        """Write a row."""
        if self._stream is None:
            self._stream = ResultStream(self._path)
            self._stream.write(",".join(USAGE.names) + "\n")
        self._stream.write(
            f"{row.time:.6f},{row.node},{row.pods},{row.cpu_requested:.6f},{row.cpu_used:.6f},"
            f"{row.memory_requested},{row.memory_used}\n"
        )

    def close(self) -> None:
        """Write out what is buffered. Closing twice does nothing."""
        if self._stream is not None:
            self._stream.close()


def read_usage_csv(path: Path) -> Iterator[UsageRow]:
    """Yield the rows of the file. Raises ResultsError."""
    return USAGE.read(path)
