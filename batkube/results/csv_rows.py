"""Rows of CSV files as dataclasses: the columns are the fields, in their order.

Numbers with a fraction have six decimals, as in Batsim's files; None is an empty cell, and a truth is 0 or 1.
"""

import csv
from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, fields
from operator import attrgetter
from pathlib import Path
from typing import Any, Generic, TypeVar, get_args, get_type_hints

from batkube.named_file import open_named_text

Row = TypeVar("Row")


class ResultsError(ValueError):
    """A file of results that cannot be used. The text, one line, names file and line."""


class Table(Generic[Row]):
    """The columns of a file whose rows are dataclasses of one type. ``without``: fields that are no columns."""

    def __init__(self, row: type[Row], *, without: Iterable[str] = ()) -> None:
        self._row = row
        hints = get_type_hints(row)
        left_out = frozenset(without)
        columns = [field for field in fields(row) if field.name not in left_out]  # type: ignore[arg-type]
        self.names = [column.name for column in columns]
        """The names of the columns."""
        self._hints = {name: hints[name] for name in self.names}
        self._readers = {name: _reader(hints[name]) for name in self.names}
        self._values = attrgetter(*self.names)
        self._floats = [index for index, hint in enumerate(self._hints.values()) if _type(hint)[0] is float]
        self._truths = [index for index, hint in enumerate(self._hints.values()) if _type(hint)[0] is bool]
        self._nullable = [name for name, hint in self._hints.items() if _type(hint)[1]]
        self._needed = [c.name for c in columns if c.default is MISSING and c.default_factory is MISSING]

    def types(self) -> dict[str, tuple[type, bool]]:
        """Return for each column its type, and whether a cell may be empty where that is none (a number)."""
        return {name: _type(hint) for name, hint in self._hints.items()}

    def cells(self, row: Row) -> list[object]:
        """Return the cells of a row, for a writer of the module csv, which knows how to write the rest."""
        cells = list(self._values(row))
        for index in self._floats:
            if (value := cells[index]) is not None:
                cells[index] = "%.6f" % value  # noqa: UP031
        for index in self._truths:
            cells[index] = int(cells[index])
        return cells

    def write(self, path: Path, rows: Iterable[Row]) -> None:
        """Write the file. Raises OSError."""
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(self.names)
            writer.writerows(map(self.cells, rows))

    def read(self, path: Path, only: Callable[[str], bool] | None = None) -> Iterator[Row]:
        """Yield the rows, one after another. Columns that are not known are passed over.

        A field with a default may be missing; one that may be none is none then. ``only``: tells of a line, as it
        stands in a file whose rows are a line each, whether it is to be read. Raises ResultsError.
        """
        try:
            with open_named_text(path) as file:
                lines = csv.reader(file)
                header = next(lines, [])
                if missing := next((name for name in self._needed if name not in header), None):
                    raise ResultsError(f"{path}: has no column {missing}")
                known = [(header.index(name), name, read) for name, read in self._readers.items() if name in header]
                absent = {name: None for name in self._nullable if name not in header}
                chosen = None if only is None else _Chosen(file, only)
                if chosen is not None:
                    lines = csv.reader(chosen)
                for line in lines:
                    try:
                        yield self._row(**absent, **{name: read(line[index]) for index, name, read in known})
                    except (IndexError, ValueError) as error:
                        number = lines.line_num if chosen is None else chosen.number
                        fault = "is cut short" if isinstance(error, IndexError) else _fault(known, line)
                        raise ResultsError(f"{path}: line {number}: {fault}") from None
        except OSError as error:
            raise ResultsError(f"{path}: {error.strerror}") from None
        except (UnicodeDecodeError, csv.Error) as error:
            raise ResultsError(f"{path}: {error}") from None


class _Chosen:
    """The lines of a file behind its first that ``only`` chooses; ``number``: that of the last one, from 1."""

    def __init__(self, file: Iterable[str], only: Callable[[str], bool]) -> None:
        self.number = 1
        self._file = file
        self._only = only

    def __iter__(self) -> Iterator[str]:
        for number, line in enumerate(self._file, start=2):
            if self._only(line):
                self.number = number
                yield line


def _fault(known: list[tuple[int, str, Callable[[str], Any]]], line: list[str]) -> str:
    for index, name, read in known:
        try:
            read(line[index])
        except ValueError:
            return f"{name} is {line[index]!r}: expected a number"
    return "cannot be read"


def _reader(kind: Any) -> Callable[[str], Any]:
    """Return the function that reads a cell of a type: str, float, int or bool, each of them or None."""
    inner, nullable = _type(kind)
    read: Callable[[str], Any] = _truth if inner is bool else _whole if inner is int else inner
    if inner is str or not nullable:
        return read
    return lambda text: read(text) if text else None


def _type(kind: Any) -> tuple[type, bool]:
    options = get_args(kind)
    inner = next((option for option in options if option is not type(None)), kind)
    return inner, bool(options)


def _truth(text: str) -> bool:
    return bool(int(text))


def _whole(text: str) -> int:
    return int(text) if "." not in text else round(float(text))
