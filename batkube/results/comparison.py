"""The comparison of folders of results: the first line in which they differ, if there is one."""

import csv
import hashlib
import json
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from pydantic import BaseModel

COMPARED = ("events.jsonl", "jobs.csv")
"""The files that repeatable runs have in common, byte for byte; the file that explains more comes first."""

Record = dict[str, Any]


class Fingerprint(BaseModel, frozen=True):
    """The hashes of two files of a run; None for a missing file."""

    events_sha256: str | None
    jobs_sha256: str | None

    @classmethod
    def of(cls, folder: Path) -> "Fingerprint":
        """Return the fingerprint of the files as they are now."""
        events, jobs = (file_sha256(folder / name) for name in COMPARED)
        return cls(events_sha256=events, jobs_sha256=jobs)


class Difference(BaseModel, frozen=True):
    """The first line in which two folders differ."""

    left: Path
    right: Path
    file: str
    line: int
    """The line number, from 1."""
    left_record: Record | None
    """The fields of the line; None if the file has no such line."""
    right_record: Record | None
    fields: list[str]
    """The names of the fields that differ, in order."""


def file_sha256(path: Path) -> str | None:
    """Return the hash of a file's bytes; None if there is no such file."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return None


def differences(folders: Sequence[Path], prints: Sequence[Fingerprint]) -> list[Difference]:
    """Return the first differences between the first folder and the others; empty if all agree.

    A folder that agrees with one before it is left out.
    """
    first_with: dict[Fingerprint, Path] = {}
    for folder, found in zip(folders, prints, strict=True):
        first_with.setdefault(found, folder)
    return [first_difference(folders[0], folder) for folder in list(first_with.values())[1:]]


def first_difference(left: Path, right: Path) -> Difference:
    """Return the first difference between two folders of results. Raises ValueError if they do not differ."""
    for name in COMPARED:
        pairs = zip_longest(_records(left / name), _records(right / name), fillvalue=(b"", None))
        for line, ((left_bytes, ours), (right_bytes, theirs)) in enumerate(pairs, start=1):
            if left_bytes != right_bytes:
                return Difference(
                    left=left,
                    right=right,
                    file=name,
                    line=line,
                    left_record=ours,
                    right_record=theirs,
                    fields=_differing(ours or {}, theirs or {}),
                )
    raise ValueError(f"{left} and {right} do not differ")


def _differing(left: Record, right: Record) -> list[str]:
    absent = object()
    return [name for name in {**left, **right} if left.get(name, absent) != right.get(name, absent)]


def _records(path: Path) -> Iterator[tuple[bytes, Record | None]]:
    """Yield each line: its bytes, and its names and values."""
    try:
        with path.open("rb") as file:
            read = _Rows() if path.suffix == ".csv" else _event
            for line in file:
                yield line, read(line.decode(errors="replace").rstrip("\n"))
    except FileNotFoundError:
        return


def _event(text: str) -> Record:
    try:
        found = json.loads(text)
    except ValueError:  # a run that was killed may leave half a line
        found = None
    return found if isinstance(found, dict) else {"": text}


class _Rows:
    """Reads the lines of a CSV file; the first one has the names."""

    def __init__(self) -> None:
        self._names: list[str] = []

    def __call__(self, text: str) -> Record:
        values = next(csv.reader([text]), [])
        self._names = self._names or values
        return dict(zip_longest(self._names, values, fillvalue=""))
