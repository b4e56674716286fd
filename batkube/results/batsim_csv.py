"""A plain ``jobs.csv``, of Batsim or of a tool that writes its columns, as jobs, pods and nodes.

It has no pods: one is made for each host of a job. Nothing is known of cores: each host counts as one, and those hosts
are the cluster that some job was on. What else is not known is empty.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from batkube.results.accounts import Accounts
from batkube.results.figures import Figures
from batkube.results.jobs import JobRow
from batkube.results.metrics import WAIT_REASONS, complete_pod
from batkube.results.nodes import Node
from batkube.results.pods import PodRecord

_INTERVAL = re.compile(r"(\d+)(?:-(\d+))?")
_REASONS = [f"wait_{reason}" for reason in WAIT_REASONS]
_UNKNOWN = ("attempts", "failed_attempts", "preempted", "lost_work")
"""The figures that jobs do not tell."""
_PHASES = {"COMPLETED_SUCCESSFULLY": ("Succeeded", ""), "REJECTED": ("Pending", "Rejected")}


def pods_of(jobs: Iterable[JobRow]) -> Iterator[PodRecord]:
    """Yield the pods of jobs: one for each host; of a job whose hosts are not known, one for each that it asked for."""
    for job in jobs:
        hosts = [str(host) for host in hosts_of(job.allocated_resources)]
        places = hosts or [""] * max(1, job.requested_number_of_resources)
        phase, reason = _PHASES.get(job.final_state, ("Failed", job.final_state.removeprefix("COMPLETED_").title()))
        name = f"{job.workload_name}-{job.job_id}"
        for number, host in enumerate(places):
            pod = PodRecord(
                pod=name if len(places) == 1 else f"{name}-{number}",
                namespace="",
                job_id=job.id,
                scheduler="",
                node=host,
                phase=phase,
                reason=reason,
                created_time=job.submission_time,
                bound_time=job.starting_time if host else None,
                starting_time=job.starting_time,
                finish_time=job.finish_time if job.starting_time is not None else job.submission_time,
                cpu=1.0,
            )
            for column in _REASONS:
                setattr(pod, column, None)
            complete_pod(pod, job.submission_time)
            yield pod


def accounts_of(jobs: Iterable[JobRow], pods: Iterable[PodRecord]) -> Accounts:
    """Return the accounts of jobs and their pods, on the nodes that these name, up to the end of the last."""
    jobs, pods = list(jobs), list(pods)
    names = sorted({pod.node for pod in pods if pod.node}, key=int)
    end = max((pod.finish_time or 0.0 for pod in pods), default=0.0)
    accounts = Accounts([Node(name, name, 1.0, 0, 0) for name in names], [], end)
    for job in jobs:
        accounts.add_job(job)
    for pod in pods:
        accounts.add_pod(pod)
    return accounts


def known_figures(accounts: Accounts) -> Figures:
    """Return the figures that follow from jobs alone: nothing is known of attempts, and of why pods waited."""
    return _without_unknown(accounts.figures())


def known_figures_by_size(accounts: Accounts, whole: Figures) -> dict[str, Figures]:
    """Return the same by size class of jobs."""
    return {name: _without_unknown(figures) for name, figures in accounts.figures_by(whole)["size"].items()}


def _without_unknown(figures: Figures) -> Figures:
    return figures.model_copy(update={"wait_reasons": {}, "constraints": {}, **dict.fromkeys(_UNKNOWN)})


def hosts_of(intervals: str) -> list[int]:
    """Return the numbers of an interval set (``0-3 7``, or with commas)."""
    hosts: list[int] = []
    for first, last in _INTERVAL.findall(intervals):
        hosts += range(int(first), int(last or first) + 1)
    return hosts


def jobs_file(path: Path) -> Path | None:
    """Return the file of jobs that a path is, or that lies in it (``jobs.csv``, or one ``*_jobs.csv``); else None."""
    if path.is_file():
        return path
    if (path / "jobs.csv").is_file():
        return path / "jobs.csv"
    found = sorted(path.glob("*_jobs.csv"))
    return found[0] if len(found) == 1 else None
