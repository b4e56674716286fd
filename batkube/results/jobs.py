"""``jobs.csv`` as it is read: Batsim's own columns, of batkube, of Batsim, or of any tool that writes them.

https://batsim.readthedocs.io/en/latest/output-jobs.html
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from batkube.results.csv_rows import Table

UNKNOWN = -1.0
"""Batsim's number for a walltime or an energy that there is not."""


@dataclass(slots=True)
class JobRow:
    """A row of the file. Times are simulated seconds; those of the run itself are None for a rejected job."""

    job_id: str
    workload_name: str
    submission_time: float
    final_state: str
    starting_time: float | None
    finish_time: float | None
    profile: str = ""
    requested_number_of_resources: int = 1
    requested_time: float | None = None
    """The walltime; None for none."""
    success: bool = False
    execution_time: float | None = None
    waiting_time: float | None = None
    turnaround_time: float | None = None
    stretch: float | None = None
    allocated_resources: str = ""
    """An interval set of host numbers."""
    consumed_energy: float | None = None
    """The joules of its hosts while it ran; None where energy was not simulated."""
    metadata: str = ""

    @property
    def id(self) -> str:
        """The job as messages and ``pods.csv`` name it: ``WORKLOAD!NAME``."""
        return f"{self.workload_name}!{self.job_id}"


JOBS = Table(JobRow)


def read_jobs_csv(path: Path) -> Iterator[JobRow]:
    """Yield the jobs of a file. Raises ResultsError."""
    for row in JOBS.read(path):
        if row.requested_time == UNKNOWN:
            row.requested_time = None
        if row.consumed_energy == UNKNOWN:
            row.consumed_energy = None
        yield row
