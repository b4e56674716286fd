"""The life of jobs and their pods, from submission to the end, and the decisions on them for Batsim."""

from collections.abc import Iterator
from typing import Any

from batkube.batsim.jobs import JobState
from batkube.batsim.messages import Progress
from batkube.bridge import pods
from batkube.bridge.client_jobs import ClientJobs
from batkube.bridge.cluster import Cluster
from batkube.bridge.decisions import Decisions
from batkube.bridge.errors import InputError, InvariantBroken
from batkube.bridge.jobs import Job, PodRequirements, told_progress
from batkube.bridge.kubelet import OOM_KILLED
from batkube.bridge.names import NAMESPACE, Names
from batkube.bridge.pod_records import PodRecords
from batkube.bridge.time import SimulatedTime
from batkube.bridge.waits import WaitRecorder
from batkube.kube.apimachinery.status import ApiError
from batkube.kube.server import ApiServer
from batkube.results.attempts import AttemptLog
from batkube.results.events import EventLog
from batkube.results.pods import PodRecord

JSON = dict[str, Any]


class JobControl:
    """All jobs of a simulation. Each is submitted once, and ends once: completed or rejected."""

    def __init__(
        self,
        server: ApiServer,
        time: SimulatedTime,
        events: EventLog,
        cluster: Cluster,
        decisions: Decisions,
        attempts: AttemptLog,
        waits: WaitRecorder,
    ) -> None:
        self.jobs: dict[str, Job] = {}
        """The jobs by id, in order of submission."""
        self._waiting: dict[str, Job] = {}
        """The jobs that have neither started nor ended."""
        self._unplaced: dict[str, Job] = {}
        """The waiting jobs whose scheduler is running and has not given a node to each of their pods."""
        self._running: dict[str, Job] = {}
        self._partly_bound: dict[str, Job] = {}
        """The waiting jobs of which some pods have a node, and not all."""
        self._ended: dict[str, Job] = {}
        self.settled: list[Job] = []
        """The jobs that are over, and whose pods have ended or gone, since the list was last taken from here."""
        self.rejections: dict[str, str] = {}
        """The reasons why jobs were rejected, by job id."""
        self.submitted = self.over = 0
        """The number of jobs that there were, and of those that have ended or were rejected."""
        self.numbered = 0
        """The number of jobs that have a number: also those of pods of clients that have no node yet."""
        self.records = PodRecords(time, attempts)
        self.pods: dict[str, PodRecord] = self.records.by_name
        """The pods by name, in order of creation."""
        self.decisions = decisions
        self.waits = waits
        self._server = server
        self._time = time
        self._events = events
        self._cluster = cluster
        self._names = Names()
        self._pod_type = server.registry.named("pods")
        self._job_of: dict[str, Job] = {}
        self._priority_classes: set[str] = set()
        self.clients = ClientJobs(self, cluster, waits)

    @property
    def ended(self) -> list[Job]:
        """The jobs that are over, in order of completion or rejection, without those that are forgotten."""
        return list(self._ended.values())

    def job_of(self, pod: str) -> Job | None:
        """Return the job that the pod of this name belongs to; None for pods that are not ours."""
        return self._job_of.get(pod)

    def owner_of(self, pod: str) -> Job:
        """Return the job of a pod that is ours."""
        return self._job_of[pod]

    def order_of(self, pod: str) -> tuple[int, int]:
        """Return the place of a pod that is ours: by its job, and in it."""
        job = self._job_of[pod]
        return job.number, job.pods.index(pod)

    def waiting(self) -> list[Job]:
        """Return the jobs that have neither started nor ended, in order of submission."""
        return list(self._waiting.values())

    def iter_waiting(self) -> Iterator[Job]:
        """Yield the same; nothing may be changed meanwhile."""
        return iter(self._waiting.values())

    @property
    def running(self) -> int:
        """The number of jobs that run."""
        return len(self._running)

    @property
    def runs_static_jobs(self) -> bool:
        """True if a job of Batsim's, which no client has made, runs."""
        return any(job.client is None for job in self._running.values())

    @property
    def ends_to_come(self) -> bool:
        """True if a job runs that will end by itself, or will be started again and then end."""
        return len(self._running) > len(self.clients.endless) or self.clients.ends_to_come

    def jobs_on(self, node: str) -> list[Job]:
        """Return the waiting or running jobs that have a pod on the node, in order of submission."""
        live = (*self._waiting.values(), *self._running.values(), *self.clients.between_runs.values())
        return sorted((job for job in live if node in job.nodes.values()), key=lambda job: job.number)

    @property
    def any_waiting(self) -> bool:
        """True if there are waiting jobs."""
        return bool(self._waiting)

    @property
    def awaited(self) -> tuple[str, ...]:
        """The jobs that wait, without pods that run for ever."""
        return tuple(job.id for job in self._waiting.values() if job.client is None or not job.client.endless)

    @property
    def any_unplaced(self) -> bool:
        """True if a scheduler that is running has still to give nodes to pods of waiting jobs."""
        return bool(self._unplaced)

    def partly_bound(self) -> list[Job]:
        """Return the waiting jobs of which some pods have a node, and not all, in order of submission."""
        return sorted(self._partly_bound.values(), key=lambda job: job.number)

    def submit(self, job: Job, *, problem: str | None = None) -> None:
        """Take in a new job: create its pods.

        It is rejected at once if ``problem`` says why, or if it can never run.
        """
        self.wait(job)
        self.note_submission(job)
        requests = self._cluster.requests(job.requirements)
        try:
            why = problem or self._cluster.why_never(job.description.res, requests)
        except InputError as error:
            raise InputError(f"job {job.id}: {error}") from None
        if why:
            self.reject(job, why)
            return
        base = self._names.claim(job.id)
        job.pods = [base] if job.description.res == 1 else [f"{base}-{index}" for index in range(job.description.res)]
        self.create_pods(job)

    def too_large(self) -> list[tuple[Job, str]]:
        """Return the waiting jobs of Batsim's that ask for more than all nodes that there have been, and why."""
        found = []
        for job in self._waiting.values():
            if job.client is not None:
                continue
            requests = self._cluster.requests(job.requirements)
            if why := self._cluster.why_too_large(job.description.res, requests):
                found.append((job, why))
        return found

    def wait(self, job: Job) -> None:
        """Let a new job wait for nodes, the next by number."""
        self.number(job)
        self._waiting[job.id] = job
        if job.served:
            self._unplaced[job.id] = job

    def wait_again(self, job: Job) -> None:
        """Let a job that has its nodes wait for something else."""
        self._waiting[job.id] = job

    def number(self, job: Job) -> None:
        """Take in a new job, the next by number."""
        if job.id in self.jobs:
            raise InvariantBroken(f"job {job.id} was submitted twice")
        self.numbered += 1
        self.jobs[job.id] = job

    def belongs(self, key: str, job: Job) -> None:
        """Note that the pod is of this job now."""
        self._job_of[key] = job

    def note_submission(self, job: Job) -> None:
        """Note that Batsim knows the job."""
        self.submitted += 1
        self.decisions.table.submitted(job.id)
        self._record("job_submitted", job=job.id, resources=job.description.res, scheduler=job.scheduler)

    def create_pods(self, job: Job) -> None:
        """Create the pods of a waiting job, none of them bound. A job whose pods the API refuses is rejected."""
        requests = self._cluster.requests(job.requirements)
        try:
            priority_class = self._priority_class(job.requirements)
            for pod in pods.pods_of(job, self._pod_type, requests=requests, priority_class=priority_class):
                name = pod["metadata"]["name"]
                self._job_of[name] = job
                record = self.records.create(name, NAMESPACE, job)
                stored = self._store(job, pod)
                job.uids[name] = stored["metadata"]["uid"]
                self.waits.created(record, job, stored, self.records.stored(record, job, stored))
        except (InputError, ApiError) as error:
            self.reject(job, str(error))

    def _store(self, job: Job, pod: JSON) -> JSON:
        if job.requirements.pod or job.requirements.labels:  # what the user has put in is checked
            return self._server.create("pods", pod, NAMESPACE)
        return self._server.trusted.create_pod(pod, NAMESPACE, plain=("activeDeadlineSeconds",))

    def _priority_class(self, requirements: PodRequirements) -> str | None:
        """Return the PriorityClass for a job's priority. For a number one is made."""
        priority = requirements.priority
        if priority is None or isinstance(priority, str):
            return priority
        made = pods.priority_class_of(priority)
        name: str = made["metadata"]["name"]
        if name not in self._priority_classes:
            self._server.create(pods.PRIORITY_CLASSES, made)
            self._priority_classes.add(name)
        return name

    def bound(self, job: Job, pod: str, node: str) -> None:
        """Note that the pod has a node."""
        if job.life.state is not JobState.SUBMITTED:
            raise InvariantBroken(f"pod {pod} was bound to {node} although job {job.id} is {job.life.state}")
        job.nodes[pod] = node
        if len(job.nodes) < len(job.pods):
            self._partly_bound[job.id] = job
        else:
            self._partly_bound.pop(job.id, None)
            self._unplaced.pop(job.id, None)
        self.records.bound(pod, node)
        self.waits.bound(job.uids[pod], node)
        self._cluster.show_taken(node, job.requirements)
        self._record("pod_bound", pod=pod, node=node)

    def start(self, job: Job) -> None:
        """Start a job whose pods are all bound, and have started if that takes time: it runs from now on.

        A job that Batsim cannot run there is rejected.
        """
        try:
            execution = self._cluster.execution(job)
        except InputError as error:
            self.reject(job, str(error))
            return
        if job.client is not None:
            self.clients.start(job)
        job.move(JobState.RUNNING)
        self.waits_no_more(job)
        self._running[job.id] = job
        job.life.starting_time = self._time.now
        self.decisions.execute(execution)
        self._record("job_started", job=job.id, hosts=job.hosts)
        for name in job.pods:
            if self.pods[name].starting_time is None:
                self.start_pod(job, name)

    def start_pod(self, job: Job, name: str) -> None:
        """Note that the pod's process runs from now on."""
        self.pods[name].starting_time = self._time.now
        self.pods[name].phase = "Running"
        self.waits.started(job.uids[name])
        self._cluster.kubelet.start(name)

    def complete(self, job_id: str, state: JobState, return_code: int, *, finished: float) -> Job:
        """Note that Batsim says that a job has ended; ``finished`` may be earlier than now, by the time of a decision.

        Its pods have not ended yet. Raises InvariantBroken if the job did not run.
        """
        job = self.jobs.get(job_id)
        if job is None:
            raise InvariantBroken(f"JOB_COMPLETED names {job_id}, which was never submitted")
        job.complete(state, return_code, finished)
        self.decisions.table.completed(job_id, state)
        del self._running[job.id]
        if job.client is not None and self.clients.complete(job):
            return job
        self._is_over(job)
        earlier = {"finish_time": finished} if finished < self._time.now else {}
        self._record("job_completed", job=job.id, state=state.value, return_code=return_code, **earlier)
        return job

    def killed(self, job_id: str, progress: Progress) -> Job:
        """Note the progress of a job that Batsim has killed; return the job."""
        job = self.jobs.get(job_id)
        if job is None:
            raise InvariantBroken(f"JOB_KILLED names {job_id}, which was never submitted")
        if self.clients.stopping and job.reason is None:
            return job
        job.progress = told_progress(progress)
        self._record("job_killed", job=job.id, progress=job.progress)
        return job

    def end_pod(self, job: Job, name: str, date: float) -> None:
        """End the pod of a completed job at ``date``, and take it off its node. Its process has ended with the job."""
        self._cluster.release(job.uids[name])
        self.waits.removed(job.uids[name])
        record, kubelet = self.pods[name], self._cluster.kubelet
        exited = date if job.life.finish_time is None else job.life.finish_time
        record.finish_time = date
        record.phase = "Succeeded" if job.life.state is JobState.COMPLETED_SUCCESSFULLY else "Failed"
        match job.life.state:
            case JobState.COMPLETED_SUCCESSFULLY:
                kubelet.succeed(name, date, exited)
            case JobState.COMPLETED_WALLTIME_REACHED:
                record.reason = "DeadlineExceeded"
                kubelet.exceed_deadline(name, date, exited)
            case JobState.COMPLETED_KILLED:
                record.reason = OOM_KILLED if name in kubelet.oom_killed else "Killed"
                self.records.lost(record, exited - (job.attempt.saved if job.attempt is not None else 0.0))
                kubelet.kill(name, date, job.reason or "the job was killed", exited)
            case _:
                record.reason = "Error"
                kubelet.fail(name, date, job.life.return_code, exited)
        job.pods_ended += 1
        if job.pods_ended == len(job.pods):
            self.settle(job)

    def settle(self, job: Job) -> None:
        """Note that no pod of the job is left."""
        if job.client is not None:
            self.settled += self.clients.runs_before(job)
        self.settled.append(job)

    def reject(self, job: Job, why: str) -> None:
        """Reject a job, which will then never run: Batsim is told, and its pods are removed."""
        job.move(JobState.REJECTED)
        self.waits_no_more(job)
        job.reason = why
        self._is_over(job)
        self.rejections[job.id] = why
        self._record("job_rejected", job=job.id, reason=why)
        self.decisions.reject(job.id)
        self.remove_pods(job)
        for name in job.pods:
            self.records.rejected(name)
        self.settled.append(job)

    def forget(self, job: Job) -> list[PodRecord]:
        """Forget a job that is over. Returns the records of its pods."""
        del self.jobs[job.id]
        self._ended.pop(job.id, None)
        self.decisions.table.forget(job.id)
        for name in job.pods:
            if self._job_of.get(name) is job:
                del self._job_of[name]
        return self.records.forget(job)

    def _is_over(self, job: Job) -> None:
        job.end_number, self.over = self.over, self.over + 1
        self._ended[job.id] = job

    def waits_no_more(self, job: Job) -> None:
        """Note that no node is looked for any more for a pod of the job."""
        self._waiting.pop(job.id, None)
        self._unplaced.pop(job.id, None)
        self._partly_bound.pop(job.id, None)

    def remove_pods(self, job: Job) -> None:
        """Take the pods of a job that does not run out of the API, and off their nodes."""
        for name, uid in job.uids.items():
            self._cluster.release(uid)
            self.waits.removed(uid)
            self._cluster.kubelet.remove(name)
            self.records.removed(name)
        job.held = None
        job.uids.clear()
        job.nodes.clear()
        self._partly_bound.pop(job.id, None)
        if job.served and job.id in self._waiting:
            self._unplaced[job.id] = job

    def replace_pods(self, job: Job, why: str) -> None:
        """Make the pods of a waiting job anew, on no node, as a controller does when one of them is lost."""
        self._record("pods_replaced", job=job.id, reason=why)
        self.remove_pods(job)
        self.create_pods(job)

    def kill(self, job: Job, why: str) -> None:
        """Ask Batsim, once, to kill a job that runs."""
        if job.life.state is not JobState.RUNNING or job.kill_asked:
            return
        job.kill_asked = True
        job.reason = why
        self.clients.kill(job)
        self._record("job_kill_asked", job=job.id, reason=why)
        self.decisions.kill(job.id)

    def _record(self, event: str, **details: Any) -> None:
        self._events.write(self._time.now, event, **details)
