"""``jobs.csv``: a row for each job that is over.

https://batsim.readthedocs.io/en/latest/output-jobs.html
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from batkube.batsim.job_id import split_job_id
from batkube.batsim.jobs import JobDescription, JobLife, JobState

REJECTED = JobState.REJECTED.value
_BREAKS_ROW = re.compile(r'[,"\r\n]')
SHORTEST_EXECUTION = 1e-5
"""The execution time in seconds that Batsim writes for a job that took no time at all, so that its stretch is a
number."""

TIME_COLUMNS = (
    "starting_time",
    "execution_time",
    "finish_time",
    "waiting_time",
    "turnaround_time",
    "stretch",
    "allocated_resources",
    "consumed_energy",
)
"""The columns that are empty for a rejected job."""

_HEADER = (
    "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state,"
    "starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,consumed_energy,"
    "metadata\n"
)


@dataclass(frozen=True, slots=True)
class JobRecord:
    """A job that has ended. Times are simulated seconds; those of the run itself are None for a rejected job."""

    job_id: str
    """The name alone, without the workload."""
    workload_name: str
    profile: str
    submission_time: float
    """The submission time by the workload file."""
    requested_number_of_resources: int
    requested_time: float | None
    """The walltime; None for none."""
    success: bool
    final_state: str
    """``COMPLETED_...`` or ``REJECTED``."""
    starting_time: float | None = None
    finish_time: float | None = None
    allocated_resources: str = ""
    """An interval set of host numbers."""
    consumed_energy: float | None = None
    """Joules; None if energy is not simulated."""
    metadata: str = ""
    printed: tuple[str, ...] | None = None
    """The values of TIME_COLUMNS as Batsim itself has written them, if they are known."""

    @classmethod
    def of(
        cls,
        job_id: str,
        job: JobDescription,
        life: JobLife,
        *,
        hosts: str,
        consumed_energy: float | None = None,
        metadata: str = "",
    ) -> "JobRecord":
        """Return the record of a job that is over; ``hosts`` is the interval set of those that it ran on."""
        workload, name = split_job_id(job_id)
        ran = life.state.completed
        return cls(
            job_id=name,
            workload_name=workload,
            profile=job.profile,
            submission_time=job.subtime,
            requested_number_of_resources=job.res,
            requested_time=job.walltime,
            success=life.state is JobState.COMPLETED_SUCCESSFULLY,
            final_state=life.state.value if ran else REJECTED,
            starting_time=life.starting_time if ran else None,
            finish_time=life.finish_time if ran else None,
            allocated_resources=hosts,
            consumed_energy=consumed_energy,
            metadata=metadata,
        )


@dataclass(frozen=True, slots=True)
class Run:
    """The times of a job that ran, as Batsim writes them."""

    record: JobRecord
    start: float
    execution: float
    finish: float

    @property
    def waiting(self) -> float:
        return self.start - self.record.submission_time

    @property
    def turnaround(self) -> float:
        return self.finish - self.record.submission_time

    @property
    def stretch(self) -> float:
        return self.turnaround / self.execution


def run_of(record: JobRecord) -> Run | None:
    start, finish = record.starting_time, record.finish_time
    if start is None or finish is None:
        return None
    if finish == start:
        finish = start + SHORTEST_EXECUTION
        return Run(record, start, SHORTEST_EXECUTION, finish)
    return Run(record, start, finish - start, finish)


def write_jobs_csv(path: Path, records: Iterable[JobRecord]) -> None:
    """Write one row for each record, in the order given: Batsim's is that of completion and rejection."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(_HEADER)
        for record in records:
            file.write(_row(record))


def _row(record: JobRecord) -> str:
    walltime = -1.0 if record.requested_time is None else record.requested_time
    fields = [
        _text(record.job_id),
        _text(record.workload_name),
        _text(record.profile),
        f"{record.submission_time:.6f}",
        str(record.requested_number_of_resources),
        f"{walltime:.6f}",
        str(int(record.success)),
        record.final_state,
    ]
    if record.printed is not None:
        fields += record.printed
    elif run := run_of(record):
        energy = -1.0 if record.consumed_energy is None else record.consumed_energy
        fields.append(
            f"{run.start:.6f},{run.execution:.6f},{run.finish:.6f},"
            f"{run.waiting:.6f},{run.turnaround:.6f},{run.stretch:.6f}"
        )
        fields += [record.allocated_resources, f"{energy:.6f}"]
    else:
        fields += [""] * 8
    return ",".join(fields) + ',"' + record.metadata.replace('"', '""') + '"\n'


def _text(value: str) -> str:
    """Return a name for a row. Batsim writes names as they are; names that would break the row are quoted."""
    if _BREAKS_ROW.search(value):
        return '"' + value.replace('"', '""') + '"'
    return value
