"""The jobs of pods that clients make, in the books of all jobs."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from batkube.batsim.jobs import JobState
from batkube.bridge.cluster import Cluster
from batkube.bridge.jobs import Job
from batkube.bridge.waits import WaitRecorder

if TYPE_CHECKING:
    from batkube.bridge.job_control import JobControl

JSON = dict[str, Any]


class ClientJobs:
    """Keeps them in the books of ``control``. Batsim knows of a job from the moment at which its process starts."""

    def __init__(self, control: "JobControl", cluster: Cluster, waits: WaitRecorder) -> None:
        self.endless: dict[str, Job] = {}
        """The running jobs that do not end by themselves."""
        self._dying: set[str] = set()
        """The ids of those that the simulator was asked to kill, which is still to be told."""
        self.stopping = False
        """True if the simulation ends, and all that would run for ever is stopped."""
        self.stopped: set[str] = set()
        """The ids of the jobs that ran until the simulation was over, and were ended for that alone."""
        self.deleted = 0
        """The number of endless jobs that were killed, as their pods were deleted."""
        self.between_runs: dict[str, Job] = {}
        """The jobs of pods whose process is about to be started again, or whose init containers run."""
        self.without_host: dict[str, Job] = {}
        """The jobs of pods on hosts that have failed: they wait for these, or for somebody to take them away."""
        self.started: Callable[[Job], object] = lambda job: None
        """Called with a job whose process starts, before Batsim is told of it."""
        self._before: dict[str, list[Job]] = {}
        """The earlier runs of pods, by their keys."""
        self._control = control
        self._cluster = cluster
        self._waits = waits

    def adopt(self, job: Job, pod: JSON) -> None:
        """Let the pod wait for a node."""
        control, records, uid = self._control, self._control.records, pod["metadata"]["uid"]
        control.wait(job)
        (key,) = job.pods
        control.belongs(key, job)
        job.uids[key] = uid
        if (before := control.pods.get(key)) is not None:
            records.hand_over(key, control.jobs.get(before.job_id))
        record = records.create(key, pod["metadata"]["namespace"], job)
        self._waits.created(record, job, pod, records.stored(record, job, pod))

    def start(self, job: Job) -> None:
        """Tell Batsim of a job whose process is about to start."""
        client = job.client
        assert client is not None
        assert client.profile is not None
        self.started(job)
        self._control.decisions.register(job.id, job.description, client.profile)
        self._control.note_submission(job)
        self.between_runs.pop(job.id, None)
        if client.endless:
            self.endless[job.id] = job

    def prepare(self, job: Job) -> None:
        """Note that a pod has its node, and something of it runs before its process."""
        self._control.waits_no_more(job)
        self.between_runs[job.id] = job

    def hold(self, job: Job) -> None:
        """Let a pod wait again that has run its init containers, and never starts, as it looks now."""
        if self.between_runs.pop(job.id, None) is not None:
            self._control.wait_again(job)

    def complete(self, job: Job) -> bool:
        """Note that a job has ended; True if that is because the simulation ends, and it is to be passed over."""
        self._dying.discard(job.id)
        if self.endless.pop(job.id, None) is None:
            return False
        if self.stopping:
            self.stopped.add(job.id)
            return True
        killed = job.life.state is JobState.COMPLETED_KILLED
        self.deleted += killed and job.pods[0] not in self._cluster.kubelet.oom_killed
        return False

    @property
    def ends_to_come(self) -> bool:
        """True if a process is about to be killed, or will be started again that is to end for good."""
        return bool(self._dying) or any(
            job.client is not None and not job.client.endless for job in self.between_runs.values()
        )

    def run_again(self, job: Job, ended: Job) -> None:
        """Let ``job`` be the next run of the pod, after the job that has ``ended``. The pod keeps its node."""
        (key,) = job.pods
        self._control.number(job)
        self._control.belongs(key, job)
        job.uids[key] = ended.uids.pop(key)
        job.nodes[key] = ended.nodes[key]
        self.between_runs[job.id] = job
        self._before.setdefault(key, []).append(ended)

    def wait_for_host(self, job: Job) -> None:
        """Note that a pod that has its node, and whose process does not run, waits for its host to be back."""
        self.between_runs.pop(job.id, None)
        self.without_host[job.id] = job

    def kill(self, job: Job) -> None:
        """Note that the simulator is asked to kill the job, whose end is to come."""
        if job.id in self.endless:
            self._dying.add(job.id)

    def runs_before(self, job: Job) -> Sequence[Job]:
        """Return the earlier runs of a pod that is over; they are over now, too."""
        return self._before.pop(job.pods[0], ())

    def leave(self, job: Job, phase: str, reason: str) -> None:
        """Note that a pod whose process does not run has ended, or gone."""
        (key,) = job.pods
        self._control.waits_no_more(job)
        self.between_runs.pop(job.id, None)
        self.without_host.pop(job.id, None)
        self._cluster.release(job.uids[key])
        self._waits.removed(job.uids[key])
        if self._control.job_of(key) is job:  # else another pod has its name now
            self._control.records.left(key, phase, reason)
        job.move(JobState.REJECTED)  # it is over, and Batsim knows nothing of it
        self._control.settle(job)

    def give_up_starting(self) -> list[str]:
        """Wait no more for the pods that have their node and never start; return what keeps them."""
        left = [job for job in self._control.iter_waiting() if job.client is not None and job.held]
        for job in left:
            self._control.waits_no_more(job)
        return [why for job in left for why in (job.held or {}).values()]

    def give_up_placing(self) -> list[str]:
        """Wait no more for nodes for the pods, which nobody will place; return them."""
        left = [job for job in self._control.iter_waiting() if job.client is not None and not job.nodes]
        for job in left:
            self._control.waits_no_more(job)
        return [job.pods[0] for job in left]

    def stop_endless(self) -> None:
        """End what would run for ever: the simulation is over. Its pods stay as they are."""
        self.stopping = True
        for job in self.endless.values():
            if not job.kill_asked:
                job.kill_asked = True
                self._control.decisions.kill(job.id)
