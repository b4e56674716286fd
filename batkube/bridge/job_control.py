"""The life of jobs and their pods, from submission to the end, and the decisions on them that Batsim is owed."""

from typing import Any

from batkube.batsim import messages
from batkube.bridge import pods
from batkube.bridge.cluster import Cluster
from batkube.bridge.errors import InputError, InvariantBroken
from batkube.bridge.jobs import Job, JobState, PodWishes
from batkube.bridge.names import Names
from batkube.bridge.time import SimulatedTime
from batkube.kube.server import ApiServer
from batkube.kube.status import ApiError
from batkube.results.events import EventLog
from batkube.results.pods import PodRecord

JSON = dict[str, Any]
Decision = messages.ExecuteJob | messages.RejectJob | messages.KillJob | messages.Notify | messages.CallMeLater

SUCCESS = "COMPLETED_SUCCESSFULLY"
WALLTIME_REACHED = "COMPLETED_WALLTIME_REACHED"
KILLED = "COMPLETED_KILLED"


class JobControl:
    """All jobs of a simulation. Each is submitted once, and ends once: completed or rejected."""

    def __init__(self, server: ApiServer, time: SimulatedTime, events: EventLog, cluster: Cluster) -> None:
        self.jobs: dict[str, Job] = {}
        """By id, in order of submission."""
        self._waiting: dict[str, Job] = {}
        """Those that have neither started nor ended."""
        self.ended: list[Job] = []
        """In order of completion or rejection: the order of Batsim's jobs.csv."""
        self.pods: dict[str, PodRecord] = {}
        """By name, in order of creation."""
        self.running = 0
        self.decisions: list[Decision] = []
        """What Batsim is to be told with the next reply."""
        self._server = server
        self._time = time
        self._events = events
        self._cluster = cluster
        self._names = Names()
        self._pod_type = server.registry.named("pods")
        self._job_of: dict[str, Job] = {}
        self._priority_classes: set[str] = set()

    def job_of(self, pod: str) -> Job | None:
        """The job that the pod of this name belongs to; None for pods that are not ours."""
        return self._job_of.get(pod)

    def waiting(self) -> list[Job]:
        """The jobs that have neither started nor ended, in order of submission."""
        return list(self._waiting.values())

    def submit(self, job: Job, *, problem: str | None = None) -> None:
        """Take in a new job: create its pods.

        It is rejected at once where ``problem`` says why, or where it can never run.
        """
        if job.id in self.jobs:
            raise InvariantBroken(f"job {job.id} was submitted twice")
        self.jobs[job.id] = self._waiting[job.id] = job
        self._record("job_submitted", job=job.id, resources=job.resources, scheduler=job.scheduler)
        requests = self._cluster.requests(job.wishes)
        if why := problem or self._cluster.why_never(job.resources, requests):
            self.reject(job, why)
            return
        base = self._names.claim(job.id)
        job.pods = [base] if job.resources == 1 else [f"{base}-{index}" for index in range(job.resources)]
        self.create_pods(job)

    def create_pods(self, job: Job) -> None:
        """The pods of a job that waits, none of them bound. A job whose pods the API refuses is rejected."""
        requests = self._cluster.requests(job.wishes)
        try:
            priority_class = self._priority_class(job.wishes)
            for pod in pods.pods_of(job, self._pod_type, requests=requests, priority_class=priority_class):
                name = pod["metadata"]["name"]
                self._job_of[name] = job
                self.pods[name] = PodRecord(name, pods.NAMESPACE, job.id, job.scheduler, created_time=self._time.now)
                created = self._server.create("pods", pod, pods.NAMESPACE)
                job.uids[name] = created["metadata"]["uid"]
        except (InputError, ApiError) as error:
            self.reject(job, str(error))

    def _priority_class(self, wishes: PodWishes) -> str | None:
        """The PriorityClass for a job's priority; for a number one is made, since a pod cannot carry a bare number."""
        priority = wishes.priority
        if priority is None or isinstance(priority, str):
            return priority
        name = f"batkube-priority-{priority}".replace("--", "-minus-")
        if name not in self._priority_classes:
            self._server.create("priorityclasses.scheduling.k8s.io", {"metadata": {"name": name}, "value": priority})
            self._priority_classes.add(name)
        return name

    def bound(self, job: Job, pod: str, node: str) -> None:
        """The pod has a node."""
        if job.state is not JobState.WAITING:
            raise InvariantBroken(f"pod {pod} was bound to {node} although job {job.id} is {job.state}")
        job.nodes[pod] = node
        self.pods[pod].node = node
        self.pods[pod].bound_time = self._time.now
        self._cluster.show_taken(node, job.wishes)
        self._record("pod_bound", pod=pod, node=node)

    def start(self, job: Job) -> None:
        """All its pods are bound, and have started where that takes time: the job runs from now on."""
        job.move(JobState.RUNNING)
        del self._waiting[job.id]
        self.running += 1
        job.starting_time = self._time.now
        self.decisions.append(messages.ExecuteJob(timestamp=self._time.now, data=self._cluster.execution(job)))
        self._record("job_started", job=job.id, hosts=job.hosts)
        for name in job.pods:
            if self.pods[name].starting_time is None:
                self.start_pod(name)

    def start_pod(self, name: str) -> None:
        """The pod's process runs from now on."""
        self.pods[name].starting_time = self._time.now
        self.pods[name].phase = "Running"
        self._cluster.kubelet.start(name)

    def complete(self, job_id: str, batsim_state: str, return_code: int, *, finished: float) -> Job:
        """Batsim says that a job has ended, ``finished`` it has maybe earlier, while a decision took its time.

        Its pods have not ended yet. Raises InvariantBroken where it did not run.
        """
        job = self.jobs.get(job_id)
        if job is None:
            raise InvariantBroken(f"JOB_COMPLETED names {job_id}, which was never submitted")
        job.move(JobState.ENDED)
        self.running -= 1
        job.finish_time = finished
        job.batsim_state = batsim_state
        job.return_code = return_code
        self.ended.append(job)
        earlier = {"finish_time": finished} if finished < self._time.now else {}
        self._record("job_completed", job=job.id, state=batsim_state, return_code=return_code, **earlier)
        return job

    def end_pod(self, job: Job, name: str, date: float) -> None:
        """The pod of a job that has completed ends at ``date``, its process with the job; it leaves its node."""
        self._cluster.release(job.uids[name])
        record, kubelet = self.pods[name], self._cluster.kubelet
        exited = date if job.finish_time is None else job.finish_time
        record.finish_time = date
        record.phase = "Succeeded" if job.batsim_state == SUCCESS else "Failed"
        match job.batsim_state:
            case "COMPLETED_SUCCESSFULLY":
                kubelet.succeed(name, date, exited)
            case "COMPLETED_WALLTIME_REACHED":
                record.reason = "DeadlineExceeded"
                kubelet.exceed_deadline(name, date, exited)
            case "COMPLETED_KILLED":
                record.reason = "Killed"
                kubelet.kill(name, date, job.reason or "the job was killed", exited)
            case _:
                record.reason = "Error"
                kubelet.fail(name, date, job.return_code, exited)

    def reject(self, job: Job, why: str) -> None:
        """The job will never run: Batsim is told, its pods go away."""
        job.move(JobState.REJECTED)
        del self._waiting[job.id]
        job.reason = why
        self.ended.append(job)
        self._record("job_rejected", job=job.id, reason=why)
        data = messages.RejectJobData(job_id=job.id)
        self.decisions.append(messages.RejectJob(timestamp=self._time.now, data=data))
        self.remove_pods(job)
        for name in job.pods:
            self.pods[name].reason = "Rejected"

    def remove_pods(self, job: Job) -> None:
        """Take the pods of a job that does not run out of the API, and off their nodes."""
        for name, uid in job.uids.items():
            self._cluster.release(uid)
            self._cluster.kubelet.remove(name)
        job.uids.clear()
        job.nodes.clear()

    def replace_pods(self, job: Job, why: str) -> None:
        """The pods of a job that waits are made anew, on no node, as a controller does when one of them is lost."""
        self._record("pods_replaced", job=job.id, reason=why)
        self.remove_pods(job)
        self.create_pods(job)

    def kill(self, job: Job, why: str) -> None:
        """Ask Batsim, once, to kill a job that runs."""
        if job.state is not JobState.RUNNING or job.kill_asked:
            return
        job.kill_asked = True
        job.reason = why
        self._record("job_kill_asked", job=job.id, reason=why)
        data = messages.KillJobData(job_ids=[job.id])
        self.decisions.append(messages.KillJob(timestamp=self._time.now, data=data))

    def _record(self, event: str, **details: Any) -> None:
        self._events.write(self._time.now, event, **details)
