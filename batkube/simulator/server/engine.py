"""The simulated world: jobs run on hosts, and time jumps from one happening to the next."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial

from batkube.batsim.allocation import format_intervals
from batkube.batsim.external_events import check_external_events
from batkube.batsim.jobs import JobState
from batkube.batsim.messages import Progress
from batkube.batsim.platform import Platform
from batkube.batsim.routing import Router
from batkube.batsim.workflow import Workflow
from batkube.batsim.workload import Workload
from batkube.event_queue import Action
from batkube.simulator.books.books import Books
from batkube.simulator.books.hosts import Hosts
from batkube.simulator.books.jobs import SimulatedJob
from batkube.simulator.books.known_profiles import KnownProfiles
from batkube.simulator.books.watching import Watcher
from batkube.simulator.controls.control import Control
from batkube.simulator.controls.exact import ExactControl
from batkube.simulator.controls.ideal import IdealControl
from batkube.simulator.controls.message_routes import MessageRoutes
from batkube.simulator.options.simulator_options import SimulatorOptions
from batkube.simulator.server.outbox import Outbox
from batkube.simulator.server.server import Server
from batkube.simulator.server.submission import Submitter, simulated_jobs
from batkube.simulator.server.switching import Switching
from batkube.simulator.server.workflows import WorkflowSubmitter
from batkube.simulator.sharing.infrastructure import Infrastructure
from batkube.simulator.sharing.tasks import Tasks
from batkube.simulator.time.clock import Clock
from batkube.simulator.time.dates import SECOND, picoseconds
from batkube.simulator.time.event_queue import Rank, SimulatedEvents
from batkube.simulator.work.execution import WALLTIME_REACHED, Execution, Machinery
from batkube.simulator.work.job_traces import JobTraces
from batkube.simulator.work.leaves import KILLED_IN_TASK, nothing
from batkube.simulator.work.placement import Placement

SHORTEST_WAIT = 1e-5
"""The shortest sleep of Batsim's waiters, in simulated seconds."""


class Engine:
    """Puts the parts together, and runs jobs on hosts for them."""

    def __init__(self, platform: Platform, workloads: Mapping[str, Workload], options: SimulatorOptions) -> None:
        self.options = options
        self.clock = Clock()
        self.resources = platform.resources(
            master=options.master,
            roles=options.roles,
            limit=options.mmax,
            needs_master=options.needs_master,
            numeric_order=options.numeric_order,
        )
        self.hosts = Hosts(
            self.resources, compute_sharing=options.compute_sharing, storage_sharing=options.storage_sharing
        )
        self.jobs: dict[str, SimulatedJob] = {}
        """All jobs that were ever known, static ones from the beginning, by full id."""
        self.profiles = KnownProfiles(workloads.values(), reuse=options.profile_reuse and options.dynamic_jobs)
        self.watchers: list[Watcher] = []
        """The watchers that are told what happens to jobs, at its true date. Hosts have their own."""
        self._executions: dict[SimulatedJob, Execution] = {}
        """The jobs whose actor exists, and what it plays."""
        self._starts = 0
        queue = SimulatedEvents()
        tasks = Tasks(queue)
        router = Router(platform)
        outbox = Outbox(exact=options.exact)
        self.server = Server(self.clock, outbox, self.hosts, self.profiles, forward_profiles=options.forward_profiles)
        infrastructure = Infrastructure(router)
        routes = MessageRoutes(router, infrastructure, self.resources.master)
        self.control: Control
        if options.exact:
            self.control = ExactControl(self.clock, queue, tasks, routes)
        else:
            delay = picoseconds(options.control_latency)
            self.control = IdealControl(self.clock, queue, tasks, cost=routes.decision, delay=delay)
        traces = JobTraces(workloads.values())
        self.machinery = Machinery(queue, infrastructure, self.clock, tasks, self.control, self.resources, traces)
        self.books = Books(
            platform,
            self.hosts,
            infrastructure,
            tasks,
            self.control,
            self.clock,
            self.watchers,
            energy=options.energy,
            trace=options.trace_machine_states,
        )
        self.switching: Switching | None = None
        if self.books.energy is not None:
            self.switching = Switching(self.hosts, self.books.energy, self.books.states, self.machinery, self.server)
        self._launch_submitters(workloads.values())

    @property
    def now(self) -> int:
        """The present in picoseconds."""
        return self.clock.now

    @property
    def seconds(self) -> float:
        """The present in seconds.

        In exact simulations it is SimGrid's clock, by which a job may take less than a picosecond.
        """
        return self.clock.seconds if self.options.exact else self.clock.now / SECOND

    def waiting_jobs(self) -> list[SimulatedJob]:
        """Return the submitted jobs that were neither started nor rejected."""
        return [job for job in self.jobs.values() if job.life.state is JobState.SUBMITTED]

    # Submitters

    def _launch_submitters(self, workloads: Collection[Workload]) -> None:
        server, control, master = self.server, self.control, self.resources.master
        workflows = {workflow.name: workflow for workflow in self.options.workflows}
        server.ignores_beyond_workflows = self.options.ignore_beyond_last_workflow and bool(workflows)
        for place, workload in enumerate(workloads):
            server.job_submitters += 1
            if workload.name in workflows:
                self._launch_workflow(workflows[workload.name], place)
            else:
                self._launch_jobs(workload, place)
        events = self.options.external_events
        if events is not None:
            check_external_events(sorted(events, key=lambda event: event.timestamp), len(self.hosts))
            files = dict.fromkeys(event.file for event in events) or {"": None}
            for file in files:
                occurrences = ((event.timestamp, event) for event in events if event.file == file)
                server.event_submitters += 1
                submitter = Submitter(occurrences, Rank.HOSTS, server.occurred, server.no_more_events)
                submitter.launch(control, master)

    def _launch_jobs(self, workload: Workload, place: int) -> None:
        server = self.server
        jobs = simulated_jobs(workload, as_batsim=self.options.exact)
        for job in jobs:
            self.machinery.traces.check(job)
        self.jobs.update((job.id, job) for job in jobs)
        dated = ((job.description.subtime, job) for job in jobs)
        deliver = partial(server.submitted, place=place)
        submitter = Submitter(dated, Rank.SUBMISSION, deliver, server.no_more_jobs, before=self.books.submitted)
        submitter.launch(self.control, self.resources.master)

    def _launch_workflow(self, workflow: Workflow, place: int) -> None:
        submitter = WorkflowSubmitter(
            workflow,
            self.profiles,
            self.server,
            self.control,
            self.clock,
            self.resources.master,
            place=place,
            limit=self.options.workflow_jobs_limit,
            add=lambda job: self.jobs.update({job.id: job}),
        )
        submitter.launch()

    # The life of a job. The callers have checked that each step is allowed.

    def start(self, job: SimulatedJob, hosts: tuple[int, ...], placement: Placement) -> Execution:
        """Make the actor that runs a job on its hosts; the job is RUNNING from now on."""
        execution = Execution(
            job,
            placement,
            self.machinery,
            on_end=partial(self._end, job),
            on_message=partial(self.server.from_job, job),
            profiles=self.profiles.of(job.workload),
        )
        execution.prepare()
        job.life.move(JobState.RUNNING)
        job.hosts = hosts
        job.allocation = format_intervals(hosts)
        self.control.spawn(lambda: self._begin(job, execution))
        return execution

    def _begin(self, job: SimulatedJob, execution: Execution) -> None:
        job.life.starting_time = self.seconds
        job.place = self._starts
        self._starts += 1
        self._executions[job] = execution
        self.books.read(job.hosts, lambda: self._go(job, execution))

    def _go(self, job: SimulatedJob, execution: Execution) -> None:
        self.hosts.take(job.id, job.hosts)
        for watcher in self.watchers:
            watcher.job_started(job)
        execution.start()

    def _end(self, job: SimulatedJob, code: int) -> None:
        """End the job's actor: the job has ended by itself, at its walltime, or its task was cancelled."""
        execution = self._executions[job]
        if code == KILLED_IN_TASK:
            # The killer tells the server.
            self._leave(job, JobState.COMPLETED_KILLED, code, execution.close)
            return
        state = JobState.COMPLETED_SUCCESSFULLY
        if code == WALLTIME_REACHED:
            state = JobState.COMPLETED_WALLTIME_REACHED
        elif code:
            state = JobState.COMPLETED_FAILED

        def tell() -> None:
            self.control.send(
                execution.placement.host,
                partial(self.server.completed, job),
                execution.close,
                call_back=job.on_completed,
            )

        self._leave(job, state, code, tell)

    def _leave(self, job: SimulatedJob, state: JobState, code: int, then: Action) -> None:
        job.life.complete(state, code, self.seconds)
        del self._executions[job]
        self.hosts.release(job.id, job.hosts)
        self.books.read(job.hosts, lambda: self._left(job, then))

    def _left(self, job: SimulatedJob, then: Action) -> None:
        for watcher in self.watchers:
            watcher.job_ended(job)
        then()

    def kill(self, jobs: Sequence[SimulatedJob]) -> None:
        """Make the actor that stops the running jobs. If all are being killed already nothing is told, as in Batsim."""
        asked = [job for job in jobs if not job.kill_asked]
        for job in asked:
            job.kill_asked = True
        if asked:
            self.server.killers += 1
            self.control.spawn(lambda: self._kill(asked, {}))

    def _kill(self, jobs: Sequence[SimulatedJob], progress: dict[str, Progress], done: int = 0) -> None:
        """Stop the jobs after the first ``done``, one after the other (``killer_process``)."""
        for index, job in enumerate(jobs[done:], done):
            if job.life.state is JobState.RUNNING:
                execution = self._executions.get(job)
                if execution is None:
                    raise ValueError(f"job {job.id} is killed, and was only said to run (CHANGE_JOB_STATE)")
                # SimGrid is asked how far a task is.
                ask = iter([nothing] if execution.in_task else [])
                go_on = partial(self._kill, jobs, progress, index + 1)
                self.control.in_turn(ask, partial(self._stop, job, progress, execution.progress(), go_on))
                return
        self.control.send(self.resources.master, partial(self.server.killed, jobs, progress))

    def _stop(self, job: SimulatedJob, progress: dict[str, Progress], asked: Progress, then: Action) -> None:
        """Cancel the job's task, so that its actor ends the job; or kill the actor."""
        execution = self._executions.get(job)
        progress[job.id] = asked
        if execution is None:
            # The job has ended while its task was asked.
            then()
            return
        in_task = execution.in_task
        code: list[int] = []

        def stop() -> None:
            if job in self._executions:
                progress[job.id] = execution.progress()
                if in_task:
                    execution.cancel()
                else:
                    code.append(execution.stop())

        def go_on() -> None:
            if code:
                self._leave(job, JobState.COMPLETED_KILLED, code[0], then)
            else:
                then()

        self.control.in_turn(iter([stop]), go_on)

    def call_later(self, timestamp: float) -> None:
        """Make the actor that sends REQUESTED_CALL at a date."""
        self.server.waiters += 1
        wait = max(self.control.time(timestamp) - self.control.now(), self.control.time(SHORTEST_WAIT))
        called = partial(self.control.send, self.resources.master, self.server.called)
        self.control.spawn(lambda: self.control.wait(wait, Rank.CALL, called))
