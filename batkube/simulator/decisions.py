"""Decisions carried out, or refused where Batsim aborts.

Every refusal is an InvalidDecision that names the event and the reason.
"""

from collections.abc import Callable, Sequence
from typing import Any

from batkube.batsim import messages as m
from batkube.batsim.allocation import parse_intervals
from batkube.batsim.platform import Host, PlatformError
from batkube.batsim.profiles import HomogeneousProfile, Profile, parts
from batkube.simulator.dates import is_later, nanoseconds
from batkube.simulator.engine import Engine
from batkube.simulator.errors import InvalidDecision
from batkube.simulator.execution import Execution
from batkube.simulator.jobs import JobState, SimulatedJob
from batkube.simulator.registration import Registration


class Decisions:
    """Applies the events of replies to the simulated world."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.registration = Registration(engine)
        self._verbs: dict[type, Callable[[Any], None]] = {
            m.ExecuteJob: self._execute,
            m.RejectJob: self._reject,
            m.KillJob: self._kill,
            m.CallMeLater: self._call_me_later,
            m.RegisterProfile: self._register_profile,
            m.RegisterJob: self._register_job,
            m.Notify: self._notify,
            m.SetJobMetadata: self._set_job_metadata,
        }

    def apply(self, index: int, event: m.Event) -> None:
        """Carry out one event, number ``index`` of its reply. Raises InvalidDecision."""
        verb = self._verbs.get(type(event))
        try:
            if verb is None:
                raise ValueError("is no decision that the embedded simulator knows")
            verb(event.data)
        except (ValueError, PlatformError) as error:
            raise InvalidDecision(f"invalid decision: event {index} ({event.type}): {error}") from None

    # Jobs

    def _job(self, job_id: str) -> SimulatedJob:
        job = self._engine.jobs.get(job_id)
        if job is None:
            raise ValueError(f"there is no job {job_id}")
        if job.announced:
            raise ValueError(f"job {job_id} has completed, and its completion was told")
        return job

    def _execute(self, data: m.ExecuteJobData) -> None:
        engine = self._engine
        job = self._job(data.job_id)
        _at_most_one_option(data)
        if job.state is not JobState.SUBMITTED:
            raise ValueError(f"job {job.id} {_STATES[job.state]}")
        try:
            hosts = parse_intervals(data.alloc)
        except ValueError as error:
            raise ValueError(f"job {job.id}: alloc: {error}") from None
        if not hosts:
            raise ValueError(f"job {job.id}: alloc: names no host")
        elements = parts(job.profile, engine.known_profiles(job.workload))
        try:
            engine.hosts.check(hosts)
            executors = self._executors(job, hosts, data.mapping, elements)
            execution = Execution(
                job.profile,
                {element.name: element for element in elements},
                executors,
                engine.machinery,
                lambda code: engine.end_by_itself(job, code),
            )
            engine.hosts.take(job.id, hosts)
        except ValueError as error:
            raise ValueError(f"job {job.id}: {error}") from None
        engine.start(job, hosts, execution)

    def _executors(
        self, job: SimulatedJob, hosts: Sequence[int], mapping: dict[str, int] | None, elements: Sequence[Profile]
    ) -> list[Host]:
        """The host of each executor."""
        wanted = job.job.res
        places = [self._engine.hosts.all[number].host for number in hosts]
        if mapping is None:
            if len(hosts) != wanted and not _any_size(elements):
                raise ValueError(f"alloc: {len(hosts)} hosts for a job that asks for {wanted}, and no mapping")
            return places
        if len(mapping) != wanted:
            raise ValueError(f"mapping: {len(mapping)} executors for a job that asks for {wanted}")
        executors = []
        for executor in range(wanted):
            position = mapping.get(str(executor))
            if position is None:
                raise ValueError(f"mapping: executor {executor} is missing")
            if not 0 <= position < len(places):
                raise ValueError(f"mapping: executor {executor}: there is no position {position} in alloc")
            executors.append(places[position])
        return executors

    def _reject(self, data: m.RejectJobData) -> None:
        if data.model_extra:
            raise ValueError(f"Batsim aborts on other members than job_id: {', '.join(data.model_extra)}")
        job = self._job(data.job_id)
        if job.state is not JobState.SUBMITTED:
            raise ValueError(f"job {job.id} {_STATES[job.state]}")
        self._engine.reject(job)

    def _kill(self, data: m.KillJobData) -> None:
        jobs = [self._job(job_id) for job_id in dict.fromkeys(data.job_ids)]
        for job in jobs:
            if job.state not in (JobState.RUNNING, JobState.COMPLETED):
                raise ValueError(f"job {job.id} {_STATES[job.state]}")
        self._engine.kill(jobs)

    def _set_job_metadata(self, data: m.SetJobMetadataData) -> None:
        self._job(data.job_id).metadata = data.metadata

    # Time

    def _call_me_later(self, data: m.CallMeLaterData) -> None:
        date = nanoseconds(data.timestamp)
        if not is_later(date, self._engine.now):
            raise ValueError(f"timestamp {data.timestamp} is not in the future")
        self._engine.call_later(date)

    # Dynamic jobs

    def _register_profile(self, data: m.RegisterProfileData) -> None:
        self.registration.profile(data.workload_name, data.profile_name, data.profile)

    def _register_job(self, data: m.RegisterJobData) -> None:
        self.registration.job(data.job_id, data.job)

    def _notify(self, data: m.NotifyData) -> None:
        self.registration.notified(data.type)


_STATES = {
    JobState.NOT_SUBMITTED: "has not been submitted yet",
    JobState.SUBMITTED: "has not been started",
    JobState.RUNNING: "was started already",
    JobState.COMPLETED: "was started already",
    JobState.REJECTED: "was rejected",
}


def _any_size(elements: Sequence[Profile]) -> bool:
    """Whether the job may run on any number of hosts: its amounts are totals, which any number may share."""
    leaves = [element for element in elements if element.type != "composed"]
    return all(isinstance(leaf, HomogeneousProfile) and leaf.total for leaf in leaves)


def _at_most_one_option(data: m.ExecuteJobData) -> None:
    given = [name for name in ("mapping", "storage_mapping", "additional_io_job") if getattr(data, name) is not None]
    given += list(data.model_extra or {})
    if len(given) > 1:
        raise ValueError(f"job {data.job_id}: Batsim takes one further member at most, not {' and '.join(given)}")
    if data.additional_io_job is not None:
        raise ValueError(f"job {data.job_id}: the embedded simulator does not know additional_io_job")
