"""Decisions carried out, or refused where Batsim aborts.

Every refusal is an InvalidDecision that names the event and the reason.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from batkube.batsim import messages as m
from batkube.batsim.allocation import parse_intervals
from batkube.batsim.platform import Host, PlatformError
from batkube.batsim.profiles import ComposedProfile, HomogeneousProfile, ParallelProfile, Profile, parse_profile
from batkube.simulator.dates import is_later, nanoseconds
from batkube.simulator.engine import Engine
from batkube.simulator.errors import InvalidDecision
from batkube.simulator.execution import Execution, Placement
from batkube.simulator.jobs import JobState, SimulatedJob
from batkube.simulator.parallel_task import Work, storages, work
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
            m.Answer: lambda _: None,
            m.Query: self._needs_energy,
            m.SetResourceState: self._needs_energy,
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
        try:
            placement = self._placement(job, hosts, data)
            execution = Execution(
                job.profile, job.elements, placement, engine.machinery, lambda code: engine.end_by_itself(job, code)
            )
            execution.prepare()
            engine.hosts.take(job.id, hosts)
        except ValueError as error:
            raise ValueError(f"job {job.id}: {error}") from None
        engine.start(job, hosts, execution)

    def _placement(self, job: SimulatedJob, numbers: tuple[int, ...], data: m.ExecuteJobData) -> Placement:
        self._engine.hosts.check(numbers)
        executors = self._executors(job, numbers, data.mapping)
        mapping = data.storage_mapping or {}
        given = {name: self._storage(name, mapping) for profile in job.elements.values() for name in storages(profile)}
        io = self._io(data.additional_io_job) if data.additional_io_job is not None else None
        return Placement(executors, given, io)

    def _storage(self, name: str, mapping: dict[str, int]) -> Host:
        """The host that a profile calls so: by the mapping, else the only storage host there is."""
        hosts = self._engine.hosts
        if name in mapping:
            hosts.check((mapping[name],))
            return hosts.all[mapping[name]].host
        storage = self._engine.resources.storage
        if len(storage) != 1:
            raise ValueError(f"storage_mapping: says nothing of {name!r}, and there are {len(storage)} storage hosts")
        return storage[0]

    def _io(self, raw: dict[str, Any]) -> tuple[list[Host], Work]:
        """An additional I/O job: a parallel profile on hosts of its own."""
        hosts = self._engine.hosts
        try:
            numbers = parse_intervals(str(raw.get("alloc")))
            hosts.check(numbers)
            profile = parse_profile(str(raw.get("profile_name")), raw.get("profile"))
            if not isinstance(profile, ParallelProfile | HomogeneousProfile):
                raise ValueError(f"profile: expected a parallel one, not {profile.type!r}")
            if isinstance(profile, ParallelProfile) and profile.executors != len(numbers):
                raise ValueError(f"profile: is made for {profile.executors} hosts, not {len(numbers)}")
        except ValueError as error:
            raise ValueError(f"additional_io_job: {error}") from None
        return [hosts.all[number].host for number in numbers], work(profile, len(numbers))

    def _executors(self, job: SimulatedJob, hosts: Sequence[int], mapping: dict[str, int] | None) -> list[Host]:
        """The host of each executor."""
        wanted = job.job.res
        places = [self._engine.hosts.all[number].host for number in hosts]
        if mapping is None:
            if len(hosts) != wanted and not _any_size(job.elements.values()):
                raise ValueError(f"alloc: expected {wanted} hosts or a mapping, not {len(hosts)}")
            return places
        if len(mapping) != wanted:
            raise ValueError(f"mapping: expected {wanted} executors, not {len(mapping)}")
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

    def _needs_energy(self, data: m.QueryData | m.ResourceStateData) -> None:
        raise ValueError("energy is not simulated (Batsim aborts without its option -E)")

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


def _any_size(elements: Iterable[Profile]) -> bool:
    """Whether the job may run on any number of hosts: its amounts are totals, which any number may share."""
    return all(
        isinstance(element, ComposedProfile) or (isinstance(element, HomogeneousProfile) and element.total)
        for element in elements
    )


def _at_most_one_option(data: m.ExecuteJobData) -> None:
    extra = data.model_extra or {}
    options = (data.mapping, data.storage_mapping, data.additional_io_job)
    if len(extra) + len(options) - options.count(None) <= 1:
        return
    names = ("mapping", "storage_mapping", "additional_io_job")
    given = [name for name, value in zip(names, options, strict=True) if value is not None]
    told = " and ".join([*given, *extra])
    raise ValueError(f"job {data.job_id}: Batsim takes one further member at most, not {told}")
