"""Ended jobs as rows of jobs.csv."""

from collections.abc import Iterable

from batkube.batsim.outputs import REJECTED, JobRecord
from batkube.simulator.dates import seconds
from batkube.simulator.jobs import JobState, SimulatedJob


def job_records(jobs: Iterable[SimulatedJob]) -> list[JobRecord]:
    """One record a job, in the order given."""
    return [_record(job) for job in jobs]


def _record(job: SimulatedJob) -> JobRecord:
    ran = job.state is JobState.COMPLETED
    return JobRecord(
        job_id=job.job.id,
        workload_name=job.workload,
        profile=job.job.profile,
        submission_time=job.job.subtime,
        requested_number_of_resources=job.job.res,
        requested_time=job.job.walltime,
        success=job.final_state == "COMPLETED_SUCCESSFULLY",
        final_state=job.final_state or REJECTED,
        starting_time=seconds(job.start) if ran else None,
        finish_time=seconds(job.finish) if ran else None,
        allocated_resources=job.allocation,
        metadata=job.metadata,
    )
