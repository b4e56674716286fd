"""The parts of a simulation, put together as its options say."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial

from batkube.batsim.external_events import check_external_events
from batkube.batsim.jobs import JobState
from batkube.batsim.platform import Platform
from batkube.batsim.routing import Router
from batkube.batsim.workflow import Workflow
from batkube.batsim.workload import Workload
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
from batkube.simulator.server.job_runner import JobRunner
from batkube.simulator.server.outbox import Outbox
from batkube.simulator.server.server import Server
from batkube.simulator.server.submission import Submitter, simulated_jobs
from batkube.simulator.server.switching import Switching
from batkube.simulator.server.waiter import Waiter
from batkube.simulator.server.workflows import WorkflowSubmitter
from batkube.simulator.sharing.infrastructure import Infrastructure
from batkube.simulator.sharing.tasks import Tasks
from batkube.simulator.time.clock import Clock
from batkube.simulator.time.dates import picoseconds
from batkube.simulator.time.event_queue import Rank, SimulatedEvents
from batkube.simulator.work.execution import Machinery
from batkube.simulator.work.job_traces import JobTraces
from batkube.simulator.work.slowness import Slowness


class Engine:
    """The parts of one simulation: hosts, jobs, the server, and the actors around it."""

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
        queue = SimulatedEvents()
        tasks = Tasks(queue)
        router = self._router = Router(platform)
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
        slowness = Slowness(workloads)
        self.machinery = Machinery(
            queue, infrastructure, self.clock, tasks, self.control, self.resources, traces, slowness
        )
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
        self.runner = JobRunner(
            self.hosts,
            self.profiles,
            self.books,
            self.server,
            self.machinery,
            self.watchers,
            self.resources.master,
            exact=options.exact,
        )
        self.waiter = Waiter(self.server, self.control, self.resources.master)
        self.switching: Switching | None = None
        if self.books.energy is not None:
            self.switching = Switching(self.hosts, self.books.energy, self.books.states, self.machinery, self.server)
        self._launch_submitters(workloads.values())

    def add_host(self, name: str, cores: int, speed: float) -> int:
        """Take in a host that the platform does not have; return its number.

        It is ``speed`` times as fast as the first one, and where that one is in the network. Not where energy is
        simulated.
        """
        like = self.resources.compute[0]
        speeds = tuple(each * speed for each in like.speeds)
        host = replace(like, name=name, cores=cores, speeds=speeds, properties={}, zones=(), zone_properties={})
        self._router.place(name, like.name)
        joined = self.hosts.join(host)
        self.machinery.hosts = (*self.machinery.hosts, host)
        self.books.states.joined(joined)
        return joined.number

    def set_speed(self, number: int, speed: float) -> None:
        """Let a host go on at this share of its speed. Not where energy is simulated, by pstates of their own."""
        machinery, host = self.machinery, self.hosts.all[number].host
        cpu = machinery.infrastructure.cpu(host)
        cpu.set_speed(host.speed * speed)
        machinery.tasks.touch(cpu)
        machinery.slowness.set_speed(host.name, speed)

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
                occurrences = [(event.timestamp, event) for event in events if event.file == file]
                server.event_submitters += 1
                submitter = Submitter(occurrences, Rank.HOSTS, server.occurred, server.no_more_events)
                submitter.launch(control, master)
        if (planned := self.options.machine_events) is not None:
            dated = ((event.timestamp, event) for event in planned)
            # The message takes Batsim its time; otherwise nobody waits for it.
            goodbye = server.tell_no_more_events if self.options.exact and events is None else lambda: None
            Submitter(dated, Rank.HOSTS, server.occurred, goodbye).launch(control, master)

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
