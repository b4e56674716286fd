"""Batsim's server: it keeps the books, carries out decisions, and gathers the events for the decision process.

It has one method for each message that it handles (``server.cpp``). Methods for decisions raise ValueError where Batsim
aborts.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from batkube.batsim.allocation import format_intervals
from batkube.batsim.external_events import AVAILABLE, UNAVAILABLE, ExternalEvent
from batkube.batsim.jobs import JobState
from batkube.batsim.messages import (
    Answer,
    AnswerData,
    FromJobMsg,
    FromJobMsgData,
    JobCompleted,
    JobCompletedData,
    JobKilled,
    JobKilledData,
    JobSubmitted,
    JobSubmittedData,
    Message,
    Notify,
    NotifyData,
    Progress,
    RequestedCall,
    ResourceStateChanged,
    ResourceStateData,
    SimulationEnds,
)
from batkube.simulator.books.hosts import Hosts
from batkube.simulator.books.jobs import SimulatedJob
from batkube.simulator.books.known_profiles import KnownProfiles
from batkube.simulator.server import outbox
from batkube.simulator.server.outbox import Outbox
from batkube.simulator.time.clock import Clock


class Server:
    """Counts what is under way, and tells of what it handles, with the date at which it does."""

    def __init__(
        self, clock: Clock, outbox: Outbox, hosts: Hosts, profiles: KnownProfiles, *, forward_profiles: bool
    ) -> None:
        self._clock = clock
        self.outbox = outbox
        self._hosts = hosts
        self._profiles = profiles
        self._forward_profiles = forward_profiles
        self.workflows_done = 0
        """The number of submitters of workflows that have ended."""
        self.ignores_beyond_workflows = False
        """True if jobs are ignored once that number is one (sic: Batsim compares a count with a truth value)."""
        self.job_submitters = 0
        self.event_submitters = 0
        """The numbers of submitters that still bring static jobs, and external events."""
        self.live = 0
        """The number of submitted jobs that have neither completed nor been rejected."""
        self.waiters = 0
        """The number of calls to come."""
        self.killers = 0
        self.switching = 0
        """The number of hosts that are being switched on or off."""
        self.registration_over: Callable[[], bool] = lambda: True
        """Tells whether no dynamic job can come any more."""
        self.ended: list[SimulatedJob] = []
        """The jobs that are over, in the order in which the server came to know it: that of jobs.csv."""
        self._to_forget: list[SimulatedJob] = []

    # The events for the decision process

    @property
    def finished(self) -> bool:
        """True if there is nothing more to come: SIMULATION_ENDS."""
        submitters = self.job_submitters or self.event_submitters
        under_way = self.live or self.waiters or self.killers or self.switching
        return not (submitters or under_way) and self.registration_over()

    def tell(self) -> Message:
        """Return all events, as a message."""
        return self.outbox.take(self._clock.now)

    def forget(self) -> None:
        """Forget the jobs that are over, and their profiles, as Batsim does once the decision process has been told."""
        if self._to_forget:
            for job in self._to_forget:
                job.announced = True
                self._profiles.forget(job.workload, job.profile)
            self._to_forget.clear()

    def end(self) -> Message:
        now = self.outbox.date(self._clock.now)
        return Message(now=now, events=[SimulationEnds(timestamp=now)])

    def notify(self, what: str, category: int = outbox.NOTICE, resources: str | None = None) -> None:
        now = self._clock.now
        data = NotifyData(type=what, resources=resources)
        self.outbox.add(now, category, Notify(timestamp=self.outbox.date(now), data=data))

    # Submitters

    def submitted(self, jobs: Sequence[SimulatedJob], place: int = 0) -> None:
        """Note jobs that may be started from now on. ``place`` is that of their workload."""
        if self.ignores_beyond_workflows and self.workflows_done == 1:
            return
        for job in jobs:
            job.life.move(JobState.SUBMITTED)
            self.live += 1
            self.announce(job, place)

    def announce(self, job: SimulatedJob, place: int = 0) -> None:
        """Tell JOB_SUBMITTED."""
        now = self._clock.now
        profile = job.profile.raw if self._forward_profiles else None
        data = JobSubmittedData(job_id=job.id, job=job.wire, profile=profile)
        self.outbox.add(now, outbox.SUBMITTED, JobSubmitted(timestamp=self.outbox.date(now), data=data), place)

    def occurred(self, events: Sequence[ExternalEvent]) -> None:
        """Handle external events."""
        now = self._clock.now
        for event in events:
            if event.type in (UNAVAILABLE, AVAILABLE):
                self._hosts.set_available(event.hosts, event.type == AVAILABLE)
                self.notify(f"event_{event.type}", outbox.HOSTS, format_intervals(event.hosts))
            else:
                data = NotifyData.model_validate(event.raw)
                self.outbox.add(now, outbox.HOSTS, Notify(timestamp=self.outbox.date(now), data=data))

    def no_more_jobs(self) -> None:
        """Handle the goodbye of a submitter of jobs."""
        self.job_submitters -= 1
        if not self.job_submitters:
            self.notify("no_more_static_job_to_submit")

    def no_more_tasks(self) -> None:
        """Handle the goodbye of a submitter of a workflow."""
        self.workflows_done += 1
        self.no_more_jobs()

    def no_more_events(self) -> None:
        """Handle the goodbye of a submitter of external events."""
        self.event_submitters -= 1
        if not self.event_submitters:
            self.tell_no_more_events()

    def tell_no_more_events(self) -> None:
        """Say that all external events have been told."""
        self.notify("no_more_external_event_to_occur")

    # Jobs that run

    def completed(self, job: SimulatedJob) -> None:
        """Handle the end of a job."""
        now = self._clock.now
        self.live -= 1
        life = job.life
        data = JobCompletedData(job_id=job.id, job_state=life.state, return_code=life.return_code, alloc=job.allocation)
        self.outbox.add(now, outbox.COMPLETED, JobCompleted(timestamp=self.outbox.date(now), data=data), job.place)
        self.ended.append(job)
        self._to_forget.append(job)

    def from_job(self, job: SimulatedJob, text: Any) -> None:
        """Handle a message of a job to the decision process."""
        now = self._clock.now
        data = FromJobMsgData(job_id=job.id, msg=text)
        self.outbox.add(now, outbox.COMPLETED, FromJobMsg(timestamp=self.outbox.date(now), data=data), job.place)

    def killed(self, jobs: Sequence[SimulatedJob], progress: Mapping[str, Progress]) -> None:
        """Handle the end of a KILL_JOB. Jobs that had ended by themselves have no progress."""
        now = self._clock.now
        for job in jobs:
            if job.life.state is JobState.COMPLETED_KILLED:
                self.completed(job)
                if job.on_completed is not None:
                    job.on_completed()
        told = {job: self.outbox.progress(tree) for job, tree in progress.items()}
        data = JobKilledData(job_ids=[job.id for job in jobs], job_progress=told)
        self.outbox.add(now, outbox.KILLED, JobKilled(timestamp=self.outbox.date(now), data=data))
        self.killers -= 1

    # Energy

    def resource_state_changed(self, hosts: tuple[int, ...], pstate: int) -> None:
        """Tell that all hosts of a SET_RESOURCE_STATE have changed."""
        data = ResourceStateData(resources=format_intervals(hosts), state=str(pstate))
        event = ResourceStateChanged(timestamp=self.outbox.date(self._clock.now), data=data)
        self.outbox.add(self._clock.now, outbox.HOSTS, event)

    def consumed_energy(self, joules: float) -> None:
        """Tell the answer to a QUERY."""
        event = Answer(timestamp=self.outbox.date(self._clock.now), data=AnswerData(consumed_energy=joules))
        self.outbox.add(self._clock.now, outbox.HOSTS, event)

    # Decisions

    def registered(self, job: SimulatedJob, acknowledge: bool) -> None:
        """Handle a job that the decision process has registered."""
        self.live += 1
        if acknowledge:
            self.announce(job)

    def reject(self, job: SimulatedJob) -> None:
        """Reject a job, which will then never run."""
        job.life.move(JobState.REJECTED)
        self.live -= 1
        self.ended.append(job)
        self._to_forget.append(job)

    def called(self) -> None:
        """Handle the date of a CALL_ME_LATER."""
        now = self._clock.now
        self.waiters -= 1
        self.outbox.add(now, outbox.CALL, RequestedCall(timestamp=self.outbox.date(now)))
