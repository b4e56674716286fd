"""Measure what the figures and the series of a long run take: synthetic ``jobs.csv`` and ``pods.csv`` are read back.

usage: python benchmarks/results.py [--jobs 1000000] [--nodes 512]

Each step is timed; memory is the most that was resident up to its end.
"""

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from batkube.batsim.outputs import JobRecord, write_jobs_csv
from batkube.results.accounts import Accounts
from batkube.results.jobs import read_jobs_csv
from batkube.results.metrics import complete_pod
from batkube.results.nodes import Node, write_nodes_csv
from batkube.results.pods import PodRecord, read_pods_csv, write_pods_csv
from batkube.results.series import write_series

CORES, GIB = 64.0, 1 << 30


def pods_of(count: int, nodes: int) -> Iterator[PodRecord]:
    """Yield pods of one job each, as they come to a cluster that is busy half of the time; the same ones each time."""
    random = Random(0)
    now = 0.0
    for number in range(count):
        now += random.expovariate(1.0)
        started = now + random.expovariate(1 / 300) * (random.random() < 0.5)
        ended = started + random.expovariate(1 / 3600)
        pod = PodRecord(
            f"w0-{number}", "default", f"w0!{number}", "default-scheduler", user=f"user-{random.randrange(50)}",
            queue=random.choice(["short", "long"]), priority=random.choice([0, 0, 0, 100]),
            node=f"node-{random.randrange(nodes)}", phase="Succeeded", created_time=now, first_attempt_time=now,
            bound_time=started, starting_time=started, finish_time=ended, attempts=2, failed_attempts=1,
            waited_for="0/512 nodes are available", cpu=random.choice([0.5, 1.0, 2.0, 4.0]), memory=GIB,
        )  # fmt: skip
        complete_pod(pod, ended)
        pod.wait_no_capacity = pod.waiting_time or 0.0
        yield pod


def job_of(pod: PodRecord) -> JobRecord:
    """Return the job of a pod."""
    _, _, name = pod.job_id.partition("!")
    return JobRecord(
        name, "w0", "p", pod.created_time, 1, None, True, "COMPLETED_SUCCESSFULLY", pod.starting_time, pod.finish_time
    )


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=1_000_000)
    parser.add_argument("--nodes", type=int, default=512)
    options = parser.parse_args()
    print("| step | processor time | memory |\n|---|---:|---:|", flush=True)

    def measured(name: str, work: Callable[[], object]) -> None:
        began = time.process_time()
        work()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(f"| {name} | {time.process_time() - began:.1f} s | {peak:,} MiB |", flush=True)

    with tempfile.TemporaryDirectory(prefix="batkube-results-") as made:
        folder = Path(made)
        pods, jobs = folder / "pods.csv", folder / "jobs.csv"
        nodes = [Node(f"node-{number}", f"host-{number}", CORES, 256 * GIB, 0) for number in range(options.nodes)]
        measured("make and write pods.csv", lambda: write_pods_csv(pods, pods_of(options.jobs, options.nodes)))
        measured(
            "make and write jobs.csv", lambda: write_jobs_csv(jobs, map(job_of, pods_of(options.jobs, options.nodes)))
        )
        end = max(pod.finish_time or 0.0 for pod in pods_of(options.jobs, options.nodes))
        accounts = Accounts(nodes, [], end)

        def read_jobs() -> None:
            for job in read_jobs_csv(jobs):
                accounts.add_job(job)

        def read_pods() -> None:
            for pod in read_pods_csv(pods):
                accounts.add_pod(pod)

        measured("read jobs.csv", read_jobs)
        measured("read pods.csv", read_pods)
        measured("figures", accounts.figures)
        measured("figures by user, queue, priority and size", lambda: accounts.figures_by(accounts.figures()))
        timeline = accounts.timeline()
        series, by_node = folder / "series.csv", folder / "node_series.csv"
        measured("series.csv and node_series.csv", lambda: write_series(series, by_node, timeline.play()))
        measured("nodes.csv", lambda: write_nodes_csv(folder / "nodes.csv", timeline.node_rows()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
