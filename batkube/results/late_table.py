"""A table that is written while the run goes on, and only if there is something to write."""

import csv
from pathlib import Path
from typing import Any, Generic, TypeVar

from batkube.results.csv_rows import Table
from batkube.results.result_stream import ResultStream

Row = TypeVar("Row")


class LateTable(Generic[Row]):
    """Makes its file with the first row."""

    def __init__(self, path: Path, table: Table[Row]) -> None:
        self._path = path
        self._table = table
        self._stream: ResultStream | None = None
        self._writer: Any = None

    def write(self, row: Row) -> None:
        """Write a row."""
        if self._stream is None:
            self._stream = ResultStream(self._path)
            self._writer = csv.writer(self._stream, lineterminator="\n")
            self._writer.writerow(self._table.names)
        self._writer.writerow(self._table.cells(row))

    def close(self) -> None:
        """Write out what is buffered. Closing twice does nothing."""
        if self._stream is not None:
            self._stream.close()
