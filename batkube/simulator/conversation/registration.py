"""Jobs and profiles that the decision process adds at run time."""

from typing import Any

from batkube.batsim.job_id import split_job_id
from batkube.batsim.jobs import JobState, parse_job
from batkube.batsim.profiles import parse_profile
from batkube.batsim.workload import check_size, job_parts
from batkube.simulator.books.jobs import SimulatedJob
from batkube.simulator.controls.control import Handle
from batkube.simulator.server.engine import Engine


class Registration:
    """The registration of dynamic jobs, with the checks on them. Raises ValueErrors that say what is wrong."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._enabled = engine.options.dynamic_jobs
        self._finished = False

    @property
    def over(self) -> bool:
        """True if no job can come any more: the simulation may end."""
        return not self._enabled or self._finished

    def notified(self, what: str) -> Handle:
        """Return the handling of a NOTIFY from the decision process.

        The server handles it after the next event of the reply has been read: too late for a registration right after
        it.
        """
        if what not in ("registration_finished", "continue_registration"):
            raise ValueError(f"type: expected registration_finished or continue_registration, not {what!r}")

        def handle() -> None:
            self._finished = what == "registration_finished"

        return handle

    def profile(self, workload: str, name: str, raw: dict[str, Any]) -> None:
        """Register a profile (REGISTER_PROFILE)."""
        self._check_open()
        try:
            profile = parse_profile(name, raw)
            profile.check_registered()
        except ValueError as error:
            raise ValueError(f"profile {name!r}: {error}") from None
        self._engine.profiles.add(workload, profile)

    def job(self, job_id: str, raw: dict[str, Any]) -> SimulatedJob:
        """Register a job (REGISTER_JOB), which may be started from now on, and return it."""
        self._check_open()
        engine = self._engine
        workload, name = split_job_id(job_id)
        if workload not in engine.profiles:
            raise ValueError(f"job {job_id}: there is no workload {workload}: register a profile in it first")
        if job_id in engine.jobs:
            raise ValueError(f"job {job_id} exists already")
        if raw.get("id") not in (job_id, name):
            raise ValueError(f"job {job_id}: id: expected {job_id}, not {raw.get('id')!r}")
        try:
            engine.profiles.check_name(workload, raw.get("profile"))
            job = parse_job({**raw, "id": name})
            elements = job_parts(job, engine.profiles.of(workload))
            check_size(job, elements)
        except ValueError as error:
            raise ValueError(f"job {job_id}: {error}") from None
        by_name = {profile.name: profile for profile in elements}
        engine.jobs[job_id] = simulated = SimulatedJob(job_id, workload, job, by_name, {**raw, "id": job_id})
        simulated.life.move(JobState.SUBMITTED)
        return simulated

    def _check_open(self) -> None:
        if not self._enabled:
            raise ValueError("dynamic jobs are not enabled")
        if self._finished:
            raise ValueError("registration_finished has been said, and continue_registration not well before")
