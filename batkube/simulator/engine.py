"""The simulated world: jobs run on hosts, and time jumps from one thing that happens to the next."""

from collections.abc import Iterable, Sequence
from functools import partial

from batkube.batsim.allocation import format_intervals
from batkube.batsim.external_events import AVAILABLE, UNAVAILABLE, ExternalEvent, check_external_events
from batkube.batsim.messages import (
    CompletedState,
    JobCompleted,
    JobCompletedData,
    JobKilled,
    JobKilledData,
    JobSubmitted,
    JobSubmittedData,
    Message,
    Notify,
    NotifyData,
    RequestedCall,
)
from batkube.batsim.platform import Platform
from batkube.batsim.routing import Router
from batkube.batsim.workload import Workload
from batkube.simulator import outbox
from batkube.simulator.agenda import Agenda, Rank
from batkube.simulator.dates import nanoseconds, seconds
from batkube.simulator.execution import Execution, Machinery
from batkube.simulator.hosts import Hosts
from batkube.simulator.jobs import JobState, SimulatedJob
from batkube.simulator.known_profiles import KnownProfiles
from batkube.simulator.options import Options
from batkube.simulator.outbox import Outbox
from batkube.simulator.submission import by_date, simulated_jobs

WALLTIME_REACHED = -1
"""The return code of a job beyond its walltime."""


class Engine:
    """Holds the state of the simulation and changes it. What others must be told goes to the outbox."""

    def __init__(self, platform: Platform, workloads: Sequence[Workload], options: Options) -> None:
        self.now = 0
        """In nanoseconds."""
        self.options = options
        self.resources = platform.resources(master=options.master, roles=options.roles, limit=options.mmax)
        self.hosts = Hosts(self.resources, compute_sharing=options.compute_sharing)
        self.agenda = Agenda()
        self.outbox = Outbox()
        self.machinery = Machinery(self.agenda, Router(platform), lambda: self.now)
        self.jobs: dict[str, SimulatedJob] = {}
        """All that were ever known, static ones from the beginning, by full id."""
        self.profiles = KnownProfiles(workloads, reuse=options.profile_reuse)
        self.ended: list[SimulatedJob] = []
        """In order of completion and rejection."""
        self.calls = 0
        """How many calls are still to come."""
        self.outages: list[tuple[int, int, int]] = []
        """Host, and from when to when it was unavailable."""
        self._down_since: dict[int, int] = {}
        self._starts = 0
        self._live = 0
        self._submissions: list[tuple[int, list[SimulatedJob]]] = []
        """Static jobs to come, by date, the next ones last."""
        self._untold: list[SimulatedJob] = []
        """Completed jobs whose completion was not told yet."""
        self._external_dates = 0
        self._plan_submissions(workloads)
        if options.external_events is not None:
            self._plan_external_events(options.external_events)

    # Time

    def advance(self, date: int) -> None:
        """Let everything happen up to ``date`` and at it, and make it the present."""
        tasks = self.machinery.tasks
        while True:
            if tasks.unsettled:
                tasks.settle(self.now)
            due = self.agenda.pop_until(date)
            if due is None:
                break
            self.now, action = due
            action()
        self.now = max(self.now, date)

    @property
    def next_date(self) -> int | None:
        """When the next thing happens by itself; None when nothing ever will."""
        self.machinery.tasks.settle(self.now)
        return self.agenda.next_date

    @property
    def finished(self) -> bool:
        """Whether all is said and done, dynamic jobs apart."""
        return not (self._live or self._submissions or self._external_dates or self.calls or self.outbox.events)

    def waiting_jobs(self) -> list[SimulatedJob]:
        """Those submitted that nobody has started or rejected."""
        return [job for job in self.jobs.values() if job.state is JobState.SUBMITTED]

    def tell(self) -> Message:
        """All that has happened since the last message. Batsim forgets the jobs whose completion it tells."""
        for job in self._untold:
            job.announced = True
            self.profiles.release(job.workload, job.elements)
        self._untold.clear()
        return self.outbox.take(self.now)

    # Submission

    def _plan_submissions(self, workloads: Iterable[Workload]) -> None:
        jobs = simulated_jobs(workloads)
        for job in jobs:
            self.jobs[job.id] = job
            self.profiles.use(job.workload, job.elements)
        if workloads:
            # A workload without jobs is submitted at 0.
            self._submissions.extend(sorted((by_date(jobs) or {0: []}).items(), reverse=True))
            self._plan_next_submission()

    def _plan_next_submission(self) -> None:
        # One at a time, so that the agenda does not hold all that is far ahead.
        self.agenda.add(self._submissions[-1][0], Rank.SUBMISSION, self._submit_static)

    def _submit_static(self) -> None:
        _, jobs = self._submissions.pop()
        for job in jobs:
            self.submit(job, announce=True)
        if self._submissions:
            self._plan_next_submission()
        else:
            self.notify("no_more_static_job_to_submit")

    def submit(self, job: SimulatedJob, *, announce: bool) -> None:
        """From now on the job may be started."""
        job.state = JobState.SUBMITTED
        self._live += 1
        if announce:
            profile = job.profile.raw if self.options.forward_profiles else None
            data = JobSubmittedData(job_id=job.id, job=job.wire, profile=profile)
            self.outbox.add(self.now, outbox.SUBMITTED, JobSubmitted(timestamp=seconds(self.now), data=data))

    def notify(self, what: str, category: int = outbox.NOTICE, resources: str | None = None) -> None:
        data = NotifyData(type=what, resources=resources)
        self.outbox.add(self.now, category, Notify(timestamp=seconds(self.now), data=data))

    # The life of a job. Callers have checked that it may be done.

    def start(self, job: SimulatedJob, hosts: tuple[int, ...], execution: Execution) -> None:
        """The job runs from now on; its hosts are taken already."""
        job.state = JobState.RUNNING
        job.hosts = hosts
        job.allocation = format_intervals(hosts)
        job.start = self.now
        job.place = self._starts
        self._starts += 1
        job.execution = execution
        if job.job.walltime is not None:
            walltime = nanoseconds(job.job.walltime)
            if not execution.certainly_shorter(walltime):
                job.walltime = self.agenda.add(self.now + walltime, Rank.WALLTIME, lambda: self._walltime(job))
        execution.start()

    def end_by_itself(self, job: SimulatedJob, code: int) -> None:
        self._complete(job, "COMPLETED_FAILED" if code else "COMPLETED_SUCCESSFULLY", code)

    def _walltime(self, job: SimulatedJob) -> None:
        assert job.execution is not None
        job.execution.stop()
        self._complete(job, "COMPLETED_WALLTIME_REACHED", WALLTIME_REACHED)

    def _complete(self, job: SimulatedJob, state: CompletedState, code: int) -> None:
        self.hosts.release(job.id, job.hosts)
        if job.walltime is not None:
            job.walltime.cancel()
            job.walltime = None
        job.execution = None
        job.state = JobState.COMPLETED
        job.finish = self.now
        self._live -= 1
        data = JobCompletedData(job_id=job.id, job_state=state, return_code=code, alloc=job.allocation)
        job.final_state = state
        self.ended.append(job)
        self._untold.append(job)
        self.outbox.add(self.now, outbox.COMPLETED, JobCompleted(timestamp=seconds(self.now), data=data), job.place)

    def kill(self, jobs: Sequence[SimulatedJob]) -> None:
        """Stop those that run. Nothing is told when all of them are being killed already, as in Batsim."""
        asked = [job for job in jobs if not job.kill_asked]
        if not asked:
            return
        progress = {}
        for job in asked:
            job.kill_asked = True
            if job.execution is not None:
                progress[job.id] = job.execution.progress()
                self._complete(job, "COMPLETED_KILLED", job.execution.stop())
        data = JobKilledData(job_ids=[job.id for job in asked], job_progress=progress)
        self.outbox.add(self.now, outbox.KILLED, JobKilled(timestamp=seconds(self.now), data=data))

    def reject(self, job: SimulatedJob) -> None:
        """The job will never run."""
        job.state = JobState.REJECTED
        self.profiles.release(job.workload, job.elements)
        self._live -= 1
        self.ended.append(job)

    # Calls and external events

    def call_later(self, date: int) -> None:
        """REQUESTED_CALL at ``date``."""
        self.calls += 1
        self.agenda.add(date, Rank.CALL, self._call)

    def _call(self) -> None:
        self.calls -= 1
        self.outbox.add(self.now, outbox.CALL, RequestedCall(timestamp=seconds(self.now)))

    def _plan_external_events(self, events: Sequence[ExternalEvent]) -> None:
        check_external_events(events, len(self.hosts))
        self._external_dates = len(events) or 1
        for event in events:
            date = nanoseconds(event.timestamp)
            self.agenda.add(date, Rank.HOSTS, partial(self._external, event))
        if not events:
            self.agenda.add(0, Rank.HOSTS, self._external_done)

    def _external(self, event: ExternalEvent) -> None:
        if event.type in (UNAVAILABLE, AVAILABLE):
            self.hosts.set_available(event.hosts, event.type == AVAILABLE)
            for host in event.hosts:
                if event.type == UNAVAILABLE:
                    self._down_since[host] = self.now
                else:
                    self.outages.append((host, self._down_since.pop(host), self.now))
            self.notify(f"event_{event.type}", outbox.HOSTS, format_intervals(event.hosts))
        else:
            data = NotifyData.model_validate(event.raw)
            self.outbox.add(self.now, outbox.HOSTS, Notify(timestamp=seconds(self.now), data=data))
        self._external_done()

    def _external_done(self) -> None:
        self._external_dates -= 1
        if not self._external_dates:
            self.notify("no_more_external_event_to_occur")
