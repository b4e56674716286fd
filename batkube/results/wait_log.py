"""``waits.csv``: each pod's wait as it went on, a row for each stretch of time that has one reason."""

import csv
import io
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from batkube.results.csv_rows import Table
from batkube.results.result_stream import ResultStream
from batkube.results.wait_reasons import SECOND, Cause, Stretch


@dataclass(frozen=True, slots=True)
class Wait:
    """A row of the file. Dates are simulated seconds."""

    pod: str
    start: float
    end: float
    seconds: float
    """The time for which the reason held: end - start, unless reasons that took turns were summed up."""
    reason: str
    """One of ``Reason``."""
    plugin: str = ""
    """The plugin of kube-scheduler that kept the pod away, where the reason is ``constraints``."""
    words: str = ""
    """The scheduler's words for that, or those that kube-scheduler has for it."""
    attempt: int | None = None
    """The number of the pod's last attempt in vain before, from 1; None if there was none."""


WAITS = Table(Wait)


class WaitLog:
    """Writes the file while the run goes on."""

    def __init__(self, path: Path) -> None:
        self._stream = ResultStream(path)
        self._stream.write(",".join(WAITS.names) + "\n")

    def write(self, pod: str, stretches: Iterable[Stretch]) -> None:
        """Note stretches of a pod's wait."""
        known: dict[int, str] = {}
        rows = []
        for begin, end, time, cause in stretches:
            cells = known.get(id(cause)) or known.setdefault(id(cause), _cells(cause))
            rows.append(f"{pod},{_date(begin)},{_date(end)},{_date(time)}{cells}")
        self._stream.write("".join(rows))

    def close(self) -> None:
        """Write out what is buffered. Closing twice does nothing."""
        self._stream.close()


@lru_cache(1 << 14)
def _date(microseconds: int) -> str:
    """Return seconds. The pods that wait at one time have most of their dates in common."""
    return f"{microseconds / SECOND:.6f}"


@lru_cache(1 << 12)
def _cells(cause: Cause) -> str:
    """Return the rest of a row. The words come on one line, so that a row is one."""
    cells = io.StringIO()
    row = ("", cause.reason, cause.plugin, " ".join(cause.words.split()), cause.attempt or "")
    csv.writer(cells, lineterminator="\n").writerow(row)
    return cells.getvalue()


def read_waits_csv(path: Path) -> Iterator[Wait]:
    """Yield the rows of a file. Raises ResultsError."""
    return WAITS.read(path)


def waits_of(path: Path, pods: Collection[str]) -> dict[str, list[Wait]]:
    """Return the rows of these pods, in order of their dates. Raises ResultsError.

    The rows of others are passed over unread: there may be millions.
    """
    found: dict[str, list[Wait]] = {pod: [] for pod in pods}
    for row in WAITS.read(path, only=lambda line: line.partition(",")[0] in found):
        if row.pod in found:
            found[row.pod].append(row)
    return found
