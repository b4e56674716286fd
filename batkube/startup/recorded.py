"""Recorded pod times: CSV files with a row for each pod, and the delay of each stage by them.

Two sets of column names are known: those of the published runs of Batkube on a real cluster (Batsim's columns and
``scheduled``, ``pulling``, ``pulled``, ``created``), and those of batkube's own ``pods.csv``. All are seconds since
some origin, the same within a row.
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

from batkube.named_file import open_named_text
from batkube.startup.errors import StartupError
from batkube.startup.model import STAGES

_BOUND = ("scheduled", "bound_time")
_COLUMNS = {
    "pulling": ("pulling", "pulling_time"),
    "pulled": ("pulled", "pulled_time"),
    "created": ("created", "container_created_time"),
    "started": ("starting_time",),
    "ended": ("finish_time",),
}
_EXIT = "exit_time"

Delays = dict[str, float]
"""The delay of each stage in seconds, without the stages for which a time is missing."""


@dataclass(frozen=True, slots=True)
class _Time:
    column: str
    seconds: float | None


def read_recorded(paths: Sequence[Path], *, process_time: float | None = None) -> list[Delays]:
    """Return the stages' delays of each row of each file.

    A cell may be empty: the stages that need it are left out of its row. If a file has no column for a stage, the next
    stage is counted from the one before. The end of the process is ``exit_time``, else ``process_time`` (seconds) after
    its start; without either there is no stage ``ended``.

    Raises StartupError, which names file, line and column.
    """
    return [delays for path in paths for delays in _read(path, process_time)]


def _read(path: Path, process_time: float | None) -> list[Delays]:
    try:
        with open_named_text(path) as file:
            rows = csv.DictReader(file, strict=True)
            names = rows.fieldnames or []
            columns = {stage: name for stage, known in _COLUMNS.items() for name in known if name in names}
            bound = next((name for name in _BOUND if name in names), None)
            if len([*columns, *([bound] if bound else [])]) < 2:
                raise StartupError(f"{path}: needs two at least of the columns {', '.join(_known())}")
            return [_delays(f"{path}: line {rows.line_num}", row, bound, columns, process_time) for row in rows]
    except OSError as error:
        raise StartupError(f"{path}: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise StartupError(f"{path}: not CSV: {error}") from None


def _known() -> list[str]:
    return [_BOUND[0], *(names[0] for names in _COLUMNS.values())]


def _delays(
    where: str, row: dict[str, str | None], bound: str | None, columns: dict[str, str], process_time: float | None
) -> Delays:
    before = _time(where, row, bound) if bound else None
    found: Delays = {}
    for stage in STAGES:
        if stage not in columns:
            continue
        time = _time(where, row, columns[stage])
        if stage == "ended":
            before = _exit(where, row, before, process_time)
        if before is not None and before.seconds is not None and time.seconds is not None:
            delay = time.seconds - before.seconds
            if delay < -1e-6:
                raise StartupError(
                    f"{where}, column {time.column}: {time.seconds:g} is before {before.column} ({before.seconds:g})"
                )
            found[stage] = max(delay, 0.0)
        before = time
    return found


def _exit(where: str, row: dict[str, str | None], started: _Time | None, process_time: float | None) -> _Time | None:
    """Return the time at which the process ended; None if it is not known."""
    if _EXIT in row:
        return _time(where, row, _EXIT)
    if process_time is None or started is None or started.column not in _COLUMNS["started"]:
        return None
    if started.seconds is None:
        return started
    return _Time(f"{started.column} + {process_time:g}", started.seconds + process_time)


def _time(where: str, row: dict[str, str | None], column: str) -> _Time:
    text = row[column]
    if text is None:
        raise StartupError(f"{where}: has no column {column}, the line is too short")
    if not text.strip():
        return _Time(column, None)
    try:
        seconds = float(text)
    except ValueError:
        seconds = float("nan")
    if not isfinite(seconds):
        raise StartupError(f"{where}, column {column}: expected seconds, not {text!r}")
    return _Time(column, seconds)
