"""Decisions: read, and refused where Batsim aborts.

Batsim looks at a decision twice: when it reads it (``protocol.cpp``), and when its server handles it, some time later
(``server.cpp``). This module does the same. Every refusal is an InvalidDecision that names the event and the reason.
"""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from batkube.batsim import messages as m
from batkube.batsim.allocation import parse_intervals
from batkube.batsim.errors import ProtocolError
from batkube.batsim.jobs import COMPLETED, JobState
from batkube.batsim.platform import PlatformError
from batkube.simulator.books.jobs import SimulatedJob
from batkube.simulator.controls.control import Handle
from batkube.simulator.conversation.errors import InvalidDecision
from batkube.simulator.conversation.registration import Registration
from batkube.simulator.server.engine import Engine
from batkube.simulator.work.placement import Alloc, check_size, read_alloc

Reader = Callable[[Any], Handle | None]
"""Reads the data of an event. Returns the server's handling, or None if the server is told nothing. Raises
ValueError."""


class Decisions:
    """Reads the events of replies."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.registration = Registration(engine)
        self._readers: dict[type, Reader] = {
            m.ExecuteJob: self._execute,
            m.RejectJob: self._reject,
            m.KillJob: self._kill,
            m.CallMeLater: self._call_me_later,
            m.RegisterProfile: self._register_profile,
            m.RegisterJob: self._register_job,
            m.Notify: self._notify,
            m.SetJobMetadata: self._set_job_metadata,
            m.ToJobMsg: self._to_job,
            m.Answer: self._answer,
            m.Query: self._query,
            m.SetResourceState: self._set_resource_state,
            m.ChangeJobState: self._change_job_state,
        }

    def read(self, index: int, event: m.Event, now: float) -> Handle | None:
        """Return the server's handling of event number ``index`` of a reply with this ``now``; None for nothing.

        Raises InvalidDecision, as the handle does; ProtocolError for a timestamp after ``now``.
        """
        if event.timestamp > now:
            raise ProtocolError(
                f"bad message: event {index} ({event.type}): timestamp {event.timestamp} is after now {now}"
            )
        reader = self._readers.get(type(event))
        try:
            if reader is None:
                raise ValueError("is no decision that the embedded simulator knows")
            handle = reader(event.data)
        except (ValueError, PlatformError) as error:
            raise _invalid(index, event, error) from None
        return None if handle is None else partial(_carry_out, handle, index, event)

    # Jobs

    def _job(self, job_id: str) -> SimulatedJob:
        job = self._engine.jobs.get(job_id)
        if job is None:
            raise ValueError(f"there is no job {job_id}")
        if job.announced:
            how = "was rejected" if job.life.state is JobState.REJECTED else "has completed"
            raise ValueError(f"job {job_id} {how}, and its completion was told")
        return job

    def _waiting_job(self, job_id: str) -> SimulatedJob:
        job = self._job(job_id)
        if job.life.state is not JobState.SUBMITTED:
            raise ValueError(f"job {job_id} {_STATES[job.life.state]}")
        return job

    def _execute(self, data: m.ExecuteJobData) -> Handle:
        job = self._job(data.job_id)
        _at_most_one_option(data)
        try:
            alloc = read_alloc(job, data, self._engine.hosts, self._engine.profiles)
        except ValueError as error:
            raise ValueError(f"job {job.id}: {error}") from None
        return lambda: self._start(job, alloc)

    def _start(self, job: SimulatedJob, alloc: Alloc) -> None:
        engine = self._engine
        if job.life.state is not JobState.SUBMITTED:
            raise ValueError(f"job {job.id} {_STATES[job.life.state]}")
        try:
            engine.hosts.check_free(alloc.hosts)
            check_size(job, alloc)
            placement = alloc.placement(job, engine.hosts, engine.resources.storage)
            engine.runner.start(job, alloc.hosts, placement)
        except ValueError as error:
            raise ValueError(f"job {job.id}: {error}") from None

    def _reject(self, data: m.RejectJobData) -> Handle:
        if data.model_extra:
            raise ValueError(f"Batsim aborts on other members than job_id: {', '.join(data.model_extra)}")
        return lambda: self._engine.server.reject(self._waiting_job(data.job_id))

    def _kill(self, data: m.KillJobData) -> Handle:
        _no_other_members(data, "job_ids")
        return lambda: self._kill_all(data.job_ids)

    def _kill_all(self, job_ids: list[str]) -> None:
        jobs = [self._job(job_id) for job_id in dict.fromkeys(job_ids)]
        for job in jobs:
            if job.life.state is not JobState.RUNNING and not job.life.state.completed:
                raise ValueError(f"job {job.id} {_STATES[job.life.state]}")
        self._engine.runner.kill(jobs)

    def _set_job_metadata(self, data: m.SetJobMetadataData) -> Handle:
        _no_other_members(data, "job_id and metadata")

        def handle() -> None:
            self._job(data.job_id).metadata = data.metadata

        return handle

    def _to_job(self, data: m.ToJobMsgData) -> Handle:
        return lambda: self._job(data.job_id).receive(data.msg)

    def _change_job_state(self, data: m.ChangeJobStateData) -> Handle:
        """Handle CHANGE_JOB_STATE: Batsim 4 then takes a job for running.

        Any other decision on that job makes it abort.
        """
        if data.job_state in (JobState.COMPLETED_FAILED, JobState.SUBMITTED):
            raise ValueError(f"is no decision: Batsim does not take {data.job_state} (job {data.job_id})")
        return lambda: self._change_state(data)

    def _change_state(self, data: m.ChangeJobStateData) -> None:
        job = self._job(data.job_id)
        if job.life.state is not JobState.SUBMITTED or data.job_state is not JobState.RUNNING:
            raise ValueError(f"is no decision: Batsim 4 aborts on it (job {data.job_id} to {data.job_state})")
        job.life.move(JobState.RUNNING)

    # Energy

    def _query(self, data: m.QueryData) -> Handle:
        _no_other_members(data, "requests")
        if list(data.requests) != ["consumed_energy"] or data.requests["consumed_energy"]:
            raise ValueError('requests: expected {"consumed_energy": {}}, as Batsim does')
        energy = self._engine.books.energy
        if energy is None:
            raise ValueError(_NO_ENERGY)
        return lambda: self._engine.server.consumed_energy(energy.total)

    def _set_resource_state(self, data: m.ResourceStateData) -> Handle:
        _no_other_members(data, "resources and state")
        hosts = parse_intervals(data.resources)
        if not hosts:
            raise ValueError("resources: names no host")
        if not _PSTATE.fullmatch(data.state):
            raise ValueError(f"state: expected the number of a pstate, not {data.state!r}")
        switching = self._engine.switching
        if switching is None:
            raise ValueError(_NO_ENERGY)
        return lambda: switching.set_state(hosts, int(data.state))

    def _answer(self, data: m.AnswerData) -> None:
        """Do nothing, as Batsim does after a warning."""
        known = {"estimate_waiting_time"}
        if unknown := (data.model_extra or {}).keys() - known or data.consumed_energy is not None:
            raise ValueError(f"unknown answer: {unknown}")

    # Time

    def _call_me_later(self, data: m.CallMeLaterData) -> Handle:
        _no_other_members(data, "timestamp")
        return lambda: self._call_later(data.timestamp)

    def _call_later(self, timestamp: float) -> None:
        self._engine.control.check_call(timestamp)
        self._engine.waiter.call_later(timestamp)

    # Dynamic jobs

    def _register_profile(self, data: m.RegisterProfileData) -> Handle:
        self.registration.profile(data.workload_name, data.profile_name, data.profile)
        return lambda: None

    def _register_job(self, data: m.RegisterJobData) -> Handle:
        job = self.registration.job(data.job_id, data.job)
        return lambda: self._engine.server.registered(job, self._engine.options.acknowledge_dynamic_jobs)

    def _notify(self, data: m.NotifyData) -> Handle:
        return self.registration.notified(data.type)


_NO_ENERGY = "energy is not simulated (Batsim aborts without its option -E)"
_PSTATE = re.compile(r"\d{1,9}", re.ASCII)

_STATES = {
    JobState.NOT_SUBMITTED: "has not been submitted yet",
    JobState.SUBMITTED: "has not been started",
    JobState.RUNNING: "was started already",
    **dict.fromkeys(COMPLETED, "was started already"),
    JobState.REJECTED: "was rejected",
}


def _carry_out(handle: Handle, index: int, event: m.Event) -> None:
    try:
        handle()
    except (ValueError, PlatformError) as error:
        raise _invalid(index, event, error) from None


def _invalid(index: int, event: m.Event, error: Exception) -> InvalidDecision:
    return InvalidDecision(f"invalid decision: event {index} ({event.type}): {error}")


def _no_other_members(data: m.Data, members: str) -> None:
    if data.model_extra:
        raise ValueError(f"Batsim aborts on other members than {members}: {', '.join(data.model_extra)}")


def _at_most_one_option(data: m.ExecuteJobData) -> None:
    extra = data.model_extra or {}
    options = (data.mapping, data.storage_mapping, data.additional_io_job)
    if len(extra) + len(options) - options.count(None) <= 1:
        return
    names = ("mapping", "storage_mapping", "additional_io_job")
    given = [name for name, value in zip(names, options, strict=True) if value is not None]
    told = " and ".join([*given, *extra])
    raise ValueError(f"job {data.job_id}: Batsim takes one further member at most, not {told}")
