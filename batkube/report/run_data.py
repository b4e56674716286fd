"""The data of a report: the jobs of a run with their pods, whichever files its folder has.

A folder of plain Batsim files has jobs alone; one of an interrupted run has pods of jobs that are not over.
"""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from batkube.results.accounts import Accounts
from batkube.results.attempts import Attempt
from batkube.results.figures import Figures
from batkube.results.jobs import JobRow
from batkube.results.metrics import bounded_slowdown
from batkube.results.nodes import NodeRow
from batkube.results.pods import REPLACED, PodRecord
from batkube.results.result import JobsFile, Result
from batkube.results.run import Run
from batkube.results.series import NodeSeriesRow, SeriesRow
from batkube.results.usage import ClusterUse, cluster_use
from batkube.results.wait_log import Wait, waits_of

STATES = ("succeeded", "failed", "walltime reached", "killed", "rejected", "running", "waiting")
"""The way a job ended, or its present state."""
_STATE_OF = {
    "COMPLETED_SUCCESSFULLY": "succeeded",
    "COMPLETED_WALLTIME_REACHED": "walltime reached",
    "COMPLETED_KILLED": "killed",
    "REJECTED": "rejected",
}
Row = TypeVar("Row")


@dataclass(slots=True)
class ReportJob:
    """A job, over or not. Times are simulated seconds."""

    name: str
    """``WORKLOAD!NAME``, or the name alone where there is one workload."""
    id: str
    submitted: float
    started: float | None = None
    finished: float | None = None
    state: str = "waiting"
    resources: int = 1
    """The number of its pods, or hosts."""
    pods: list[PodRecord] = field(default_factory=list)
    """The job's pods, those that were replaced too."""

    @property
    def cores(self) -> float:
        """The cores that its pods ask for together."""
        return sum(pod.cpu for pod in self.pods if pod.reason != REPLACED)

    @property
    def waited(self) -> float | None:
        """The seconds from submission to start; None for a job that has not started."""
        return None if self.started is None else self.started - self.submitted

    @property
    def slowdown(self) -> float | None:
        """The bounded slowdown; None for a job that has not ended."""
        if self.started is None or self.finished is None:
            return None
        return bounded_slowdown(self.finished - self.submitted, self.finished - self.started)

    @property
    def user(self) -> str:
        """The user that its pods name."""
        return self.pods[0].user if self.pods else ""

    @property
    def queue(self) -> str:
        """The queue that its pods name."""
        return self.pods[0].queue if self.pods else ""

    @property
    def priority(self) -> int:
        """The priority of its pods."""
        return self.pods[0].priority if self.pods else 0


class RunData:
    """Everything about a run that a report shows. Raises ResultsError where the folder has no jobs that can be read."""

    def __init__(self, result: Result) -> None:
        self.result = result
        self._jobs_alone = isinstance(result, JobsFile)
        self.run: Run | None = None if self._jobs_alone else result.run
        """None for a file of Batsim's alone."""
        self.pods: Sequence[PodRecord] = self._rows("pods.csv", lambda: result.pod_rows)
        over = self._over = self._rows("jobs.csv", lambda: result.job_rows)
        self.nodes: list[NodeRow] = sorted(
            self._rows("nodes.csv", lambda: result.node_rows), key=lambda node: natural(node.node)
        )
        self.series: Sequence[SeriesRow] = self._rows("series.csv", lambda: result.series_rows)
        self.node_changes: Sequence[NodeSeriesRow] = []
        if any(node.failures for node in self.nodes):
            self.node_changes = self._rows("node_series.csv", lambda: result.node_series_rows)
        self.jobs = jobs_of(over, self.pods)
        """The jobs in order of submission."""
        ends = [job.finished for job in self.jobs if job.finished is not None]
        self.end = max([*ends, self.run.simulated_seconds if self.run else 0.0], default=0.0)
        """The date at which the run ended."""

    def _rows(self, name: str, rows: Callable[[], list[Row]]) -> list[Row]:
        """Return the rows of a file; nothing where an interrupted run has not written it."""
        return rows() if self._jobs_alone or (self.result.folder / name).exists() else []

    @cached_property
    def attempts(self) -> Sequence[Attempt]:
        """The attempts to place pods, in order."""
        return self._rows("attempts.csv", lambda: self.result.attempt_rows)

    @cached_property
    def uses(self) -> Sequence[ClusterUse]:
        """The real use of pods over time, of all nodes together; nothing where no pod says so."""
        return list(cluster_use(self._rows("usage.csv", lambda: self.result.usage_rows)))

    def waits_of(self, pods: Collection[str]) -> dict[str, list[Wait]]:
        """Return the stretches of these pods' waits, in order; nothing of a pod where they are not known."""
        path = self.result.folder / "waits.csv"
        return waits_of(path, pods) if pods and not self._jobs_alone and path.exists() else {}

    @cached_property
    def figures(self) -> Figures:
        """The figures of all jobs; where ``run.json`` has none, those of the jobs that are over."""
        if self.run is None:
            return self.result.figures
        if self.run.figures is not None:
            return self.run.figures
        accounts = Accounts([], [], self.end)
        for row in self._over:
            accounts.add_job(row)
        return accounts.figures()

    @property
    def figures_by(self) -> dict[str, dict[str, Figures]]:
        """The figures of groups of jobs."""
        return self.result.figures_by

    @property
    def scheduler(self) -> str:
        """The scheduler's name, as far as it is known."""
        return self.run.scheduler.kind if self.run else ""

    @property
    def inputs(self) -> list[str]:
        """The names of platform and workloads, without their folders."""
        if self.run is None:
            return [self.result.path.name if isinstance(self.result, JobsFile) else self.result.folder.name]
        files = [*self.run.workloads, *([self.run.platform] if self.run.platform else [])]
        return [Path(file.path).name for file in files]


def jobs_of(over: Sequence[JobRow], pods: Sequence[PodRecord]) -> list[ReportJob]:
    """Put jobs and pods together."""
    alone = len({row.workload_name for row in over} | {pod.job_id.partition("!")[0] for pod in pods}) < 2
    jobs: dict[str, ReportJob] = {}
    for row in over:
        jobs[row.id] = ReportJob(
            name=row.job_id if alone else row.id,
            id=row.id,
            submitted=row.submission_time,
            started=row.starting_time,
            finished=row.finish_time,
            state=_STATE_OF.get(row.final_state, "failed"),
            resources=row.requested_number_of_resources,
        )
    under_way: list[ReportJob] = []
    for pod in pods:
        job = jobs.get(pod.job_id)
        if job is None:
            name = pod.job_id.partition("!")[2] if alone else pod.job_id
            job = jobs[pod.job_id] = ReportJob(name or pod.job_id, pod.job_id, pod.created_time, resources=0)
            under_way.append(job)
        job.pods.append(pod)
    for job in under_way:
        present = [pod for pod in job.pods if pod.reason != REPLACED]
        job.resources = len(present)
        starts = [pod.starting_time for pod in present]
        if starts and None not in starts:
            job.started, job.state = max(start for start in starts if start is not None), "running"
    return sorted(jobs.values(), key=lambda job: job.submitted)


def natural(name: str) -> list[tuple[int, str]]:
    """Return a key that sorts ``node-10`` behind ``node-9``."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"([0-9]+)", name)]
