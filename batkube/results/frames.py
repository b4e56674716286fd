"""Files of results as tables of pandas, polars and Apache Parquet. Each library is loaded when it is asked for."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from batkube.results.attempts import ATTEMPTS
from batkube.results.csv_rows import ResultsError, Table
from batkube.results.jobs import JOBS
from batkube.results.nodes import NODES
from batkube.results.pods import PODS, STAGES
from batkube.results.resizes import RESIZES
from batkube.results.series import NODE_SERIES, SERIES
from batkube.results.usage import USAGE
from batkube.results.wait_log import WAITS

if TYPE_CHECKING:
    import pandas
    import polars

TABLES: dict[str, Table[Any]] = {
    "jobs": JOBS,
    "pods": PODS,
    "attempts": ATTEMPTS,
    "waits": WAITS,
    "nodes": NODES,
    "series": SERIES,
    "node_series": NODE_SERIES,
    "usage": USAGE,
    "resizes": RESIZES,
}
"""The tables of a run by their names, which are those of the files without ``.csv``."""
LATE = ("usage", "resizes")
"""The tables that have a file only if there is something to write."""


class NotInstalled(ImportError):
    """A library that is no part of batkube. The text says how to install it."""


def pandas_frame(path: Path, table: Table[Any]) -> "pandas.DataFrame":
    """Return a file of a table. Raises ResultsError, and NotInstalled."""
    import_or_say("pandas")
    import pandas

    types = {**table.types(), **dict.fromkeys(STAGES, (float, True))}
    kinds = {name: _PANDAS[kind] for name, (kind, nullable) in types.items() if not nullable or kind is str}
    missing = {name: [""] for name, (kind, _) in types.items() if kind is not str}
    frame = _read(path, lambda: pandas.read_csv(path, dtype=kinds, keep_default_na=False, na_values=missing))
    for name, (kind, nullable) in types.items():
        if name in frame.columns and kind is bool:
            frame[name] = frame[name].astype(bool)
        elif name in frame.columns and kind is int and nullable:
            frame[name] = frame[name].astype("Int64")
    return frame


def polars_frame(path: Path, table: Table[Any]) -> "polars.DataFrame":
    """Return a file of a table. Raises ResultsError, and NotInstalled."""
    import_or_say("polars")
    import polars

    kinds = {str: polars.String, float: polars.Float64, int: polars.Int64, bool: polars.Int8}
    types = table.types()
    overrides = {name: kinds[kind] for name, (kind, _) in types.items()}
    frame: polars.DataFrame = _read(path, lambda: polars.read_csv(path, schema_overrides=overrides))
    here = {name: kind for name, (kind, _) in types.items() if name in frame.columns}
    return frame.with_columns(
        *(polars.col(name).fill_null("") for name, kind in here.items() if kind is str),
        *(polars.col(name).cast(polars.Boolean) for name, kind in here.items() if kind is bool),
    )


def rows_frame(rows: Sequence[Any], table: Table[Any]) -> "pandas.DataFrame":
    """Return rows of a table that are in no file. Raises NotInstalled."""
    import_or_say("pandas")
    import pandas

    return pandas.DataFrame({name: [getattr(row, name) for row in rows] for name in table.names})


def write_parquet(path: Path, target: Path, table: Table[Any]) -> None:
    """Write a file of a table as Apache Parquet, in pieces, so that memory does not grow with it.

    Raises NotInstalled, and OSError.
    """
    import_or_say("pyarrow")
    import pyarrow
    from pyarrow import csv, parquet

    kinds = {str: pyarrow.string(), float: pyarrow.float64(), int: pyarrow.int64(), bool: pyarrow.bool_()}
    types = {name: kinds[kind] for name, (kind, _) in table.types().items()} | dict.fromkeys(STAGES, kinds[float])
    with (
        csv.open_csv(
            path,
            parse_options=csv.ParseOptions(newlines_in_values=True),
            convert_options=csv.ConvertOptions(
                column_types=types,
                null_values=[""],
                strings_can_be_null=False,
                true_values=["1"],
                false_values=["0"],
            ),
        ) as batches,
        parquet.ParquetWriter(target, batches.schema) as writer,
    ):
        for batch in batches:
            writer.write_batch(batch)


def import_or_say(name: str) -> None:
    """Load a library. Raises NotInstalled."""
    import importlib

    extra = {"pyarrow": "parquet"}.get(name, name)
    try:
        importlib.import_module(name)
    except ImportError:
        raise NotInstalled(f"{name} is not installed: pip install 'batkube[{extra}]'") from None


_PANDAS = {str: "str", float: "float64", int: "int64", bool: "int8"}


def _read(path: Path, read: Callable[[], Any]) -> Any:
    try:
        return read()
    except OSError as error:
        raise ResultsError(f"{path}: {error.strerror or error}") from None
    except ValueError as error:
        raise ResultsError(f"{path}: {error}") from None
