"""Measure what it takes to compare, and to check, two runs of many jobs: synthetic ones with other waits.

usage: python benchmarks/comparing.py [--jobs 100000]

Each command is a process of its own; memory is the most that was resident.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from results import job_of, pods_of

from batkube.batsim.outputs import write_jobs_csv
from batkube.results.accounts import Accounts
from batkube.results.metrics import complete_pod
from batkube.results.nodes import Node, NodeRow, write_nodes_csv
from batkube.results.pods import PodRecord, write_pods_csv
from batkube.results.run import Jobs, Run, Scheduler

NODES = 512


def write_run(folder: Path, count: int, shift: float) -> None:
    """Write the results of a run whose jobs start up to ``shift`` seconds later, by chance."""
    folder.mkdir()
    draw = Random(1)
    pods: list[PodRecord] = []
    for pod in pods_of(count, NODES):
        late = draw.random() * shift
        assert pod.starting_time is not None
        assert pod.finish_time is not None
        pod.bound_time = pod.starting_time = pod.starting_time + late
        pod.finish_time += late
        complete_pod(pod, pod.finish_time)
        pod.wait_no_capacity = pod.waiting_time or 0.0
        pods.append(pod)
    nodes = [Node(f"node-{number}", f"host-{number}", 1e6, 1 << 60, 0) for number in range(NODES)]
    accounts = Accounts(nodes, [], max(pod.finish_time or 0.0 for pod in pods))
    jobs = [job_of(pod) for pod in pods]
    write_jobs_csv(folder / "jobs.csv", jobs)
    write_pods_csv(folder / "pods.csv", pods)
    write_nodes_csv(folder / "nodes.csv", [NodeRow(n.node, n.host, n.cpu, n.memory, n.gpu) for n in nodes])
    with (folder / "events.jsonl").open("w") as events:
        for pod in sorted(pods, key=lambda one: one.starting_time or 0.0):
            what = {"time": pod.bound_time, "event": "pod_bound", "pod": pod.pod, "node": pod.node}
            events.write(json.dumps(what, separators=(",", ":")) + "\n")
    for job in jobs:
        accounts.add_job(job)
    for pod in pods:
        accounts.add_pod(pod)
    figures = accounts.figures()
    Run(
        batkube="0", status="finished", scheduler=Scheduler(kind="fifo"), simulator="embedded", seed=0, epoch=0,
        compute_sharing=True, figures=figures, figures_by=accounts.figures_by(figures),
        jobs=Jobs(submitted=count, succeeded=count),
    ).write(folder / "run.json")  # fmt: skip


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=100_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="batkube-comparing-") as made:
        a, b = Path(made) / "a", Path(made) / "b"
        write_run(a, options.jobs, 0)
        write_run(b, options.jobs, 60)
        print("| command | time | processor time | memory |\n|---|---:|---:|---:|", flush=True)
        for words in (
            ["compare", a, b, "--out", Path(made) / "told"],
            ["compare", a, b, "--format", "html", "--out", Path(made) / "told.html"],
            ["check", b, "--against", a],
        ):
            began = time.monotonic()
            process = subprocess.Popen(
                [sys.executable, "-m", "batkube", *map(str, words)],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            _, _, used = os.wait4(process.pid, 0)
            took = time.monotonic() - began
            shown = " ".join(str(word) for word in words if not isinstance(word, Path))
            print(
                f"| {shown} | {took:.1f} s | {used.ru_utime + used.ru_stime:.1f} s | {used.ru_maxrss // 1024:,} MiB |",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
