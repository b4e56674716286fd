"""Records written in the formats that others read: Batsim's, the table of ours, and SWF."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from batkube.kube.apimachinery.quantity import Quantity
from batkube.named_file import create_named
from batkube.workloads.conversion import write_workload
from batkube.workloads.csv_table import WANTS
from batkube.workloads.packing import Packing
from batkube.workloads.reader import FormatError, Record
from batkube.workloads.source import Source
from batkube.workloads.values import tidy

HEADER = ("submit", "duration", "id", "walltime", "count", *WANTS)


def to_batsim(path: Path, source: Source, records: Iterable[Record]) -> list[str]:
    """Write a workload of Batsim's; what to warn of. Raises WorkloadError and OSError, as all of these do."""
    write_workload(path, source, records, Packing())
    return []


def to_csv(path: Path, source: Source, records: Iterable[Record]) -> list[str]:
    """Write the table of ours; what it has no column for is left out, and told."""
    lost: dict[str, int] = {}
    _write(path, _table(source, records, lost))
    return [f"{path}: the table has no column for {name}, which {count} jobs have" for name, count in lost.items()]


def to_swf(path: Path, source: Source, records: Iterable[Record]) -> list[str]:
    """Write a log in SWF: a processor is a core; users and queues that are no numbers are numbered."""
    _write(path, _log(source, records))
    return []


WRITERS: dict[str, Callable[[Path, Source, Iterable[Record]], list[str]]] = {
    "batsim": to_batsim,
    "csv": to_csv,
    "swf": to_swf,
}
SUFFIXES = {".json": "batsim", ".csv": "csv", ".swf": "swf"}
"""The formats by the ends of names of files that are written."""


def format_to_write(path: Path, name: str | None) -> str:
    """Return the format of a file that is to be written: the one with the name, else by the end of the file's name.

    Raises FormatError.
    """
    known = ", ".join(WRITERS)
    if name is not None and name not in WRITERS:
        raise FormatError(f"--to {name}: expected one of {known}")
    found = name or SUFFIXES.get(path.suffix)
    if found is None:
        raise FormatError(f"{path}: its name does not tell the format; say --to, one of {known}")
    return found


def _table(source: Source, records: Iterable[Record], lost: dict[str, int]) -> Iterator[str]:
    line = io.StringIO()
    writer = csv.writer(line, lineterminator="\n")
    columns = {want: column for column, want in WANTS.items()}
    writer.writerow(HEADER)
    for record in records:
        source.taken += 1
        wants: dict[str, Any] = {}
        for name, value in record.wants.items():
            if (column := columns.get(name)) is not None:
                wants[column] = " ".join(f"{key}={text}" for key, text in value.items()) if name[0] == "n" else value
            else:
                lost[name] = lost.get(name, 0) + 1
        walltime = "" if record.walltime is None else tidy(record.walltime)
        fixed = (tidy(record.submit), tidy(record.duration), record.id, walltime, record.pods)
        writer.writerow([*fixed, *(wants.get(name, "") for name in WANTS)])
        yield line.getvalue()
        line.seek(0)
        line.truncate()
    yield line.getvalue()


def _log(source: Source, records: Iterable[Record]) -> Iterator[str]:
    yield "; Version: 2.2\n"
    yield "; Conversion: batkube\n"
    users, queues = _Numbers(), _Numbers()
    for number, record in enumerate(records, 1):
        source.taken += 1
        wants = record.wants
        processors = record.pods * max(1, -int(-Quantity.parse(str(wants.get("cpu", "1"))).value // 1))
        memory = -1
        if "memory" in wants:
            memory = int(Quantity.parse(str(wants["memory"])).value) * record.pods // processors // 1024
        time = -1 if record.walltime is None else tidy(record.walltime)
        user, queue = users.of(wants.get("user")), queues.of(wants.get("queue"))
        yield (
            f"{number} {tidy(record.submit)} -1 {tidy(record.duration)} {processors} -1 -1 {processors} {time} "
            f"{memory} 1 {user} -1 -1 {queue} -1 -1 -1\n"
        )


class _Numbers:
    """Numbers for names, in the order in which they come; a name that is a number keeps it while none is taken."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}
        self._taken: set[int] = set()

    def of(self, name: object) -> int:
        """Return the number of a name; -1 for none."""
        if name is None or name == "":
            return -1
        text = str(name)
        if text not in self._known:
            number = int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else len(self._known) + 1
            while number in self._taken:
                number += 1
            self._known[text] = number
            self._taken.add(number)
        return self._known[text]


def _write(path: Path, parts: Iterable[str]) -> None:
    try:
        with create_named(path) as file:
            for part in parts:
                file.write(part.encode())
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
