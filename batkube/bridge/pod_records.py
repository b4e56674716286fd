"""Pods as rows of ``pods.csv``: what each asked for, the attempts to place it, and how it ended."""

from typing import Any

from batkube.bridge.jobs import Job
from batkube.bridge.occupancy import UNIT, Resources, requests_of
from batkube.bridge.pods import GPU, user_and_queue
from batkube.bridge.time import SimulatedTime
from batkube.results.attempts import AttemptLog, Outcome
from batkube.results.pods import REPLACED, PodRecord

JSON = dict[str, Any]
_OWN_COLUMNS = ("cpu", "memory", GPU, "pods")


class PodRecords:
    """The records of the pods that are not over, and of those whose jobs are not forgotten."""

    def __init__(self, time: SimulatedTime, attempts: AttemptLog) -> None:
        self.by_name: dict[str, PodRecord] = {}
        """The records by the pod's name, in order of creation."""
        self._time = time
        self._attempts = attempts
        self._containers: object = None
        self._requests: Resources = {}
        """The requests of pods with those containers, as columns of the file:"""
        self._columns = (0.0, 0, 0, "")

    def create(self, name: str, namespace: str, job: Job) -> PodRecord:
        """Begin the record of a new pod. One of that name that was there before becomes one of the job's replaced."""
        before = self.by_name.get(name)
        if before is not None:
            job.replaced.append(before)
        record = self.by_name[name] = PodRecord(name, namespace, job.id, job.scheduler, created_time=self._time.now)
        return record

    def stored(self, record: PodRecord, job: Job, pod: JSON) -> Resources:
        """Note whose pod it is and what it asks for, as it is stored; return that."""
        spec = pod["spec"]
        if spec["containers"] is not self._containers:  # pods of one form share them
            self._containers = spec["containers"]
            requests = requests_of(pod)
            self._requests = requests
            self._columns = (
                requests.get("cpu", 0) / UNIT,
                _whole(requests.get("memory", 0)),
                _whole(requests.get(GPU, 0)),
                other_requests(requests),
            )
        record.user, record.queue = user_and_queue(job, pod)
        record.priority = spec.get("priority", 0)
        record.cpu, record.memory, record.gpu, record.other_requests = self._columns
        return self._requests

    def bound(self, name: str, node: str) -> None:
        """Note that a pod has a node."""
        record = self.by_name[name]
        record.node, record.bound_time = node, self._time.now
        self.attempted(record, "bound", node)

    def attempted(self, record: PodRecord, outcome: Outcome, message: str) -> None:
        """Note what the scheduler has told of an attempt to place a pod."""
        now = self._time.now
        record.attempts += outcome != "preempting"  # the attempt that preempts is told as failed, too
        if record.first_attempt_time is None:
            record.first_attempt_time = now
        if outcome == "failed":
            record.failed_attempts += 1
            record.waited_for = message
        self._attempts.write(record.pod, now, outcome, message)

    def removed(self, name: str) -> None:
        """Note that a pod of a job that does not run was taken away."""
        record = self.by_name[name]
        record.finish_time, record.reason = self._time.now, REPLACED
        if record.starting_time is not None:
            record.phase = "Failed"
            self.lost(record, self._time.now)

    def rejected(self, name: str) -> None:
        """Note that the pod's job was rejected."""
        record = self.by_name.get(name)
        if record is not None:
            record.reason = "Rejected"
            record.finish_time = self._time.now if record.finish_time is None else record.finish_time

    def preempted(self, name: str) -> None:
        """Note that the pod gives way to another one."""
        record = self.by_name.get(name)
        if record is not None and record.finish_time is None:
            record.preempted = True

    def lost(self, record: PodRecord, date: float) -> None:
        """Note that what the pod has done until ``date`` is lost: it was killed before its end."""
        record.lost_work = record.cpu * (date - (date if record.starting_time is None else record.starting_time))

    def lost_run(self, key: str, job: Job) -> None:
        """Note that a run of the pod's process was cut short, as its host has failed: what it did is lost."""
        record = self.by_name[key]
        start, end = job.life.starting_time, job.life.finish_time
        record.lost_work += record.cpu * (0.0 if start is None or end is None else end - start)

    def revived(self, key: str) -> None:
        """Note that a pod that has ended with its host goes on, as that is back."""
        record = self.by_name[key]
        record.phase, record.reason, record.finish_time = "Pending", "", None

    def left(self, key: str, phase: str, reason: str) -> None:
        """Note that a pod has ended, or gone, whose process does not run. One that was lost has ended then."""
        record = self.by_name[key]
        if record.finish_time is not None:
            return
        record.phase, record.reason, record.finish_time = phase, reason, self._time.now

    def hand_over(self, key: str, owner: Job | None) -> None:
        """Let the job of a pod that is gone keep its record: another pod has its name now."""
        record = self.by_name.pop(key)
        if owner is not None:
            owner.replaced.append(record)

    def forget(self, job: Job) -> list[PodRecord]:
        """Forget the pods of a job. Returns their records, those of pods that were replaced first."""
        return [*job.replaced, *(self.by_name.pop(name) for name in self._names(job))]

    def of(self, job: Job) -> list[PodRecord]:
        """Return the same, and forget nothing."""
        return [*job.replaced, *(self.by_name[name] for name in self._names(job))]

    def _names(self, job: Job) -> list[str]:
        """Return the pods that are in its rows. A pod whose process runs again belongs to its first run."""
        return [name for name in job.pods if name in self.by_name and self.by_name[name].job_id == job.id]


def other_requests(requests: Resources) -> str:
    """Return the requests that have no column of their own: ``name=number;...``, in base units."""
    others = {name: amount / UNIT for name, amount in requests.items() if name not in _OWN_COLUMNS}
    return ";".join(f"{name}={_plain(amount)}" for name, amount in sorted(others.items()))


def _plain(amount: float) -> str:
    return f"{amount:.9f}".rstrip("0").rstrip(".")


def _whole(billionths: int) -> int:
    return -(-billionths // UNIT)
