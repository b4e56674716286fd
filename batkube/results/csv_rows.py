"""Rows of CSV files as dataclasses: the columns are the fields, in their order.

Numbers with a fraction have six decimals, as in Batsim's files; None is an empty cell, and a truth is 0 or 1.
"""

import csv
from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, Generic, TypeVar, get_args, get_type_hints

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
        self._readers = {name: _reader(hints[name]) for name in self.names}
        self._needed = [c.name for c in columns if c.default is MISSING and c.default_factory is MISSING]

    def cells(self, row: Row) -> list[str]:
        """Return the cells of a row."""
        return [cell(getattr(row, name)) for name in self.names]

    def write(self, path: Path, rows: Iterable[Row]) -> None:
        """Write the file. Raises OSError."""
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(self.names)
            writer.writerows(map(self.cells, rows))

    def read(self, path: Path) -> Iterator[Row]:
        """Yield the rows, one after another. Columns that are not known are passed over.

        A field with a default may be missing. Raises ResultsError.
        """
        try:
            with path.open(encoding="utf-8", newline="") as file:
                lines = csv.reader(file)
                header = next(lines, [])
                if missing := next((name for name in self._needed if name not in header), None):
                    raise ResultsError(f"{path}: has no column {missing}")
                known = [(header.index(name), name, read) for name, read in self._readers.items() if name in header]
                for line in lines:
                    try:
                        yield self._row(**{name: read(line[index]) for index, name, read in known})
                    except IndexError:
                        raise ResultsError(f"{path}: line {lines.line_num}: is cut short") from None
                    except ValueError:
                        raise ResultsError(f"{path}: line {lines.line_num}: {_fault(known, line)}") from None
        except OSError as error:
            raise ResultsError(f"{path}: {error.strerror}") from None
        except (UnicodeDecodeError, csv.Error) as error:
            raise ResultsError(f"{path}: {error}") from None


def cell(value: object) -> str:
    """Return the text of a value."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6f}"
    return str(int(value)) if isinstance(value, bool) else str(value)


def _fault(known: list[tuple[int, str, Callable[[str], Any]]], line: list[str]) -> str:
    for index, name, read in known:
        try:
            read(line[index])
        except ValueError:
            return f"{name} is {line[index]!r}: expected a number"
    return "cannot be read"


def _reader(kind: Any) -> Callable[[str], Any]:
    """Return the function that reads a cell of a type: str, float, int or bool, each of them or None."""
    inner = next((option for option in get_args(kind) if option is not type(None)), kind)
    read: Callable[[str], Any] = _truth if inner is bool else _whole if inner is int else inner
    if inner is str or inner is kind:
        return read
    return lambda text: read(text) if text else None


def _truth(text: str) -> bool:
    return bool(int(text))


def _whole(text: str) -> int:
    return int(text) if "." not in text else round(float(text))
