"""The figures of a run, each defined here and nowhere else; ``schedule.csv`` alone has Batsim's own.

All are over the jobs that ran, whatever their end: those that were rejected, or have not ended, count for nothing.
Times are simulated seconds, those that ``jobs.csv`` has.
"""

from collections.abc import Iterable
from typing import Protocol

from pydantic import BaseModel

from batkube.results.run import Jobs

DIGITS = 6
"""The decimals that figures are rounded to, which are those of Batsim's files."""


class EndedJob(Protocol):
    """A job that is over, as a row of ``jobs.csv`` has it."""

    @property
    def submission_time(self) -> float:
        """The date at which it was submitted."""

    @property
    def starting_time(self) -> float | None:
        """The date at which it began to run; None for a rejected one."""

    @property
    def finish_time(self) -> float | None:
        """The date at which it was over; None for a rejected one."""

    @property
    def final_state(self) -> str:
        """Batsim's word for how it ended."""


class Figures(BaseModel, frozen=True):
    """The figures that sum up the jobs that ran; None where none has."""

    jobs_ended: int = 0
    """The number of jobs that ran and have ended."""
    makespan: float | None = None
    """The date at which the last of them ended, counted from 0, where the simulation begins."""
    mean_waiting_time: float | None = None
    """The mean of the seconds from a job's submission to its start."""
    mean_turnaround_time: float | None = None
    """The mean of the seconds from a job's submission to its end."""


def figures(jobs: Iterable[EndedJob]) -> Figures:
    """Compute the figures of these jobs."""
    ran = [
        (job.submission_time, job.starting_time or 0.0, job.finish_time) for job in jobs if job.finish_time is not None
    ]
    if not ran:
        return Figures()
    return Figures(
        jobs_ended=len(ran),
        makespan=round(max(finish for _, _, finish in ran), DIGITS),
        mean_waiting_time=round(sum(start - submitted for submitted, start, _ in ran) / len(ran), DIGITS),
        mean_turnaround_time=round(sum(finish - submitted for submitted, _, finish in ran) / len(ran), DIGITS),
    )


def job_counts(jobs: Iterable[EndedJob], *, submitted: int, over: int) -> Jobs:
    """Count the jobs by their ends. ``over``: how many of those that were submitted have ended or were rejected."""
    counts = Jobs(submitted=submitted, unfinished=submitted - over)
    for job in jobs:
        match job.final_state:
            case "REJECTED":
                counts.rejected += 1
            case "COMPLETED_SUCCESSFULLY":
                counts.succeeded += 1
            case "COMPLETED_WALLTIME_REACHED":
                counts.walltime_reached += 1
            case "COMPLETED_KILLED":
                counts.killed += 1
            case _:
                counts.failed += 1
    return counts
