"""The jobs that Batsim submits, as their files have them, each for the scheduler that it asks for."""

from collections.abc import Callable, Sequence
from typing import Any

from batkube.batsim import messages
from batkube.batsim.jobs import JobState
from batkube.bridge.cluster import Cluster
from batkube.bridge.job_control import JobControl
from batkube.bridge.job_files import JobFiles
from batkube.bridge.jobs import NO_REQUIREMENTS, PUBLISHED_DEFAULT_SCHEDULER, Job, PodRequirements


class Submissions:
    """Takes in each job of a JOB_SUBMITTED.

    ``default_scheduler``: the name of the scheduler of jobs that name none. ``served``: the names that running
    schedulers go by; None if they cannot be known. ``warn`` is told of jobs that no running scheduler will place.
    """

    def __init__(
        self,
        control: JobControl,
        cluster: Cluster,
        files: JobFiles,
        *,
        default_scheduler: str,
        served: Sequence[str] | None,
        warn: Callable[[str], None],
    ) -> None:
        self._control = control
        self._cluster = cluster
        self._files = files
        self._default_scheduler = default_scheduler
        self._served = served
        self._warn = warn
        self.unserved: dict[str, list[str]] = {}
        """The scheduler names that no running scheduler has, with the jobs that ask for them."""

    def begin(self, data: messages.SimulationBeginsData) -> None:
        """Take the workload files and the profiles that SIMULATION_BEGINS names."""
        self._files.begin(data.workloads, data.profiles)

    def submit(self, data: messages.JobSubmittedData) -> None:
        """Make the job and its pods. A job that cannot be understood, or can never run, is rejected."""
        submitted = self._files.description(data.job_id, data.job)
        in_file, profile = self._files.job(data.job_id, data.job, data.profile)
        requirements, storage_mapping, problem = NO_REQUIREMENTS, None, None
        try:
            requirements = PodRequirements.read(f"job {data.job_id}", in_file, profile)
            needs = self._files.storage_needs(data.job_id, submitted.profile)
            storage_mapping = self._cluster.storages.mapping(needs, requirements.storage)
        except ValueError as error:
            problem = str(error)
        scheduler = self._scheduler_of(requirements)
        job = Job(
            id=data.job_id,
            description=submitted,
            number=self._control.numbered,
            requirements=requirements,
            scheduler=scheduler,
            served=self._served is None or scheduler in self._served,
            storage_mapping=storage_mapping,
        )
        self._control.submit(job, problem=problem)
        if not job.served and job.life.state is JobState.SUBMITTED:
            if job.scheduler not in self.unserved:
                self._warn(f"no scheduler named {job.scheduler} is running: pods that ask for it will wait")
            self.unserved.setdefault(job.scheduler, []).append(job.id)

    def profile(self, name: str) -> dict[str, Any] | None:
        """Return the profile of this name of the first workload that has one; None if none has."""
        return self._files.profile(name)

    def _scheduler_of(self, requirements: PodRequirements) -> str:
        if requirements.scheduler in (None, PUBLISHED_DEFAULT_SCHEDULER):
            return self._default_scheduler
        return str(requirements.scheduler)
