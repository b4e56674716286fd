"""Folders of results made by hand, as batkube writes them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from batkube.batsim.outputs import JobRecord, write_jobs_csv
from batkube.results.accounts import Accounts
from batkube.results.comparison import file_sha256
from batkube.results.metrics import complete_pod, job_counts
from batkube.results.nodes import Node, NodeRow, write_nodes_csv
from batkube.results.pods import PodRecord, write_pods_csv
from batkube.results.run import InputFile, Run, Scheduler
from batkube.results.wait_log import WAITS, Wait


@dataclass(frozen=True)
class Job:
    """A job of one pod."""

    name: str
    submitted: float
    started: float
    ended: float
    node: int = 0
    user: str = ""
    priority: int = 0
    cpu: float = 1.0
    said: str = ""
    state: str = "COMPLETED_SUCCESSFULLY"
    reason: str = "no_capacity"
    plugin: str = ""


def write_results(
    folder: Path,
    jobs: Sequence[Job],
    *,
    nodes: int = 2,
    cores: float = 1.0,
    sharing: bool = False,
    workload: str = "w",
    seed: int = 0,
    scheduler: str = "fifo",
    status: str = "finished",
) -> Path:
    """Write a folder of results; the folder."""
    folder.mkdir(parents=True)
    end = max((job.ended for job in jobs), default=0.0)
    offered = [Node(f"n{number}", f"h{number}", cores, 1 << 30, 0) for number in range(nodes)]
    accounts = Accounts(offered, [], end)
    records = [_job(job) for job in jobs]
    write_jobs_csv(folder / "jobs.csv", records)
    for record in records:
        accounts.add_job(record)
    pods = [_pod(job) for job in jobs]
    for pod in pods:
        complete_pod(pod, end)
        accounts.add_pod(pod)
    write_pods_csv(folder / "pods.csv", pods)
    WAITS.write(
        folder / "waits.csv",
        [
            Wait(job.name, job.submitted, job.started, job.started - job.submitted, job.reason, job.plugin)
            for job in jobs
            if job.started > job.submitted
        ],
    )
    write_nodes_csv(
        folder / "nodes.csv", [NodeRow(node.node, node.host, node.cpu, node.memory, node.gpu) for node in offered]
    )
    events = sorted(
        [(job.submitted, 0, {"event": "job_submitted", "job": f"w0!{job.name}"}) for job in jobs]
        + [(job.started, 1, {"event": "pod_bound", "pod": job.name, "node": f"n{job.node}"}) for job in jobs],
        key=lambda found: found[:2],
    )
    lines = [json.dumps({"time": time, **event}, separators=(",", ":")) + "\n" for time, _, event in events]
    (folder / "events.jsonl").write_text("".join(lines))
    figures = accounts.figures()
    Run(
        batkube="0",
        status=status,
        reason=None if status == "finished" else "it was told to",
        platform=InputFile(path="p.xml", sha256="0" * 64),
        workloads=[InputFile(path="w.json", sha256=workload * 64)],
        scheduler=Scheduler(kind=scheduler),
        simulator="embedded",
        compute_sharing=sharing,
        seed=seed,
        epoch=0.0,
        figures=figures,
        figures_by=accounts.figures_by(figures),
        jobs=job_counts(records, submitted=len(records), over=len(records)),
        jobs_sha256=file_sha256(folder / "jobs.csv"),
    ).write(folder / "run.json")
    return folder


def queue(count: int, *, apart: float = 8.0, lasts: float = 10.0, later: float = 0.0) -> list[Job]:
    """Jobs for one host, one after another; each starts ``later`` than it could."""
    free, made = 0.0, []
    for number in range(count):
        submitted = number * apart
        start = max(free, submitted) + later
        free = start + lasts
        made.append(Job(f"j{number}", submitted, start, free))
    return made


def _job(job: Job) -> JobRecord:
    rejected = job.state == "REJECTED"
    return JobRecord(
        job_id=job.name,
        workload_name="w0",
        profile="p",
        submission_time=job.submitted,
        requested_number_of_resources=1,
        requested_time=None,
        success=job.state == "COMPLETED_SUCCESSFULLY",
        final_state=job.state,
        starting_time=None if rejected else job.started,
        finish_time=None if rejected else job.ended,
        allocated_resources=str(job.node),
    )


def _pod(job: Job) -> PodRecord:
    pod = PodRecord(
        pod=job.name,
        namespace="default",
        job_id=f"w0!{job.name}",
        scheduler="default-scheduler",
        user=job.user,
        priority=job.priority,
        node=f"n{job.node}",
        phase="Succeeded",
        created_time=job.submitted,
        bound_time=job.started,
        starting_time=job.started,
        finish_time=job.ended,
        waited_for=job.said,
        cpu=job.cpu,
    )
    setattr(pod, f"wait_{job.reason}", job.started - job.submitted)
    return pod
