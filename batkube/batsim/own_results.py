"""The ``jobs.csv`` that Batsim itself writes: its dates are the true ones.

The dates in Batsim's messages are those at which its own server has heard of an event, some microseconds to
milliseconds after a job has started or ended. The file has the dates of the jobs themselves.
https://batsim.readthedocs.io/en/latest/output-jobs.html
"""

import csv
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from batkube.batsim.outputs import REJECTED, STATES, TIME_COLUMNS, JobRecord, MachineTotals

JobKey = tuple[str, str]
"""Workload and job."""

_NEEDED = ("job_id", "workload_name", "final_state", *TIME_COLUMNS)


class OwnResultsError(ValueError):
    """A result file of Batsim's that cannot be used. The text, one line, names file and row."""


class Contradiction(ValueError):
    """A contradiction between Batsim's file and its messages. The text names the job."""


@dataclass(frozen=True)
class OwnJob:
    """A row of the file."""

    final_state: str
    printed: tuple[str, ...]
    """The values of TIME_COLUMNS as in the file."""
    starting_time: float | None
    """The start in simulated seconds; None for a rejected job."""
    finish_time: float | None


def read_jobs_csv(path: Path) -> dict[JobKey, OwnJob]:
    """Return the jobs in the order of the file: that of their ends (Batsim 3: of their names).

    Raises OwnResultsError.
    """
    jobs: dict[JobKey, OwnJob] = {}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = csv.DictReader(file)
            missing = [name for name in _NEEDED if name not in (rows.fieldnames or ())]
            if missing:
                raise OwnResultsError(f"{path}: has no column {missing[0]}")
            for number, row in enumerate(rows, start=2):
                try:
                    jobs[row["workload_name"], row["job_id"]] = _job(row)
                except ValueError as error:
                    raise OwnResultsError(f"{path}: line {number}: {error}") from None
    except OSError as error:
        raise OwnResultsError(f"{path}: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise OwnResultsError(f"{path}: {error}") from None
    return jobs


def read_machine_totals(path: Path) -> MachineTotals:
    """Return the totals of machines in a ``schedule.csv``. Raises OwnResultsError."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            row = next(csv.DictReader(file), None)
        if row is None:
            raise OwnResultsError(f"{path}: has no row")
        return MachineTotals(
            times={state: float(row[f"time_{state}"]) for state in STATES},
            consumed_joules=float(row["consumed_joules"]),
            nb_grouped_switches=int(row["nb_grouped_switches"]),
            nb_machine_switches=int(row["nb_machine_switches"]),
        )
    except OSError as error:
        raise OwnResultsError(f"{path}: {error.strerror}") from None
    except KeyError as error:
        raise OwnResultsError(f"{path}: has no column {error.args[0]}") from None
    except (UnicodeDecodeError, csv.Error, ValueError) as error:
        raise OwnResultsError(f"{path}: {error}") from None


def dated_by(records: Iterable[JobRecord], own: dict[JobKey, OwnJob]) -> list[JobRecord]:
    """Return ``records`` with the dates, hosts and energy that Batsim's file gives them, in the order of the file.

    Records that the file lacks (of a Batsim that ended too early) keep theirs and come last. Raises Contradiction.
    """
    ours = {(record.workload_name, record.job_id): record for record in records}
    dated = []
    for key, job in own.items():
        name = "!".join(key)
        record = ours.pop(key, None)
        if record is None:
            raise Contradiction(f"Batsim's file has job {name} ({job.final_state}), of whose end it has told nothing")
        if record.final_state != job.final_state:
            raise Contradiction(f"job {name}: Batsim's file has {job.final_state}, its messages {record.final_state}")
        if job.starting_time is None:
            dated.append(record)
        else:
            dated.append(
                replace(record, starting_time=job.starting_time, finish_time=job.finish_time, printed=job.printed)
            )
    return dated + list(ours.values())


def _job(row: dict[str, str | None]) -> OwnJob:
    if None in row.values() or None in row:
        raise ValueError("is cut short, or too long")
    printed = tuple(str(row[name]) for name in TIME_COLUMNS)
    if row["final_state"] == REJECTED:
        return OwnJob(REJECTED, printed, None, None)
    dates = []
    for name in ("starting_time", "finish_time"):
        date = float(str(row[name]))
        if not math.isfinite(date):
            raise ValueError(f"{name}: is {row[name]}")
        dates.append(date)
    return OwnJob(str(row["final_state"]), printed, *dates)
