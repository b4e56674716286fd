"""The results of whole runs: their files agree with one another, on shared nodes, with outages and preemption."""

import json
from collections import Counter
from collections.abc import Callable
from math import inf
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest
import yaml

import batkube as front_door
from batkube.results.metrics import WAIT_REASONS
from batkube.results.pods import read_named_seconds
from batkube.results.result import Result
from batkube.results.series import SeriesRow
from tests.run.conftest import Batkube
from tests.run.test_ends import started
from tests.waiting import wait_until

JSON = dict[str, Any]


def random_workload(seed: int, count: int = 60) -> tuple[list[JSON], JSON]:
    """Return jobs of one to three pods of one to four cores, some too long for their walltime, of three users."""
    random = Random(seed)
    profiles = {f"d{length}": {"type": "delay", "delay": length} for length in (1, 2, 7, 30, 100)}
    jobs = [
        {
            "id": str(number),
            "subtime": random.randrange(0, 200, 5),
            "res": random.choice([1, 1, 1, 2, 3]),
            "walltime": random.choice([20, 200]),
            "profile": random.choice(sorted(profiles)),
            "batkube": {
                "cpu": random.choice(["500m", "1", "2", "4"]),
                "memory": random.choice(["1Gi", "512Mi"]),
                "user": random.choice(["ada", "grace", "müller, o."]),
                "queue": random.choice(["short", "long"]),
            },
        }
        for number in range(count)
    ]
    return jobs, profiles


def assert_agrees(result: Result) -> None:
    """All files of a run tell the same."""
    pods, jobs, figures = result.pod_rows, result.job_rows, result.figures
    rows, end = result.series_rows, result.run.simulated_seconds
    following = [*[row.time for row in rows[1:]], end]

    def area(of: Callable[[SeriesRow], float], until: float = inf) -> float:
        return sum(
            of(row) * (min(then, until) - row.time)
            for row, then in zip(rows, following, strict=True)
            if row.time < until
        )

    for row in rows:
        assert row.cpu_used <= row.cpu_requested <= row.cpu_allocatable
        assert row.memory_used <= row.memory_requested <= row.memory_allocatable
        assert 0 <= row.fragmentation <= 1
    assert area(lambda row: row.waiting_pods) == pytest.approx(sum(pod.waiting_time or 0 for pod in pods), abs=1e-3)
    held = sum(node.cpu_requested_seconds for node in result.node_rows)
    assert area(lambda row: row.cpu_requested) == pytest.approx(held, abs=1e-3)
    makespan = max(job.finish_time for job in jobs if job.finish_time is not None)
    assert figures.makespan == makespan
    offered = area(lambda row: row.cpu_allocatable, makespan)
    assert figures.cpu_utilization == pytest.approx(area(lambda row: row.cpu_requested, makespan) / offered, abs=1e-6)
    assert figures.attempts == sum(pod.attempts for pod in pods) == len(result.attempt_rows)
    failed = [attempt for attempt in result.attempt_rows if attempt.outcome == "failed"]
    assert figures.failed_attempts == sum(pod.failed_attempts for pod in pods) == len(failed)
    assert figures.submitted == result.run.jobs.submitted
    assert figures.distance is None or figures.distance >= 1
    times = [attempt.time for attempt in result.attempt_rows]
    assert times == sorted(times)
    for pod in pods:
        assert pod.bound_time is None or pod.first_attempt_time is not None
        assert pod.starting_time is None or pod.waiting_time == pytest.approx(pod.starting_time - pod.created_time)
    assert_waits_agree(result)
    for name, groups in result.figures_by.items():
        if name in ("user", "queue"):
            assert sum(group.jobs for group in groups.values()) == figures.jobs
            assert sum(group.lost_work or 0.0 for group in groups.values()) == pytest.approx(figures.lost_work)


def assert_waits_agree(result: Result) -> None:
    """The stretches of each pod's wait follow one another, and sum to its columns, to the microsecond."""
    sums: dict[tuple[str, str], int] = {}
    ends: dict[str, float] = {}
    names = {pod.pod for pod in result.pod_rows}
    failed = Counter(attempt.pod for attempt in result.attempt_rows if attempt.outcome == "failed")
    for row in result.wait_rows:
        assert row.pod in names
        assert row.start == ends.get(row.pod, row.start) or any(
            row.start == pod.created_time for pod in result.pod_rows
        )
        assert row.seconds == pytest.approx(row.end - row.start, abs=1e-6)
        assert (row.plugin != "") == (row.words != "") == (row.reason == "constraints")
        assert row.attempt is None or 1 <= row.attempt <= failed[row.pod]
        ends[row.pod] = row.end
        for what in (row.reason, row.plugin):
            sums[row.pod, what] = sums.get((row.pod, what), 0) + round(row.seconds * 1e6) if what else 0
    expected: dict[tuple[str, str], int] = {}
    for pod in result.pod_rows:  # one that was replaced has the name of the next
        reasons = {reason: getattr(pod, f"wait_{reason}") for reason in WAIT_REASONS}
        for what, seconds in {**reasons, **read_named_seconds(pod.constraints)}.items():
            expected[pod.pod, what] = expected.get((pod.pod, what), 0) + round(seconds * 1e6)
    assert {key: time for key, time in sums.items() if time} == {key: time for key, time in expected.items() if time}
    by_plugin: Counter[str] = Counter()
    for pod in result.pod_rows:
        by_plugin.update({name: round(value * 1e6) for name, value in read_named_seconds(pod.constraints).items()})
    assert {name: round(value * 1e6) for name, value in result.figures.constraints.items()} == by_plugin
    assert by_plugin.total() == round(result.figures.wait_reasons["constraints"] * 1e6)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("policy", ["fifo", "easy"])
def test_the_files_of_any_run_agree(
    batkube: Batkube,
    platform: Callable[..., Path],
    workload: Callable[..., Path],
    tmp_path: Path,
    seed: int,
    policy: str,
) -> None:
    outages = tmp_path / "outages.txt"
    outages.write_text(
        '{"type": "machine_unavailable", "resources": "0", "timestamp": 43}\n'
        '{"type": "machine_available", "resources": "0", "timestamp": 88}\n'
    )
    given = workload(*random_workload(seed))
    options = ["--enable-compute-sharing", "--events", outages, "--scheduler", policy]
    done = batkube("-p", platform(4, cores=4), "-w", given, *options)
    assert done.exit_code == 0, done.stderr
    result = front_door.load(done.out)
    assert_agrees(result)
    assert {pod.user for pod in result.pod_rows} == {"ada", "grace", "müller, o."}
    assert result.figures.fairness is not None
    assert 0 < result.figures.fairness <= 1
    assert sum(node.failures for node in result.node_rows) == 1


def test_ended_pods_that_are_not_kept_are_in_the_results(
    batkube: Batkube, platform: Callable[..., Path], workload: Callable[..., Path]
) -> None:
    arguments = ["-p", platform(4, cores=4), "-w", workload(*random_workload(1)), "--enable-compute-sharing"]
    everything = {path.name: path.read_bytes() for path in batkube(*arguments).out.glob("*.csv")}
    spooled = batkube(*arguments, "--keep-finished", "3").out
    assert {path.name: path.read_bytes() for path in spooled.glob("*.csv")} == everything


def test_users_and_queues_become_labels_and_groups(
    batkube: Batkube, platform: Callable[..., Path], workload: Callable[..., Path]
) -> None:
    jobs = [
        {"id": "a", "subtime": 0, "res": 1, "profile": "p", "batkube": {"user": "ada", "queue": "q1"}},
        {"id": "b", "subtime": 0, "res": 1, "profile": "p", "labels": {"kueue.x-k8s.io/queue-name": "q2"}},
        {"id": "c", "subtime": 0, "res": 1, "profile": "p", "user": "not-ours"},
    ]
    done = batkube("-p", platform(3), "-w", workload(jobs, {"p": {"type": "delay", "delay": 5}}))
    pods = {pod.job_id: (pod.user, pod.queue) for pod in front_door.load(done.out).pod_rows}
    assert pods == {"w0!a": ("ada", "q1"), "w0!b": ("", "q2"), "w0!c": ("", "")}
    assert list(done.run["figures_by"]["user"]) == ["ada"]
    assert list(done.run["figures_by"]["queue"]) == ["q1", "q2"]


def test_all_tables_come_as_parquet_pandas_and_polars(
    batkube: Batkube, platform: Callable[..., Path], workload: Callable[..., Path]
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    given = ["-p", platform(4, cores=4), "-w", workload(*random_workload(2)), "--enable-compute-sharing"]
    result = front_door.load(batkube(*given, "--parquet").out)
    for name, rows in (
        ("pods", result.pod_rows), ("jobs", result.job_rows), ("attempts", result.attempt_rows),
        ("waits", result.wait_rows), ("nodes", result.node_rows), ("series", result.series_rows),
        ("node_series", result.node_series_rows),
    ):  # fmt: skip
        table = parquet.read_table(result.folder / f"{name}.parquet").to_pylist()
        polars, pandas = result.to_polars(name).to_dicts(), result.to_pandas(name)
        assert len(table) == len(polars) == len(pandas) == len(rows)
        for column in ("user", "waiting_time", "preempted", "memory_utilization", "cpu_requested", "up", "time"):
            if hasattr(rows[0], column):
                values = [getattr(row, column) for row in rows]
                assert [row[column] for row in table] == [row[column] for row in polars] == values
    assert result.pods.waiting_time.mean() == pytest.approx(
        sum(p.waiting_time or 0 for p in result.pod_rows) / len(result.pod_rows)
    )
    assert set(result.events.event) >= {"job_submitted", "job_completed"}


def test_the_built_in_policies_stand_beside(
    batkube: Batkube, platform: Callable[..., Path], workload: Callable[..., Path]
) -> None:
    given = ["-p", platform(4), "-w", workload(*random_workload(3))]
    done = batkube(*given, "--bounds", "--scheduler", "easy")
    assert done.exit_code == 0, done.stderr
    assert done.run["bounds"]["easy"] == done.run["figures"]
    assert done.run["bounds"]["fifo"]["submitted"] == 60
    assert "fifo instead" in done.stdout
    again = batkube(*given, "--scheduler", "easy")
    assert again.run["events_sha256"] == done.run["events_sha256"]


def test_a_run_from_python(platform: Callable[..., Path], workload: Callable[..., Path], tmp_path: Path) -> None:
    given = workload(*random_workload(4))
    result = front_door.run(
        platform=platform(4),
        workload=[given],
        scheduler="easy",
        enable_compute_sharing=True,
        seed=3,
        out=tmp_path / "o",
    )
    assert (result.run.status, result.run.seed, result.run.compute_sharing) == ("finished", 3, True)
    assert result.run.options["scheduler"] == "easy"
    (tmp_path / "scenario.yaml").write_text(f"platform: 2 x 4cpu\nworkload: {given}\nseed: 5\n")
    result = front_door.run(tmp_path / "scenario.yaml", out=tmp_path / "s", scheduler="easy")
    assert (result.run.status, result.run.seed, result.run.options["scheduler"]) == ("finished", 5, "easy")
    with pytest.raises(front_door.RunError, match="nowhere"):
        front_door.run(platform="nowhere.xml", workload=given, out=tmp_path / "o")


def test_what_users_do_is_in_the_events(
    platform: Callable[..., Path], workload: Callable[..., Path], tmp_path: Path
) -> None:
    jobs = [{"id": str(number), "subtime": 10 * number, "res": 1, "profile": "p"} for number in range(4)]
    given = workload(jobs, {"p": {"type": "delay", "delay": 5}})
    out = tmp_path / "out"
    with started(out, "-p", platform(2), "-w", given, "--paused") as run:
        wait_until("a kubeconfig", (out / "kubeconfig").exists)
        server = yaml.safe_load((out / "kubeconfig").read_text())["clusters"][0]["cluster"]["server"]
        headers = {"User-Agent": "kubectl/v1.36.3"}
        with httpx.Client(base_url=server, headers=headers, timeout=60, trust_env=False) as client:
            client.post("/batkube/v1/clock/step").raise_for_status()
            wait_until("nodes", lambda: bool(client.get("/api/v1/nodes").json()["items"]))
            cordon = client.patch(
                "/api/v1/nodes/node-0", json={"spec": {"unschedulable": True}},
                headers={"Content-Type": "application/merge-patch+json"},
            )  # fmt: skip
            assert cordon.status_code == 200
            assert client.delete("/api/v1/namespaces/default/pods/no-such-pod").status_code == 404
            client.post("/batkube/v1/clock/resume").raise_for_status()
        _, errors = run.communicate(timeout=120)
    assert run.returncode == 0, errors
    events = [json.loads(line) for line in (out / "events.jsonl").read_text().splitlines()]
    deeds = [event for event in events if event["event"] in ("user_request", "clock_control")]
    assert deeds == [
        {"time": 0.0, "event": "clock_control", "action": "step"},
        {
            "time": 0.0, "event": "user_request", "verb": "patch", "resource": "nodes", "name": "node-0",
            "client": "kubectl", "unschedulable": True,
            "taints": [],
        },
        {"time": 0.0, "event": "clock_control", "action": "resume"},
    ]  # fmt: skip
    record = json.loads((out / "run.json").read_text())
    assert record["repeatable"] is False
    assert any("clock" in reason for reason in record["not_repeatable"])
    assert any("requests that write" in reason for reason in record["not_repeatable"])


def test_a_pod_that_gives_way_to_another(
    batkube: Batkube, platform: Callable[..., Path], workload: Callable[..., Path], built_tool: Callable[[str], Path]
) -> None:
    jobs = [
        {"id": "low", "subtime": 0, "res": 1, "profile": "p", "priority": 0},
        {"id": "high", "subtime": 10, "res": 1, "profile": "p", "priority": 100},
    ]
    given = workload(jobs, {"p": {"type": "delay", "delay": 60}})
    scheduler = built_tool("kube-scheduler-1.36.3")
    done = batkube(
        "-p", platform(1, cores=2), "-w", given, "--scheduler", "kube-scheduler", "--scheduler-binary", scheduler
    )
    result = front_door.load(done.out)
    low, high = result.pod_rows
    assert (low.preempted, low.lost_work, low.reason) == (True, 20.0, "Killed")
    assert (high.preempted, high.attempts, high.failed_attempts) == (False, 2, 1)
    told = [(attempt.pod, attempt.outcome) for attempt in result.attempt_rows]
    assert told == [("w0-low", "bound"), ("w0-high", "preempting"), ("w0-high", "failed"), ("w0-high", "bound")]
    assert (result.figures.preempted, result.figures.lost_work, result.figures.attempts) == (1, 20.0, 3)
    use = result.run.scheduler_use
    assert use is not None
    assert (use.attempts, use.requests["create"]["pods"]) == (3, 2)
    assert use.peak_memory is not None
    assert use.peak_memory > 10 << 20
    assert result.run.scheduler.binary is not None
    assert result.run.scheduler.binary.version == "Kubernetes v1.36.3"
    assert result.run.repeatable
