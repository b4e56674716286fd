"""Whole workloads under both schedulers: they finish, nothing is used twice, each job is accounted for once."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path

import pytest

from batkube.batsim.allocation import parse_intervals
from tests.run.conftest import Batkube, Outcome

ROOT = Path(__file__).parents[2]
DATASETS = ROOT.parent / "shared" / "datasets"


def dataset(*path: str) -> Path:
    """A published input; it may not be distributed with batkube."""
    found = DATASETS.joinpath(*path)
    if not found.exists():
        pytest.skip(f"{'/'.join(path)} is not here")
    return found


Use = tuple[float, float, int, Fraction]
"""From when to when a host is used, and how much of it."""


def assert_never_over(uses: Iterable[Use], capacity: Fraction) -> None:
    """At no instant is more of a host in use than it has. What ends and what starts at one date do not meet."""
    by_host: dict[int, list[tuple[float, int, Fraction]]] = defaultdict(list)
    for start, end, host, amount in uses:
        by_host[host] += [(start, 1, amount), (end, 0, -amount)]
    for host, changes in by_host.items():
        level = Fraction(0)
        for time, _, change in sorted(changes):
            level += change
            assert level <= capacity, f"host {host} is over its capacity at {time}"
        assert level == 0


def assert_consistent(done: Outcome, count: int) -> None:
    """Each job once, no job before its submission, and all counts agree."""
    rows = done.rows("jobs.csv")
    assert Counter((row["workload_name"], row["job_id"]) for row in rows).most_common(1)[0][1] == 1
    assert len(rows) == count
    for row in rows:
        if row["final_state"] != "REJECTED":
            assert float(row["starting_time"]) >= float(row["submission_time"])
            assert float(row["finish_time"]) >= float(row["starting_time"])
            wanted = int(row["requested_number_of_resources"])
            assert len(parse_intervals(row["allocated_resources"])) <= wanted
    assert done.run["jobs"]["unfinished"] == 0
    assert done.run["jobs"]["submitted"] == count
    times = [event["time"] for event in done.events]
    assert times == sorted(times)
    assert done.run["quiescence"]["quiet_period"] == done.run["quiescence"]["not_established"] == 0


def uses(done: Outcome, amount: Callable[[dict[str, str]], Fraction] = lambda row: Fraction(1)) -> list[Use]:
    return [
        (float(row["starting_time"]), float(row["finish_time"]), host, amount(row))
        for row in done.rows("jobs.csv")
        if row["starting_time"]
        for host in parse_intervals(row["allocated_resources"])
    ]


def test_requests_fill_one_shared_node(batkube: Batkube, scheduler: list[str]) -> None:
    """39 jobs of 0.188 to 5.9 cores on one node of 6."""
    workload = dataset("batkube-go", "workloads", "KIT_10h_80.json")
    platform = dataset("batkube-go", "platforms", "1node_6core.xml")
    done = batkube("-p", platform, "-w", workload, "--enable-compute-sharing", *scheduler)
    assert done.exit_code == 0, done.stderr
    assert_consistent(done, 39)
    profiles = json.loads(workload.read_text())["profiles"]
    cores = {name: Fraction(str(profile["cpu"])) for name, profile in profiles.items()}
    assert_never_over(uses(done, lambda row: cores[row["profile"]]), Fraction(6))
    assert done.run["jobs"]["succeeded"] == 39
    assert max(Counter(start for start, *_ in uses(done)).values()) >= 1


def test_jobs_share_the_gpus_of_a_host(batkube: Batkube, scheduler: list[str], workload: Callable[..., Path]) -> None:
    jobs = [{"id": str(index), "subtime": index, "res": 1, "profile": "p", "gpu": 2} for index in range(3)]
    given = workload(jobs, {"p": {"type": "delay", "delay": 100}})
    platform = ROOT / "platforms" / "two-big-nodes.xml"
    done = batkube("-p", platform, "-w", given, "--enable-compute-sharing", *scheduler)
    assert done.exit_code == 0, done.stderr
    assert_consistent(done, 3)
    assert {pod["node"] for pod in done.rows("pods.csv")} == {"gpu-node"}
    assert [float(row["starting_time"]) for row in done.rows("jobs.csv")] == [0.0, 1.0, 100.0]


def test_parallel_jobs_on_512_hosts(batkube: Batkube, scheduler: list[str], tmp_path: Path) -> None:
    """250 jobs of 4 to 128 hosts, each host for one job at a time; with kube-scheduler, pod by pod, the first 100."""
    content = json.loads(dataset("batsim", "workloads", "example_workload_hpc_seed1_jobs250.json").read_text())
    content["jobs"] = content["jobs"][: 100 if "kube-scheduler" in scheduler else 250]
    assert max(job["res"] for job in content["jobs"]) == 128
    workload = tmp_path / "workload.json"
    workload.write_text(json.dumps(content))
    done = batkube("-p", ROOT / "platforms" / "cluster-512.xml", "-w", workload, *scheduler, timeout=300)
    assert done.exit_code == 0, done.stderr
    assert_consistent(done, len(content["jobs"]))
    assert_never_over(uses(done), Fraction(1))
    for row in done.rows("jobs.csv"):
        assert len(parse_intervals(row["allocated_resources"])) == int(row["requested_number_of_resources"])


def test_parallel_jobs_that_compete_for_16_hosts(batkube: Batkube, scheduler: list[str]) -> None:
    """Jobs of several pods under a scheduler that binds pod by pod must not wait for one another for ever."""
    arguments = ["-p", ROOT / "platforms" / "small-cluster.xml", "-w", ROOT / "workloads" / "parallel-jobs.json"]
    done = batkube(*arguments, *scheduler, "--patience", "1", timeout=300)
    assert done.exit_code == 0, done.stderr
    assert_consistent(done, 40)
    assert_never_over(uses(done), Fraction(1))


def test_all_kinds_of_ends(batkube: Batkube, scheduler: list[str]) -> None:
    """Success, failure, walltime, rejection: as Batsim's jobs.csv and as Kubernetes' pods."""
    arguments = ["-p", ROOT / "platforms" / "small-cluster.xml", "-w", ROOT / "workloads" / "all-kinds-of-ends.json"]
    done = batkube(*arguments, *scheduler)
    assert done.exit_code == 0, done.stderr
    assert_consistent(done, 7)
    rows = {row["job_id"]: row for row in done.rows("jobs.csv")}
    assert {name: (row["final_state"], row["success"]) for name, row in rows.items()} == {
        "ends-well": ("COMPLETED_SUCCESSFULLY", "1"),
        "fails-with-3": ("COMPLETED_FAILED", "0"),
        "too-slow": ("COMPLETED_WALLTIME_REACHED", "0"),
        "just-as-long": ("COMPLETED_WALLTIME_REACHED", "0"),
        "fails-half-way": ("COMPLETED_FAILED", "0"),
        "needs-too-many-hosts": ("REJECTED", "0"),
        "needs-too-many-cores": ("REJECTED", "0"),
    }
    assert float(rows["too-slow"]["execution_time"]) == 60.0
    assert float(rows["fails-half-way"]["execution_time"]) == 30.0
    pods = {row["pod"]: row for row in done.rows("pods.csv")}
    assert (pods["w0-ends-well"]["phase"], pods["w0-ends-well"]["reason"]) == ("Succeeded", "")
    assert (pods["w0-fails-with-3"]["phase"], pods["w0-fails-with-3"]["reason"]) == ("Failed", "Error")
    assert (pods["w0-too-slow"]["phase"], pods["w0-too-slow"]["reason"]) == ("Failed", "DeadlineExceeded")
    assert {name for name in pods if name.startswith("w0-fails-half-way")} == {
        "w0-fails-half-way-0",
        "w0-fails-half-way-1",
    }


def test_samples_finish(batkube: Batkube, scheduler: list[str]) -> None:
    """The first example of the README."""
    platform = ROOT / "platforms" / "small-cluster.xml"
    done = batkube("-p", platform, "-w", ROOT / "workloads" / "burst-then-trickle.json", *scheduler)
    assert done.exit_code == 0, done.stderr
    assert_consistent(done, 100)
    assert_never_over(uses(done), Fraction(1))
