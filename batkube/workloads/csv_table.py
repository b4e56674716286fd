"""A table of ours (CSV): a line a job, or a group of jobs, with the columns that it needs."""

import csv
from collections.abc import Callable, Iterator
from typing import Any

from batkube.batsim.input_file import quote
from batkube.workloads.reader import Reader, Record
from batkube.workloads.source import Head, Source
from batkube.workloads.values import quantity, seconds, selector, whole

NEEDED = ("submit", "duration")


def _name(text: str) -> str:
    if len(text) > 253 or not text.isprintable():
        raise ValueError(f"expected a name, not {quote(text)}")
    return text


def _id(text: str) -> str:
    if _name(text) and not set(text).isdisjoint('",|}!'):
        raise ValueError(f"""must have none of " , | }} and !, and is {quote(text)}""")
    if "w0" in text:
        raise ValueError(f"must not contain 'w0', Batsim's name for a workload, and is {quote(text)}")
    return text


def _priority(text: str) -> int | str:
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdecimal() and len(digits) < 11 else _name(text)


COLUMNS: dict[str, Callable[[str], Any]] = {
    "submit": seconds,
    "duration": seconds,
    "id": _id,
    "walltime": seconds,
    "count": lambda text: whole(text, least=1),
    "cpu": quantity,
    "memory": quantity,
    "gpu": quantity,
    "user": _name,
    "queue": _name,
    "priority": _priority,
    "selector": selector,
}
"""The columns, and what reads a field of each."""
WANTS = {"cpu": "cpu", "memory": "memory", "gpu": "gpu", "user": "user", "queue": "queue", "priority": "priority"}
WANTS["selector"] = "nodeSelector"


class CsvReader(Reader):
    """A table with the columns ``submit`` and ``duration``, and others."""

    name = "csv"
    title = "table with the columns submit, duration, cpu ... (CSV)"

    def claims(self, head: Head) -> bool:
        """Tell whether the first line names the columns that there must be."""
        return set(NEEDED) <= set(head.columns)

    def records(self, source: Source) -> Iterator[Record]:
        """Yield the jobs. One without an id is named by the number of its row."""
        seen: set[str] = set()
        for row, (line, fields) in enumerate(rows(source, needed=NEEDED, known=COLUMNS), 1):
            given: dict[str, Any] = {}
            for name, text in fields.items():
                if text:
                    try:
                        given[name] = COLUMNS[name](text)
                    except ValueError as error:
                        raise source.error(line, f"{name}: {error}") from None
            for name in NEEDED:
                if name not in given:
                    raise source.error(line, f"{name}: missing")
            if given["submit"] < 0 or given["duration"] < 0 or given.get("walltime", 1) <= 0:
                raise source.error(line, "submit, duration and walltime must not be negative, and walltime not 0")
            job = given.get("id", str(row))
            if "id" in fields:
                if job in seen:
                    raise source.error(line, f"id: {quote(job)} is used twice")
                seen.add(job)
            if given["duration"] == 0:
                source.skip("last 0 seconds")
                continue
            wants = {WANTS[name]: value for name, value in given.items() if name in WANTS}
            yield Record(job, given["submit"], given["duration"], given.get("count", 1), given.get("walltime"), wants)


def rows(
    source: Source, *, needed: tuple[str, ...], known: dict[str, Any] | None = None
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a table with a header: the number of the line, and the fields by column.

    ``needed``: columns that there must be; ``known``: the only ones that there may be.
    """
    reader = csv.reader((text for _, text in source.lines()), strict=True)
    header: list[str] = []
    while True:
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise source.error(reader.line_num, f"not CSV: {error}") from None
        if row is None:
            break
        row = [word.strip() for word in row]
        if not any(row):
            continue
        if not header:
            header = _header(source, reader.line_num, row, needed, known)
        elif len(row) != len(header):
            raise source.error(reader.line_num, f"expected {len(header)} fields, found {len(row)}")
        else:
            yield reader.line_num, dict(zip(header, row, strict=True))
    if not header:
        raise source.error(None, f"expected a header with the columns {', '.join(needed)}")


def _header(
    source: Source, line: int, row: list[str], needed: tuple[str, ...], known: dict[str, Any] | None
) -> list[str]:
    for name in row:
        if row.count(name) > 1:
            raise source.error(line, f"the column {quote(name)} is there twice")
        if known is not None and name not in known:
            raise source.error(line, f"the column {quote(name)} is not known; there are {', '.join(known)}")
    if missing := [name for name in needed if name not in row]:
        raise source.error(line, f"the column {missing[0]} is missing: found {quote(', '.join(row))}")
    return row
