"""``attempts.csv``: each attempt to place a pod of which the scheduler told what came of it, in order."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from batkube.results.csv_rows import Table
from batkube.results.result_stream import ResultStream

Outcome = Literal["failed", "bound", "preempting"]


@dataclass(frozen=True, slots=True)
class Attempt:
    """A row of the file."""

    pod: str
    time: float
    """The date at which the scheduler told of it, in simulated seconds."""
    outcome: str
    """``failed``: it could not place the pod; ``bound``; ``preempting``: it makes room for the pod on a node."""
    message: str = ""
    """The scheduler's words, or the node."""


ATTEMPTS = Table(Attempt)


class AttemptLog:
    """Writes the file while the run goes on."""

    def __init__(self, path: Path) -> None:
        self._stream = ResultStream(path)
        self._writer = csv.writer(self._stream, lineterminator="\n")
        self._writer.writerow(ATTEMPTS.names)

    def write(self, pod: str, time: float, outcome: Outcome, message: str) -> None:
        """Note what came of an attempt."""
        self._writer.writerow((pod, f"{time:.6f}", outcome, message))

    def close(self) -> None:
        """Write out what is buffered. Closing twice does nothing."""
        self._stream.close()


def read_attempts_csv(path: Path) -> Iterator[Attempt]:
    """Yield the attempts of a file. Raises ResultsError."""
    return ATTEMPTS.read(path)
