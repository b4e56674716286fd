"""Jobs and profiles that the decision process adds at run time."""

from typing import Any

from batkube.batsim.job_id import split_job_id
from batkube.batsim.profiles import ComposedProfile, UnknownProfile, parse_profile
from batkube.batsim.workload import check_size, job_parts, parse_job
from batkube.simulator.engine import Engine
from batkube.simulator.jobs import SimulatedJob
from batkube.simulator.parallel_task import check_supported


class Registration:
    """Whether dynamic jobs may come, and the checks on those that do. Raises ValueErrors that say what is wrong."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._enabled = engine.options.dynamic_jobs
        self._finished = False
        self._open = self._enabled

    @property
    def over(self) -> bool:
        """Whether no job can come any more: the simulation may end."""
        return not self._enabled or self._finished

    def begin_reply(self) -> None:
        """Batsim reads a whole reply before ``continue_registration`` takes effect."""
        self._open = self._enabled and not self._finished

    def notified(self, what: str) -> None:
        """NOTIFY from the decision process."""
        if what == "registration_finished":
            self._finished = True
            self._open = False
        elif what == "continue_registration":
            self._finished = False
        else:
            raise ValueError(f"type: expected registration_finished or continue_registration, not {what!r}")

    def profile(self, workload: str, name: str, raw: dict[str, Any]) -> None:
        """REGISTER_PROFILE."""
        self._check_open()
        try:
            profile = parse_profile(name, raw)
        except ValueError as error:
            raise ValueError(f"profile {name!r}: {error}") from None
        if isinstance(profile, UnknownProfile):
            raise ValueError(f"profile {name!r}: type: {profile.type!r} is no profile type")
        if isinstance(profile, ComposedProfile):
            raise ValueError(f"profile {name!r}: Batsim crashes on a composed profile that is registered at run time")
        check_supported([profile])
        self._engine.profiles.add(workload, profile)

    def job(self, job_id: str, raw: dict[str, Any]) -> None:
        """REGISTER_JOB."""
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
        engine.profiles.use(workload, by_name)
        engine.submit(simulated, announce=engine.options.acknowledge_dynamic_jobs)

    def _check_open(self) -> None:
        if not self._enabled:
            raise ValueError("dynamic jobs are not enabled")
        if not self._open:
            raise ValueError("registration_finished has been said, and continue_registration not in an earlier reply")
