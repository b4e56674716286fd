"""Machines that fail and are drained, in whole runs, with a policy and with the real kube-scheduler."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import BuiltTool
from tests.run.conftest import Batkube, Outcome
from tests.run.test_manifests import pod, written

CLUSTER = ["-p", "3 x 4cpu,8Gi zone=a", "-p", "3 x 4cpu,8Gi zone=b", "--enable-compute-sharing"]
EVENTS = """
events:
- {at: 100, zone: b, down: 5m}
- {at: 0:05, node: node-1, drain: 10m}
- {at: 20m, label: topology.kubernetes.io/zone=a, down: 10s, every: 1m, times: 3}
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "jobs.csv"
    rows = [f"{number * 30},200,2,1Gi" for number in range(60)]
    path.write_text("\n".join(["submit,duration,cpu,memory", *rows, ""]))
    return path


@pytest.fixture
def events(tmp_path: Path) -> Path:
    path = tmp_path / "machines.yaml"
    path.write_text(EVENTS)
    return path


def nodes_told(done: Outcome, what: str) -> list[tuple[float, str]]:
    return [(event["time"], event["node"]) for event in done.events if event["event"] == what]


@pytest.mark.parametrize("exact", [[], ["--exact"]])
def test_events_by_date_happen_when_they_should(batkube: Batkube, table: Path, events: Path, exact: list[str]) -> None:
    done = batkube(*CLUSTER, "-w", table, "--events", events, *exact)
    assert done.exit_code == 0, done.stderr
    went = nodes_told(done, "node_not_ready")
    zone_b = [(100, f"node-{number}") for number in (4, 5, 6)]
    flaps = [(date, f"node-{number}") for date in (1200, 1260, 1320) for number in (1, 2, 3)]
    assert [(round(date), node) for date, node in went] == zone_b + flaps
    assert [(round(date), node) for date, node in nodes_told(done, "node_drained")] == [(300, "node-1")]
    assert [(round(date), node) for date, node in nodes_told(done, "node_drain_over")] == [(900, "node-1")]
    on_drained = [row for row in done.rows("pods.csv") if row["node"] == "node-1" and row["bound_time"]]
    assert not [row for row in on_drained if 300.1 < float(row["bound_time"]) < 899.9]
    assert done.run["batsim_inputs"][0]["path"] == str(events)


@pytest.mark.parametrize("at", [0, 60])
def test_what_comes_at_the_date_of_a_drain_goes_elsewhere(batkube: Batkube, tmp_path: Path, at: int) -> None:
    late = pod("late", annotations={"batkube.io/created-at": str(at)})
    (tmp_path / "jobs.csv").write_text(f"submit,duration,cpu\n{at},30,1\n")
    (tmp_path / "drain.yaml").write_text(f"events:\n- {{at: {at}, node: node-1, drain: 10m}}\n")
    objects = ["-w" if at else "--objects", written(tmp_path, late)]
    given = [*objects, "-w", tmp_path / "jobs.csv", "--events", tmp_path / "drain.yaml"]
    done = batkube("-p", "2 x 2cpu", "--enable-compute-sharing", *given)
    assert done.exit_code == 0, done.stderr
    assert [row["node"] for row in done.rows("pods.csv")] == ["node-2", "node-2"]


def test_failures_by_chance_are_the_same_each_time_and_end_with_the_jobs(
    two_at_once: Callable[..., list[Outcome]], table: Path
) -> None:
    failures = ["--failures", "mtbf=20m,mttr=1m", "--failures", "mtbf=30m,mttr=2m,per=zone"]
    one, other = two_at_once(*CLUSTER, "-w", table, *failures)
    assert one.exit_code == 0, one.stderr
    assert nodes_told(one, "node_not_ready")
    assert one.run["events_sha256"] == other.run["events_sha256"]
    last = max(float(row["finish_time"]) for row in one.rows("jobs.csv"))
    assert one.events[-1]["time"] == last


def test_kube_scheduler_lives_through_failures_and_drains_the_same_way_each_time(
    two_at_once: Callable[..., list[Outcome]], built_tool: BuiltTool, table: Path, events: Path
) -> None:
    scheduler = ["--scheduler", "kube-scheduler", "--scheduler-binary", built_tool("kube-scheduler-1.36.3")]
    failures = ["--failures", "mtbf=20m,mttr=1m,zone=a"]
    one, other = two_at_once(*CLUSTER, "-w", table, "--events", events, *failures, *scheduler)
    assert one.exit_code == 0, one.stderr
    assert one.run["events_sha256"] == other.run["events_sha256"]
    assert nodes_told(one, "node_drain_over") == [(900, "node-1")]
    assert len(one.rows("jobs.csv")) == 60


@pytest.mark.parametrize("exact", [[], ["--exact"]])
def test_jobs_that_lose_their_node_are_submitted_anew(
    batkube: Batkube, table: Path, events: Path, exact: list[str]
) -> None:
    done = batkube(*CLUSTER, "-w", table, "--events", events, "--requeue", "checkpoint:1m", *exact)
    assert done.exit_code == 0, done.stderr
    account = done.run["requeued"]
    assert account["jobs"] > 3
    assert account["work_done"] + account["work_lost"] == pytest.approx(account["work_run"])
    assert account["work_done"] == pytest.approx(60 * 200 * 2, rel=1e-4)
    assert account["work_lost"] == pytest.approx(done.run["figures"]["lost_work"], rel=1e-4)
    rows = done.rows("jobs.csv")
    assert sum(row["success"] == "1" for row in rows) == 60
    assert {row["job_id"] for row in rows if row["success"] == "0"} == {
        event["job"].partition("!")[2] for event in done.events if event["event"] == "job_requeued"
    }


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--failures", "mtbf=1h"], "--failures: mttr is missing"),
        (["--requeue", "often"], "--requeue: expected never, restart or checkpoint:SECONDS, not 'often'"),
        (["--failures", "mtbf=1h,mttr=1m,zone=c"], "--failures: there is no node in zone 'c'"),
        (
            ["--failures", "mtbf=1h,mttr=1m", "--simulator", "tcp://127.0.0.1:1"],
            "--failures: say for how long (for=30d): a real Batsim goes on to the last of them",
        ),
    ],
)
def test_what_cannot_be_is_refused(batkube: Batkube, table: Path, options: list[str], error: str) -> None:
    done = batkube(*CLUSTER, "-w", table, *options)
    assert done.exit_code == 2
    assert error in done.stderr
    assert "Traceback" not in done.stderr


def test_an_event_of_a_node_that_there_is_not_is_told_by_line(batkube: Batkube, table: Path, tmp_path: Path) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text("events:\n- {at: 1, node: node-1, down: 5}\n- {at: 2, node: node-9, down: 5}\n")
    done = batkube(*CLUSTER, "-w", table, "--events", path)
    assert done.exit_code == 2
    assert f"{path}: line 3: events.1: there is no node 'node-9'" in " ".join(done.stderr.split())


def test_slow_machines_are_refused_where_hosts_keep_their_speed(batkube: Batkube, table: Path, tmp_path: Path) -> None:
    path = tmp_path / "slow.yaml"
    path.write_text("events:\n- {at: 1, node: node-1, slow: 5, speed: 50%}\n")
    for option, why in (
        ("--exact", "not with --exact: Batsim's hosts keep their speed"),
        ("--simulator=tcp://127.0.0.1:1", "a real Batsim cannot change the speed of its hosts while it runs"),
    ):
        done = batkube(*CLUSTER, "-w", table, "--events", path, option)
        assert done.exit_code == 2
        assert f"--events: slow: {why}" in " ".join(done.stderr.split())


def test_pods_of_clients_run_longer_on_slow_machines_and_delays_do_not(
    batkube: Batkube, table: Path, tmp_path: Path
) -> None:
    (tmp_path / "slow.yaml").write_text("events:\n- {at: 5, zone: a, slow: forever, speed: 50%}\n")
    one = written(tmp_path, pod("one", annotations={"batkube.io/duration": "10"}))
    done = batkube(
        "-p", "1 x 8cpu,32Gi zone=a", "--enable-compute-sharing", "--events", tmp_path / "slow.yaml",
        "-w", table, "-w", one,
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    ends = {row["job_id"]: row["execution_time"] for row in done.rows("jobs.csv") if row["workload_name"] == "pods"}
    assert ends == {"one": "15.000000"}
    (warning,) = [text for text in done.run["warnings"] if "slow" in text]
    assert warning.endswith("are delays, which take as long on slow nodes (docs/machines.md)")


def test_files_of_batsim_and_yaml_go_together(batkube: Batkube, table: Path, events: Path, tmp_path: Path) -> None:
    theirs = tmp_path / "outages.txt"
    lines = [("machine_unavailable", 90), ("machine_available", 150)]
    theirs.write_text(
        "".join(json.dumps({"type": kind, "resources": "3 0", "timestamp": date}) + "\n" for kind, date in lines)
    )
    done = batkube(*CLUSTER, "-w", table, "--events", theirs, "--events", events)
    assert done.exit_code == 0, done.stderr
    went, back = nodes_told(done, "node_not_ready"), nodes_told(done, "node_ready")
    assert went[:4] == [(90, "node-1"), (90, "node-4"), (100, "node-5"), (100, "node-6")]
    assert back[:4] == [(150, "node-1"), (400, "node-4"), (400, "node-5"), (400, "node-6")]


AUTOSCALER = """
import json, sys, time, urllib.request

def call(method, path, body=None):
    data = json.dumps(body).encode() if body else None
    request = urllib.request.Request(sys.argv[1] + path, data, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request) as answer:
        print(method, path, answer.status, flush=True)

offered = {"cpu": "8", "memory": "16Gi"}
node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "extra"}, "status": {"allocatable": offered}}
call("POST", "/api/v1/nodes", node)
time.sleep(150)
call("DELETE", "/api/v1/nodes/extra")
"""


def test_a_node_that_a_program_creates_takes_pods_of_kube_scheduler_until_it_is_deleted(
    batkube: Batkube, built_tool: BuiltTool, tmp_path: Path
) -> None:
    program, jobs, scenario = (tmp_path / name for name in ("autoscaler.py", "few.csv", "scenario.yaml"))
    program.write_text(AUTOSCALER)
    jobs.write_text("submit,duration,cpu,memory\n" + "0,120,4,1Gi\n" * 4 + "150,300,8,1Gi\n160,100,8,1Gi\n")
    command = f"{sys.executable} {program} {{server}}"
    scenario.write_text(json.dumps({"programs": [{"name": "autoscaler", "command": command, "start": "100s"}]}))
    scheduler = ["--scheduler", "kube-scheduler", "--scheduler-binary", built_tool("kube-scheduler-1.36.3")]
    cluster = ["-p", "8cpu,16Gi", "-w", jobs, "--enable-compute-sharing"]
    done = batkube(scenario, *cluster, *scheduler, "--requeue", "checkpoint:1m")
    assert done.exit_code == 0, done.stderr
    # timers of programs lie on whole milliseconds
    for what, date in (("node_joined", 100), ("node_deleted", 250)):
        assert [(round(told, 2), node) for told, node in nodes_told(done, what)] == [(date, "extra")]
    on_extra = [row for row in done.rows("pods.csv") if row["node"] == "extra"]
    assert on_extra
    assert all(100 <= float(row["starting_time"]) < 250.01 > float(row["finish_time"]) for row in on_extra)
    account = done.run["requeued"]
    assert account["jobs"] == 1
    assert account["work_done"] == pytest.approx(4 * 120 * 4 + (300 + 100) * 8)
    assert sum(row["success"] == "1" for row in done.rows("jobs.csv")) == 6
    rows = {row["node"]: float(row["up_seconds"]) for row in done.rows("nodes.csv")}
    assert rows["extra"] == pytest.approx(150, abs=0.02)
