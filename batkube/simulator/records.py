"""Ended jobs as rows of jobs.csv."""

from collections.abc import Iterable

from batkube.batsim.outputs import REJECTED, JobRecord
from batkube.simulator.jobs import JobState, SimulatedJob


def job_records(jobs: Iterable[SimulatedJob]) -> list[JobRecord]:
    """Return one record for each job, in the order given."""
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
        starting_time=job.start if ran else None,
        finish_time=job.finish if ran else None,
        allocated_resources=job.allocation,
        consumed_energy=job.consumed_energy,
        metadata=job.metadata,
    )
