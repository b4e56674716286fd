"""However a run ends, it ends soon, says why, and writes what it recorded."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests import warm
from tests.run.conftest import FIFO_PROGRAM, Batkube, environment
from tests.waiting import wait_until

ONE_HOUR = {"hour": {"type": "delay", "delay": 3600}}
SOON = 120.0
"""Seconds within which a run that cannot go on ends, however busy the machine is; on an idle one it takes a second."""
PATIENCE = "600"
"""The patience of runs that must not end because of it: longer than SOON, and than any test waits."""


def jobs(count: int, **more: Any) -> list[dict[str, Any]]:
    return [{"id": str(i), "subtime": 60 * i, "res": 1, "profile": "hour", **more} for i in range(count)]


@contextmanager
def started(out: Path, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """``batkube run`` going on; it is ended if the test has not."""
    words = [sys.executable, "-m", "batkube", "run", "-o", str(out), *map(str, arguments)]
    process = warm.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def children_of(pid: int) -> list[int]:
    """Those that do its work; not the one that tells when their CPU is idle, which ends with it."""
    own = _command_line(pid)
    children = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    # One that has its parent's command line has not become the program yet that it is to be, and may be either.
    return [child for child in children if (line := _command_line(child)) not in ("", own) and "SCHED_IDLE" not in line]


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def is_gone(pid: int) -> bool:
    """Tell whether a process has ended, though whoever adopted it may not have taken note of that."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_a_scheduler_killed_in_mid_run(
    tmp_path: Path, platform: Callable[..., Path], workload: Callable[..., Path]
) -> None:
    out = tmp_path / "out"
    # The last job can be placed by nobody but a scheduler that waits for a node that never comes: the run goes on
    # until it is found to be stuck, long enough to kill the scheduler in the middle of it.
    given = [*jobs(5), {"id": "picky", "subtime": 400, "res": 1, "profile": "hour", "nodeSelector": {"no": "such"}}]
    arguments = ["-p", platform(4), "-w", workload(given, ONE_HOUR), "--patience", PATIENCE, *FIFO_PROGRAM]
    with started(out, *arguments) as run:
        wait_until(
            "a binding", lambda: (out / "scheduler.log").exists() and "bound" in (out / "scheduler.log").read_text()
        )
        (scheduler,) = wait_until("a child", lambda: children_of(run.pid))
        os.kill(scheduler, signal.SIGKILL)
        _, errors = run.communicate(timeout=SOON)
    assert run.returncode == 1
    assert "the scheduler command was killed by SIGKILL" in errors
    record = json.loads((out / "run.json").read_text())
    assert record["status"] == "failed"
    assert record["exit_code"] == 1
    assert "killed by SIGKILL" in record["reason"]
    assert record["jobs"]["submitted"] == len((out / "pods.csv").read_text().splitlines()) - 1
    assert record["events"] == len((out / "events.jsonl").read_text().splitlines())


def test_a_scheduler_that_exits_at_once(
    batkube: Batkube, platform: Callable[..., Path], workload: Callable[..., Path]
) -> None:
    command = "bash -c 'echo cannot find my glasses >&2; exit 3'"
    words = ["--scheduler-cmd", command, "--patience", PATIENCE]
    done = batkube("-p", platform(2), "-w", workload(jobs(3), ONE_HOUR), *words)
    assert done.run["wall_seconds"] < SOON
    assert done.exit_code == 1
    assert "exited with code 3; its last words: cannot find my glasses" in done.stderr
    assert done.run["status"] == "failed"


@pytest.mark.parametrize(
    "command",
    [
        "sleep 1000",
        "bash -c 'while :; do kubectl get pods -A -o name; sleep 2; done'",
    ],
    ids=["never asks", "asks and never binds"],
)
def test_a_scheduler_that_never_binds(
    batkube: Batkube, platform: Callable[..., Path], workload: Callable[..., Path], command: str
) -> None:
    done = batkube("-p", platform(2), "-w", workload(jobs(1), ONE_HOUR), "--scheduler-cmd", command)
    assert done.run["wall_seconds"] < SOON
    assert done.exit_code == 1
    assert done.run["jobs"] | {"submitted": 0, "unfinished": 0} == dict.fromkeys(done.run["jobs"], 0)
    reason = done.run["reason"]
    assert "job w0!0" in reason or "has not asked for pods" in reason


def test_a_workload_that_cannot_fit_is_rejected_job_by_job(
    batkube: Batkube, platform: Callable[..., Path], workload: Callable[..., Path], scheduler: list[str]
) -> None:
    given = [*jobs(2), *jobs(1, id="wide", res=5), *jobs(1, id="fat", cpu=8), *jobs(1, id="big", memory="1Ti")]
    done = batkube("-p", platform(2), "-w", workload(given, ONE_HOUR), *scheduler)
    assert done.run["wall_seconds"] < SOON
    assert done.exit_code == 0, done.stderr
    assert set(done.run["rejected"]) == {"w0!wide", "w0!fat", "w0!big"}
    assert "room for 2" in done.run["rejected"]["w0!wide"]
    states = {row["job_id"]: row["final_state"] for row in done.rows("jobs.csv")}
    assert [states[name] for name in ("wide", "fat", "big")] == ["REJECTED"] * 3
    assert "rejected w0!wide" in done.stdout


def test_pods_that_no_node_suits_are_explained_in_the_schedulers_own_words(
    batkube: Batkube, platform: Callable[..., Path], workload: Callable[..., Path], scheduler: list[str]
) -> None:
    given = [*jobs(2), *jobs(1, id="picky", subtime=90, nodeSelector={"disk": "ssd"})]
    done = batkube("-p", platform(4), "-w", workload(given, ONE_HOUR), *scheduler)
    assert done.run["wall_seconds"] < SOON
    assert done.exit_code == 1
    assert "nothing can happen any more, and 1 jobs wait" in done.run["reason"]
    assert "job w0!picky" in done.run["reason"]
    assert "nodes are available" in done.run["reason"]
    assert done.run["jobs"]["succeeded"] == 2


@pytest.fixture
def server(tmp_path: Path) -> Path:
    """Return a file with a pod that ends after 30 s, each time, and is started again for ever."""
    main = {"name": "main", "image": "app", "command": ["sleep", "30"], "resources": {"requests": {"cpu": "1"}}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "server"}, "spec": {"containers": [main]}}
    path = tmp_path / "server.json"
    path.write_text(json.dumps(pod))
    return path


def test_a_server_that_is_started_again_for_ever_keeps_no_run_going(
    batkube: Batkube, server: Path, workload: Callable[..., Path], scheduler: list[str]
) -> None:
    """Its pod keeps what it holds, so no restart of it can help the job that waits."""
    given = ["-w", workload(jobs(1, res=2), ONE_HOUR), "--objects", server]
    done = batkube("-p", "2 x 1cpu", *given, "--enable-compute-sharing", *scheduler)
    assert done.run["wall_seconds"] < SOON
    assert done.exit_code == 1
    assert "nothing can happen any more, and 1 jobs wait" in done.run["reason"]
    assert done.run["simulated_seconds"] < 1000


HOURLY = """
import json, sys, time, urllib.request

def send(path, body=None):
    data = body and json.dumps(body).encode()
    asked = urllib.request.Request(sys.argv[1] + path, data, {"Content-Type": "application/json"})
    return json.load(urllib.request.urlopen(asked))

placed = False
while True:
    for pod in send("/api/v1/pods")["items"]:
        name = pod["metadata"]["name"]
        if pod["spec"].get("nodeName") or (name != "server" and time.time() < 1577836800 + 3 * 3600):
            continue
        body = {"metadata": {"name": name}, "target": {"name": "node-1" if name == "server" else "node-2"}}
        send(f"/api/v1/namespaces/default/pods/{name}/binding", body)
        placed = True
    time.sleep(3600 if placed else 1)
"""


def test_a_scheduler_that_looks_once_an_hour_is_waited_for_beside_such_a_server(
    batkube: Batkube, server: Path, tmp_path: Path, workload: Callable[..., Path]
) -> None:
    (tmp_path / "hourly.py").write_text(HOURLY)
    given = ["-w", workload(jobs(1), ONE_HOUR), "--objects", server, "--enable-compute-sharing"]
    command = f"{sys.executable} {tmp_path}/hourly.py {{server}}"
    done = batkube("-p", "2 x 1cpu", *given, "--scheduler-cmd", command)
    if done.run["scheduler"]["clock"] == "real":
        pytest.skip("this machine cannot give the scheduler the simulated clock")
    assert done.exit_code == 0, done.stderr
    (row,) = [row for row in done.rows("jobs.csv") if row["workload_name"] == "w0"]
    assert float(row["starting_time"]) > 3 * 3600 - 120


def test_on_deadlock_reject(batkube: Batkube, platform: Callable[..., Path], workload: Callable[..., Path]) -> None:
    # The picky job comes first, and first in, first out lets nobody pass: the others run once it is rejected.
    given = [*jobs(1, id="a picky one", nodeSelector={"disk": "ssd"}), *jobs(2, subtime=30)]
    given[1]["id"] = "other"
    done = batkube("-p", platform(4), "-w", workload(given, ONE_HOUR), "--on-deadlock", "reject", "--patience", "1")
    assert done.exit_code == 0, done.stderr
    assert done.run["jobs"] | {"submitted": 3, "succeeded": 2, "rejected": 1} == done.run["jobs"]
    assert "nodes are available" in done.run["rejected"]["w0!a picky one"]


def test_a_scheduler_nobody_runs_is_named_and_not_waited_for(
    batkube: Batkube, platform: Callable[..., Path], workload: Callable[..., Path]
) -> None:
    given = [*jobs(2), *jobs(1, id="orphan", scheduler="volcano")]
    done = batkube("-p", platform(4), "-w", workload(given, ONE_HOUR), "--patience", PATIENCE)
    assert done.exit_code == 1
    assert done.run["unserved"] == {"volcano": ["w0!orphan"]}
    assert "no scheduler named volcano is running" in done.run["reason"]
    assert "no scheduler named volcano is running" in done.stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_keeps_what_it_has(
    tmp_path: Path, platform: Callable[..., Path], workload: Callable[..., Path], number: signal.Signals
) -> None:
    out = tmp_path / "out"
    given = jobs(1, nodeSelector={"no": "such"})
    arguments = ["-p", platform(2), "-w", workload(given, ONE_HOUR), "--patience", PATIENCE, *FIFO_PROGRAM]
    with started(out, *arguments) as run:
        wait_until("the start", lambda: (out / "run.json").exists())
        (scheduler,) = wait_until("a child", lambda: children_of(run.pid))
        all_children = Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()
        run.send_signal(number)
        _, errors = run.communicate(timeout=SOON)
    assert run.returncode == 128 + number
    assert "Traceback" not in errors
    assert json.loads((out / "run.json").read_text())["status"] == "interrupted"
    assert str(scheduler) in all_children
    assert all(is_gone(int(child)) for child in all_children)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["-p", "nowhere.xml", "-w", "w.json"], "nowhere.xml"),
        (["-p", "p.xml", "-w", "nowhere.json"], "nowhere.json"),
        (["-p", "p.xml", "-w", "w.json", "--scheduler", "volcano"], "--scheduler volcano: expected fifo"),
        (["-p", "p.xml", "-w", "w.json", "--scheduler-cmd", "no-such-program"], "no program no-such-program"),
        (["-p", "p.xml", "-w", "w.json", "--scheduler-cmd", "a 'b"], "--scheduler-cmd: No closing quotation"),
        (["-p", "p.xml", "-w", "bad.json"], "bad.json: job 7: cpu is 'lots'"),
        (["-p", "p.xml", "-w", "w.json", "--simulator", "nonsense"], "--simulator nonsense"),
    ],
)
def test_bad_input_is_named_in_a_line_or_two(tmp_path: Path, arguments: list[str], complaint: str) -> None:
    (tmp_path / "p.xml").write_text(
        '<platform version="4.1"><zone id="z" routing="Full"><host id="h" speed="1f"/>'
        '<host id="master_host" speed="1f"/></zone></platform>'
    )
    (tmp_path / "w.json").write_text(
        json.dumps({"nb_res": 1, "jobs": [], "profiles": {"p": {"type": "delay", "delay": 1}}})
    )
    bad = {"nb_res": 1, "jobs": [{"id": 7, "subtime": 0, "res": 1, "profile": "p", "cpu": "lots"}]}
    (tmp_path / "bad.json").write_text(json.dumps({**bad, "profiles": {"p": {"type": "delay", "delay": 1}}}))
    words = [sys.executable, "-m", "batkube", "run", *arguments]
    done = warm.run(words, cwd=tmp_path, env=environment(), timeout=120)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 2
