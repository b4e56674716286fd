"""Folders of results made by hand: jobs as a test wants them, and all files that batkube would have written."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from batkube.results.accounts import Accounts
from batkube.results.attempts import ATTEMPTS, Attempt
from batkube.results.jobs import JOBS, JobRow
from batkube.results.metrics import complete_pod
from batkube.results.nodes import Node, NodeChange, write_nodes_csv
from batkube.results.pods import PodRecord, named_seconds, write_pods_csv
from batkube.results.run import Run, Scheduler
from batkube.results.series import write_series
from batkube.results.usage import USAGE, UsageRow
from batkube.results.wait_log import WAITS, Wait

SUCCEEDED, REJECTED, KILLED = "COMPLETED_SUCCESSFULLY", "REJECTED", "COMPLETED_KILLED"


@dataclass
class Made:
    """A job of one pod of a core. ``started``: None for one that never was; ``ended``: None while it runs."""

    name: str
    submitted: float = 0.0
    started: float | None = None
    ended: float | None = None
    node: str = "n0"
    state: str = SUCCEEDED
    user: str = ""
    queue: str = ""
    said: Sequence[str] = ()
    """The scheduler's words when it could not place the pod, once a second."""
    why: str = ""
    """The reason why it was rejected."""
    course: Sequence[tuple[str, float, float, str]] = ()
    """The reasons why it waited: reason, from, to, plugin; else it waited for one alone."""


def write_results(
    folder: Path,
    jobs: Sequence[Made],
    *,
    nodes: int = 2,
    waits: str = "no_capacity",
    changes: Sequence[NodeChange] = (),
    end: float | None = None,
    status: str = "finished",
    scheduler: str = "fifo",
    warnings: Sequence[str] = (),
    usage: Sequence[UsageRow] = (),
) -> Path:
    """Write a folder of results. ``waits``: the reason for which every pod waited. ``usage``: what pods really use."""
    folder.mkdir(parents=True, exist_ok=True)
    ends = [job.ended or job.started or job.submitted for job in jobs]
    accounts = Accounts(
        [Node(f"n{number}", f"n{number}", 1.0, 2**30, 0) for number in range(nodes)],
        changes,
        max(ends, default=0.0) if end is None else end,
    )
    pods, rows, attempts, stretches = [], [], [], []
    for job in jobs:
        over = job.ended is not None or job.state == REJECTED
        pod = PodRecord(f"w0-{job.name}", "default", f"w0!{job.name}", "default-scheduler", user=job.user)
        pod.queue, pod.created_time, pod.cpu, pod.memory = job.queue, job.submitted, 1.0, 2**20
        pod.starting_time = pod.bound_time = job.started
        pod.finish_time = job.submitted if job.state == REJECTED else job.ended
        pod.node = job.node if job.started is not None else ""
        pod.failed_attempts, pod.waited_for = len(job.said), job.said[-1] if job.said else ""
        pod.attempts = pod.failed_attempts + (job.started is not None)
        complete_pod(pod, accounts.end)
        course = job.course or [(waits, job.submitted, job.submitted + (pod.waiting_time or 0.0), "")]
        for reason, since, until, plugin in course:
            setattr(pod, f"wait_{reason}", getattr(pod, f"wait_{reason}") + until - since)
            if plugin:
                pod.constraints = named_seconds({plugin: until - since})
            if until > since:
                stretches.append(Wait(pod.pod, since, until, until - since, reason, plugin))
        pods.append(pod)
        attempts += [Attempt(pod.pod, job.submitted + number, "failed", text) for number, text in enumerate(job.said)]
        if job.started is not None:
            attempts.append(Attempt(pod.pod, job.started, "bound", job.node))
        if over:
            rows.append(JobRow(job.name, "w0", job.submitted, job.state, job.started, job.ended))
    for row in rows:
        accounts.add_job(row)
    for pod in pods:
        accounts.add_pod(pod)
    JOBS.write(folder / "jobs.csv", rows)
    write_pods_csv(folder / "pods.csv", pods)
    ATTEMPTS.write(folder / "attempts.csv", sorted(attempts, key=lambda attempt: attempt.time))
    WAITS.write(folder / "waits.csv", stretches)
    if usage:
        USAGE.write(folder / "usage.csv", usage)
    timeline = accounts.timeline()
    write_series(folder / "series.csv", folder / "node_series.csv", timeline.play())
    write_nodes_csv(folder / "nodes.csv", timeline.node_rows())
    figures = accounts.figures()
    Run.model_validate(
        {
            "batkube": "0",
            "status": status,
            "reason": None if status == "finished" else "it was made so",
            "scheduler": Scheduler(kind=scheduler, names=["default-scheduler"]),
            "simulator": "embedded",
            "seed": 0,
            "epoch": 0.0,
            "simulated_seconds": accounts.end,
            "figures": figures,
            "figures_by": accounts.figures_by(figures),
            "rejected": {f"w0!{job.name}": job.why for job in jobs if job.state == REJECTED},
            "warnings": list(warnings),
        }
    ).write(folder / "run.json")
    return folder


def busy(count: int, nodes: int = 4) -> list[Made]:
    """Jobs of ten seconds, one behind another on each node, submitted faster than they end."""
    return [
        Made(
            f"job-{number}",
            submitted=float(number),
            started=max(float(number), number // nodes * 10.0),
            ended=max(float(number), number // nodes * 10.0) + 10.0,
            node=f"n{number % nodes}",
            user="ada" if number % 2 else "grace",
        )
        for number in range(count)
    ]
