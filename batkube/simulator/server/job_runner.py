"""The actors that run jobs on their hosts, and those that kill them."""

from collections.abc import Sequence
from functools import partial

from batkube.batsim.allocation import format_intervals
from batkube.batsim.jobs import JobState
from batkube.batsim.messages import Progress
from batkube.batsim.topology import Host
from batkube.event_queue import Action
from batkube.simulator.books.books import Books
from batkube.simulator.books.hosts import Hosts
from batkube.simulator.books.jobs import SimulatedJob
from batkube.simulator.books.known_profiles import KnownProfiles
from batkube.simulator.books.watching import Watcher
from batkube.simulator.server.server import Server
from batkube.simulator.time.dates import SECOND
from batkube.simulator.work.execution import WALLTIME_REACHED, Execution, Machinery
from batkube.simulator.work.leaves import KILLED_IN_TASK, nothing
from batkube.simulator.work.placement import Placement


class JobRunner:
    """Runs jobs on their hosts, and kills them. The callers have checked that each step is allowed."""

    def __init__(
        self,
        hosts: Hosts,
        profiles: KnownProfiles,
        books: Books,
        server: Server,
        machinery: Machinery,
        watchers: Sequence[Watcher],
        master: Host | None,
        *,
        exact: bool,
    ) -> None:
        self._hosts = hosts
        self._profiles = profiles
        self._books = books
        self._server = server
        self._machinery = machinery
        self._clock = machinery.clock
        self._control = machinery.control
        self._watchers = watchers
        self._master = master
        self._exact = exact
        self._executions: dict[SimulatedJob, Execution] = {}
        """The jobs whose actor exists, and what it plays."""
        self._starts = 0

    def start(self, job: SimulatedJob, hosts: tuple[int, ...], placement: Placement) -> Execution:
        """Make the actor that runs a job on its hosts; the job is RUNNING from now on."""
        execution = Execution(
            job,
            placement,
            self._machinery,
            on_end=partial(self._end, job),
            on_message=partial(self._server.from_job, job),
            profiles=self._profiles.of(job.workload),
        )
        execution.prepare()
        job.life.move(JobState.RUNNING)
        job.hosts = hosts
        job.allocation = format_intervals(hosts)
        self._control.spawn(lambda: self._begin(job, execution))
        return execution

    def _begin(self, job: SimulatedJob, execution: Execution) -> None:
        job.life.starting_time = self._seconds()
        job.place = self._starts
        self._starts += 1
        self._executions[job] = execution
        self._books.read(job.hosts, lambda: self._go(job, execution))

    def _go(self, job: SimulatedJob, execution: Execution) -> None:
        self._hosts.take(job.id, job.hosts)
        for watcher in self._watchers:
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
            self._control.send(
                execution.placement.host,
                partial(self._server.completed, job),
                execution.close,
                call_back=job.on_completed,
            )

        self._leave(job, state, code, tell)

    def _leave(self, job: SimulatedJob, state: JobState, code: int, then: Action) -> None:
        job.life.complete(state, code, self._seconds())
        del self._executions[job]
        self._hosts.release(job.id, job.hosts)
        self._books.read(job.hosts, lambda: self._left(job, then))

    def _left(self, job: SimulatedJob, then: Action) -> None:
        for watcher in self._watchers:
            watcher.job_ended(job)
        then()

    def kill(self, jobs: Sequence[SimulatedJob]) -> None:
        """Make the actor that stops the running jobs. If all are being killed already nothing is told, as in Batsim."""
        asked = [job for job in jobs if not job.kill_asked]
        for job in asked:
            job.kill_asked = True
        if asked:
            self._server.killers += 1
            self._control.spawn(lambda: self._kill(asked, {}))

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
                self._control.in_turn(ask, partial(self._stop, job, progress, execution.progress(), go_on))
                return
        self._control.send(self._master, partial(self._server.killed, jobs, progress))

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

        self._control.in_turn(iter([stop]), go_on)

    def _seconds(self) -> float:
        """Return the present in seconds.

        In exact simulations it is SimGrid's clock, by which a job may take less than a picosecond.
        """
        return self._clock.seconds if self._exact else self._clock.now / SECOND
