"""Static jobs: who is submitted when, in which order."""

from collections.abc import Iterable, Sequence

from batkube.batsim.job_id import job_id
from batkube.batsim.profiles import Profile
from batkube.batsim.workload import Workload, WorkloadError, job_parts
from batkube.simulator.dates import nanoseconds
from batkube.simulator.jobs import SimulatedJob
from batkube.simulator.parallel_task import check_supported


def simulated_jobs(workloads: Iterable[Workload]) -> list[SimulatedJob]:
    """All jobs, workload by workload, in order of submission: by date, then by id as a string, as Batsim sorts.

    Raises WorkloadError for a job that the embedded simulator cannot run.
    """
    jobs = []
    for workload in workloads:
        elements: dict[str, dict[str, Profile]] = {}
        for job in sorted(workload.jobs.values(), key=lambda job: (job.subtime, job.id)):
            if job.profile not in elements:
                found = job_parts(job, workload.profiles)
                try:
                    check_supported(found)
                except ValueError as error:
                    raise WorkloadError(f"{workload.path or workload.name}: job {job.id!r}: {error}") from None
                elements[job.profile] = {profile.name: profile for profile in found}
            full = job_id(workload.name, job.id)
            wire = {**job.raw, "id": full}
            jobs.append(SimulatedJob(full, workload.name, job, elements[job.profile], wire))
    return jobs


def by_date(jobs: Sequence[SimulatedJob]) -> dict[int, list[SimulatedJob]]:
    """The jobs of each submission date in nanoseconds. What was due before 0 is submitted at 0."""
    dates: dict[int, list[SimulatedJob]] = {}
    for job in jobs:
        dates.setdefault(max(0, nanoseconds(job.job.subtime)), []).append(job)
    return dates
