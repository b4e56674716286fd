"""The Standard Workload Format of the Parallel Workloads Archive.

https://www.cs.huji.ac.il/labs/parallel/workload/swf.html: a line a job, 18 fields; -1 is not known; ``;`` begins
comments, of which the first ones are the header.
"""

from collections.abc import Iterator
from functools import lru_cache

from batkube.batsim.input_file import quote
from batkube.batsim.jobs import MAX_DATE, MAX_RESOURCES
from batkube.batsim.workload import WorkloadError
from batkube.kube.apimachinery.quantity import BINARY, Quantity
from batkube.workloads.reader import Reader, Record
from batkube.workloads.source import Head, Source
from batkube.workloads.values import number

FIELDS = (
    "job number", "submit time", "wait time", "run time", "allocated processors", "average CPU time", "used memory",
    "requested processors", "requested time", "requested memory", "status", "user", "group", "executable", "queue",
    "partition", "preceding job", "think time",
)  # fmt: skip
PARTS = (2, 3, 4)
"""The values of status of lines that tell a part of a job, of which another line tells the whole."""


class SwfReader(Reader):
    """SWF: a processor is a pod."""

    name = "swf"
    title = "Standard Workload Format of the Parallel Workloads Archive"

    def claims(self, head: Head) -> bool:
        """Tell whether the first line is a comment of SWF, or has 18 numbers."""
        lines = head.lines
        if not lines:
            return False
        words = lines[0].split()
        return lines[0].startswith(";") or (len(words) == len(FIELDS) and all(map(_is_number, words)))

    def records(self, source: Source) -> Iterator[Record]:
        """Yield the jobs. A job is named by its number; if that comes again, by its line, too."""
        last = -1
        for line, text in source.lines(strict=False):
            words = text.split()
            if not words or words[0].startswith(";"):
                continue
            values = _values(source, line, text, words)
            record = _record(source, line, values)
            if isinstance(record, str):
                source.skip(record)
                continue
            job = int(values[0])
            record.id = str(job) if job > last else f"{job}-line-{line}"
            last = max(last, job)
            yield record


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _values(source: Source, line: int, text: str, words: list[str]) -> list[float]:
    if len(words) != len(FIELDS):
        raise source.error(line, f"expected {len(FIELDS)} fields, found {len(words)}")
    try:
        values = [float(word) for word in words]
    except ValueError:
        raise _wrong(source, line, words) from None
    if (
        not -MAX_DATE <= min(values) <= max(values) <= MAX_DATE
        or not text.isascii()
        or "_" in text
        or "n" in text.lower()
    ):
        raise _wrong(source, line, words)
    if values[0] < 0 or values[0] != int(values[0]):
        raise source.error(line, f"job number: expected a whole number, not {quote(words[0])}")
    return values


def _wrong(source: Source, line: int, words: list[str]) -> WorkloadError:
    """Return the error for the first word that is no number."""
    for name, word in zip(FIELDS, words, strict=True):
        try:
            number(word)
        except ValueError as error:
            return source.error(line, f"{name}: {error}")
    return source.error(line, "expected numbers")


def _record(source: Source, line: int, values: list[float]) -> Record | str:
    """Return the job, yet without a name; or why the line is left out."""
    processors = values[7] if values[7] > 0 else values[4]
    if values[10] in PARTS:
        return "are parts of a job that is told as a whole, too"
    if values[1] < 0:
        return "have no submit time"
    if values[3] < 0:
        return "have no run time"
    if values[3] == 0:
        return "ran for 0 seconds"
    if processors <= 0:
        return "have no number of processors"
    if processors != int(processors) or processors > MAX_RESOURCES:
        raise source.error(line, f"requested processors: expected up to {MAX_RESOURCES}, not {processors:g}")
    wants = {}
    if values[9] > 0:
        wants["memory"] = _memory(int(values[9]))
    if values[11] >= 0:
        wants["user"] = f"{values[11]:.0f}"
    if values[14] >= 0:
        wants["queue"] = f"{values[14]:.0f}"
    return Record("", values[1], values[3], int(processors), values[8] if values[8] > 0 else None, wants)


@lru_cache
def _memory(kilobytes: int) -> str:
    return str(Quantity(kilobytes * 1024, BINARY))
