"""The facts of each job and pod of a run that comparisons need, in little room."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from pydantic import ValidationError

from batkube.comparison.figure_names import GROUPS, Values, values_of
from batkube.results.accounts import Accounts
from batkube.results.batsim_csv import known_figures
from batkube.results.csv_rows import ResultsError
from batkube.results.figures import Figures
from batkube.results.jobs import JobRow, read_jobs_csv
from batkube.results.metrics import (
    WAIT_REASONS,
    bounded_slowdown,
    size_class,
    stretch,
    turnaround,
    waiting,
)
from batkube.results.pods import REPLACED, PodRecord, read_pods_csv
from batkube.results.run import Run

_WAITS = tuple((reason, f"wait_{reason}") for reason in WAIT_REASONS)
Measures = dict[str, float]


@dataclass(slots=True)
class JobFacts:
    """A job that is over."""

    job: str
    """``WORKLOAD!NAME``."""
    submitted: float
    state: str
    measures: Measures | None
    """``wait``, ``turnaround``, ``stretch`` and ``slowdown``; None for one that did not run."""
    groups: dict[str, str] = field(default_factory=dict)
    """The names of its ``user``, ``queue``, ``priority`` and ``size``, those that it has."""


@dataclass(frozen=True, slots=True)
class PodFacts:
    """A pod."""

    pod: str
    job: str
    created: float
    wait: float
    reason: str
    """The reason for which it waited longest, one of WAIT_REASONS; empty where none is known."""
    said: str
    """The last that its scheduler said of it."""
    node: str
    user: str
    queue: str
    priority: int


class RecordedRun:
    """A run as it lies in a folder, or in a file of Batsim's jobs alone. Each file is read when it is asked for.

    Raises ResultsError then.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def is_file(self) -> bool:
        """True if there is nothing but a ``jobs.csv``."""
        return not self.path.is_dir()

    @property
    def jobs_csv(self) -> Path:
        """The file of the jobs."""
        return self.path if self.is_file else self.path / "jobs.csv"

    @cached_property
    def run(self) -> Run | None:
        """``run.json``; None for a file of jobs."""
        if self.is_file:
            return None
        path = self.path / "run.json"
        try:
            return Run.read(path)
        except OSError:
            raise ResultsError(f"{self.path} holds no results of a run: it has no run.json") from None
        except ValidationError:
            raise ResultsError(f"{path} was not written by batkube") from None

    @cached_property
    def figures(self) -> Figures:
        """The figures of all jobs, from ``run.json``; of a file of jobs, those that follow from it."""
        if self.run is not None and self.run.figures is not None:
            return self.run.figures
        rows = self.job_rows
        accounts = Accounts([], [], max((row.finish_time or 0.0 for row in rows), default=0.0))
        for row in rows:
            accounts.add_job(row)
        return known_figures(accounts)

    @cached_property
    def values(self) -> Values:
        """All figures by name."""
        energy = self.run.energy.total if self.run is not None and self.run.energy is not None else None
        return values_of(self.figures, energy)

    def group_values(self, kind: str, name: str) -> Values | None:
        """Return the figures of a group of jobs; None if it has none."""
        found = self.run.figures_by.get(kind, {}).get(name) if self.run is not None else None
        return None if found is None else values_of(found)

    @cached_property
    def job_rows(self) -> list[JobRow]:
        """The rows of ``jobs.csv``."""
        return list(read_jobs_csv(self.jobs_csv))

    @property
    def jobs(self) -> dict[str, JobFacts]:
        """The jobs that are over, by id, in order of submission."""
        return self._facts[0]

    @property
    def pods(self) -> dict[str, PodFacts]:
        """The pods by name, in order of creation."""
        return self._facts[1]

    @cached_property
    def _facts(self) -> tuple[dict[str, JobFacts], dict[str, PodFacts]]:
        """Both, for which ``pods.csv`` is read once."""
        facts = [_job(row) for row in read_jobs_csv(self.jobs_csv)]
        facts.sort(key=lambda job: (job.submitted, job.job))
        jobs = {job.job: job for job in facts}
        pods: dict[str, PodFacts] = {}
        cores: dict[str, float] = {}
        for row in self.each_pod():
            pods[row.pod] = _pod(row)
            if (job := jobs.get(row.job_id)) is None:
                continue
            cores[job.job] = cores.get(job.job, 0.0) + (row.cpu if row.reason != REPLACED else 0.0)
            named = zip(GROUPS, (row.user, row.queue, str(row.priority)), strict=False)
            job.groups = {kind: name for kind, name in named if name}
        for name, amount in cores.items():
            jobs[name].groups["size"] = size_class(amount)
        return jobs, pods

    def each_pod(self) -> Iterator[PodRecord]:
        """Yield the rows of ``pods.csv``, one after another; none where there is no such file."""
        path = self.path / "pods.csv"
        if not self.is_file and path.is_file():
            yield from read_pods_csv(path)

    def forget(self) -> None:
        """Give back the room that jobs and pods take."""
        for name in ("_facts", "job_rows"):
            self.__dict__.pop(name, None)


def _job(row: JobRow) -> JobFacts:
    started, finished, measures = row.starting_time, row.finish_time, None
    if started is not None and finished is not None:
        whole, execution = turnaround(row.submission_time, finished), finished - started
        measures = {
            "wait": waiting(row.submission_time, started),
            "turnaround": whole,
            "stretch": stretch(whole, execution),
            "slowdown": bounded_slowdown(whole, execution),
        }
    # What is known without its pods; a host has a core at least.
    groups = {"size": size_class(row.requested_number_of_resources)}
    return JobFacts(row.id, row.submission_time, row.final_state, measures, groups)


def _pod(row: PodRecord) -> PodFacts:
    seconds, reason = max(((getattr(row, column) or 0.0, name) for name, column in _WAITS), key=lambda pair: pair[0])
    return PodFacts(
        row.pod,
        row.job_id,
        row.created_time,
        row.waiting_time or 0.0,
        reason if seconds > 0 else "",
        row.waited_for,
        row.node,
        row.user,
        row.queue,
        row.priority,
    )


def common(left: Iterable[str], right: Iterable[str]) -> list[str]:
    """Return what both have, in the order of the left."""
    others = set(right)
    return [name for name in left if name in others]
