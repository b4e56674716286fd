"""Jobs that have ended, as rows of Batsim's ``jobs.csv``."""

from collections.abc import Iterable

from batkube.batsim.allocation import format_intervals
from batkube.batsim.outputs import REJECTED, JobRecord
from batkube.bridge.job_control import SUCCESS
from batkube.bridge.jobs import Job, JobState


def job_records(ended: Iterable[Job]) -> list[JobRecord]:
    """Return one record for each job, in the order given."""
    return [job_record(job) for job in ended]


def job_record(job: Job) -> JobRecord:
    """Return the record of one job that is over."""
    ran = job.state is JobState.ENDED
    return JobRecord(
        job_id=job.name,
        workload_name=job.workload,
        profile=job.profile,
        submission_time=job.subtime,
        requested_number_of_resources=job.resources,
        requested_time=job.walltime,
        success=job.batsim_state == SUCCESS,
        final_state=job.batsim_state if ran else REJECTED,
        starting_time=job.starting_time if ran else None,
        finish_time=job.finish_time if ran else None,
        allocated_resources=format_intervals(sorted(set(job.hosts))) if ran else "",
    )
