"""Runs at a pace, paused and single-stepped while they go, as a user does it."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import PIPE
from typing import Any

import httpx
import pytest
import yaml

from tests import warm
from tests.run.conftest import FIFO_PROGRAM, Batkube, environment
from tests.run.test_ends import SOON, children_of, is_gone, started
from tests.run.test_serve import Serve, serve, stranger
from tests.waiting import wait_until

__all__ = ["serve"]

ROOT = Path(__file__).parents[2]
PLATFORM = ROOT / "platforms" / "small-cluster.xml"
WORKLOAD = ROOT / "workloads" / "burst-then-trickle.json"
Arguments = list[Any]

SLEEPING = """
import sys, time
from kubernetes import client, config

config.load_kube_config(sys.argv[1])
api = client.CoreV1Api()
while True:
    waiting = [pod for pod in api.list_namespaced_pod("default").items if not pod.spec.node_name]
    if waiting:
        time.sleep(1.5)
    for pod in waiting:
        node = {"w0-a": "node-0", "w0-b": "node-1"}[pod.metadata.name]
        binding = {"metadata": {"name": pod.metadata.name}, "target": {"kind": "Node", "name": node}}
        api.create_namespaced_pod_binding(pod.metadata.name, "default", binding, _preload_content=False)
    time.sleep(0.02)
"""
"""A scheduler that sleeps for 1.5 s before it binds, each pod to a node of its own."""

STALLS = """
import select, sys, time
longest = 0.0
while not select.select([sys.stdin], [], [], 0)[0]:
    before = time.monotonic()
    time.sleep(0.005)
    longest = max(longest, time.monotonic() - before - 0.005)
print(longest)
"""
"""Tells, when its input ends, for how long a program had to wait at most until it had a processor."""

TRACE = [
    (1.8, 12.0), (2.6, 10.1), (6.0, 12.4), (11.0, 7.3), (16.9, 7.8), (19.1, 9.7), (21.4, 9.8), (22.1, 9.4), (23.7, 7.3),
    (26.2, 10.2), (27.0, 10.8), (29.9, 7.1), (32.4, 10.6),
]  # fmt: skip
"""Submission and duration of jobs that wait for one another on three hosts, first in, first out. No two things happen
within 0.7 s, and none waits for one that has waited for one that has waited: what is late adds up."""


def clock(*arguments: object, **env: str) -> subprocess.CompletedProcess[str]:
    """``batkube clock``, to its end."""
    words = [sys.executable, "-m", "batkube", "clock", *map(str, arguments)]
    return warm.run(words, timeout=120, env={**environment(), **env})


@pytest.fixture
def three(platform: Callable[..., Path], workload: Callable[..., Path]) -> Arguments:
    """Three jobs on one host, each of which waits for the one before."""
    jobs = [{"id": str(index), "subtime": index, "res": 1, "profile": "p"} for index in range(3)]
    return ["-p", platform(1), "-w", workload(jobs, {"p": {"type": "delay", "delay": 10}})]


def test_on_the_simulated_clock_it_is_the_same_run_only_slower(
    batkube: Batkube, three: Arguments, scheduler: list[str]
) -> None:
    fast = batkube(*three, *scheduler)
    slow = batkube(*three, *scheduler, "--pace", 12)
    assert slow.exit_code == 0, slow.stderr
    if slow.run["scheduler"]["clock"] == "real":
        pytest.skip("this machine cannot give programs the simulated clock")
    assert fast.run["pace"] == {"factor": None, "behind": 0.0}
    assert slow.run["pace"]["factor"] == 12
    assert slow.run["events_sha256"] == fast.run["events_sha256"]
    assert slow.run["repeatable"] is fast.run["repeatable"] is True
    assert slow.run["wall_seconds"] >= 30 / 12


def test_at_a_pace_what_a_user_does_takes_effect_at_once(
    platform: Callable[..., Path], workload: Callable[..., Path], scheduler: list[str], tmp_path: Path
) -> None:
    """One job would run for a simulated hour, and twelve minutes of real time, on the only host; another waits."""
    jobs = [
        {"id": "long", "subtime": 0, "res": 1, "profile": "p"},
        {"id": "next", "subtime": 1, "res": 1, "profile": "q"},
    ]
    profiles = {"p": {"type": "delay", "delay": 3600}, "q": {"type": "delay", "delay": 1}}
    out = tmp_path / "out"
    pods = "/api/v1/namespaces/default/pods"
    with started(out, "-p", platform(1), "-w", workload(jobs, profiles), *scheduler, "--pace", 5) as run:
        wait_until("a kubeconfig", (out / "kubeconfig").exists)
        server = yaml.safe_load((out / "kubeconfig").read_text())["clusters"][0]["cluster"]["server"]
        with httpx.Client(base_url=server, timeout=60, trust_env=False) as client:
            wait_until("the pod that waits", lambda: client.get(f"{pods}/w0-next").status_code == 200)
            assert clock("pause", "--server", server).returncode == 0
            assert client.delete(f"{pods}/w0-long").status_code == 200
            assert client.get(f"{pods}/w0-long").json()["metadata"]["deletionTimestamp"]
            assert clock("resume", "--server", server).returncode == 0
        _, errors = run.communicate(timeout=120)
    assert run.returncode == 0, errors
    record = json.loads((out / "run.json").read_text())
    if record["scheduler"]["clock"] == "real":
        pytest.skip("this machine cannot give programs the simulated clock")
    assert record["jobs"]["killed"] == 1
    assert record["jobs"]["succeeded"] == 1
    assert record["makespan"] < 3600
    assert record["repeatable"] is False


@pytest.mark.parametrize("how", [["--clock", "paced", "--pace", "2"], ["--clock", "real", "--pace", "2"]], ids=" ".join)
def test_a_scheduler_on_the_real_clock_that_takes_time_takes_time(
    batkube: Batkube, platform: Callable[..., Path], workload: Callable[..., Path], tmp_path: Path, how: list[str]
) -> None:
    program = tmp_path / "sleeping.py"
    program.write_text(SLEEPING)
    jobs = [{"id": "a", "subtime": 0, "res": 1, "profile": "p"}, {"id": "b", "subtime": 8, "res": 1, "profile": "p"}]
    given = workload(jobs, {"p": {"type": "delay", "delay": 2}})
    command = f"{sys.executable} {program} {{kubeconfig}}"
    done = batkube("-p", platform(2), "-w", given, *how, "--scheduler-cmd", command)
    assert done.exit_code == 0, done.stderr
    for row in done.rows("jobs.csv"):
        assert float(row["waiting_time"]) >= 3 - 2 * done.run["pace"]["behind"] - 0.01  # 1.5 s at pace 2
        assert float(row["execution_time"]) == 2
    assert done.run["decision_time"]["model"] == "pace"
    assert done.run["repeatable"] is False
    assert "dated when it did it" in done.stdout


def test_paused_and_stepped_it_is_the_same_run(
    batkube: Batkube, three: Arguments, scheduler: list[str], tmp_path: Path
) -> None:
    plain = batkube(*three, *scheduler)
    out = tmp_path / "stepped"
    kubeconfig = out / "kubeconfig"
    with started(out, *three, *scheduler, "--paused", "--tls") as run:
        wait_until("a kubeconfig", kubeconfig.exists)
        dates = []
        for _ in range(3):
            stepped = clock("step", KUBECONFIG=str(kubeconfig))
            assert stepped.returncode == 0, stepped.stderr
            assert stepped.stdout.startswith("paused at ")
            dates.append(stepped.stdout.split()[2])
        assert dates == ["0", "0", "1"]
        events = (out / "events.jsonl").stat().st_size
        shown = clock("show", "--kubeconfig", kubeconfig)
        assert shown.stdout == "paused at 1 s, next is 2 s; as fast as it goes\n"
        assert (out / "events.jsonl").stat().st_size == events
        server = yaml.safe_load(kubeconfig.read_text())["clusters"][0]["cluster"]["server"]
        refused = clock("resume", "--server", server)
        assert refused.returncode == 1
        assert "batkube:" in refused.stderr
        assert len(refused.stderr.splitlines()) == 1
        assert clock("pace", 1000, "--kubeconfig", kubeconfig).stdout.endswith("pace 1000\n")
        assert clock("resume", "--kubeconfig", kubeconfig).stdout.startswith("running")
        _, errors = run.communicate(timeout=120)
    assert run.returncode == 0, errors
    assert "paused" in errors
    record = json.loads((out / "run.json").read_text())
    assert record["jobs_sha256"] == plain.run["jobs_sha256"]
    told = [json.loads(line) for line in (out / "events.jsonl").read_text().splitlines()]
    controlled = [event for event in told if event["event"] == "clock_control"]
    assert [event for event in told if event not in controlled] == plain.events
    assert [event["action"] for event in controlled] == ["step", "step", "step", "pace", "resume"]
    assert record["not_repeatable"] == ["a user controlled the clock 5 times (events.jsonl has how)"]


def test_while_paused_the_api_is_served_and_an_interrupt_ends_the_run(three: Arguments, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with started(out, *three, *FIFO_PROGRAM, "--paused") as run:
        wait_until("a kubeconfig", (out / "kubeconfig").exists)
        server = yaml.safe_load((out / "kubeconfig").read_text())["clusters"][0]["cluster"]["server"]
        assert clock("step", "--server", server).returncode == 0
        with httpx.Client(base_url=server, timeout=60, trust_env=False) as client:
            assert len(client.get("/api/v1/nodes").json()["items"]) == 1
            state = client.get("/batkube/v1/clock").json()
            assert state == {
                "state": "paused", "paused": True, "pace": None, "told": 0, "next": 0, "stepping": False, "behind": 0,
            }  # fmt: skip
        (scheduler,) = children_of(run.pid)
        run.send_signal(signal.SIGINT)
        _, errors = run.communicate(timeout=SOON)
    assert run.returncode == 130
    assert "Traceback" not in errors
    assert is_gone(scheduler)


def test_serve_is_paced_paused_and_stepped_too(serve: Callable[..., Serve], tmp_path: Path) -> None:
    server = serve("--pace", "4000")
    clock_url = f"{server.url}/batkube/v1/clock"
    assert server.http.get(clock_url).json()["state"] == "waiting"
    assert server.http.post(f"{clock_url}/step").status_code == 409
    server.http.post(f"{clock_url}/pause")
    assert server.http.post(f"{clock_url}/step").json()["detail"] == "there is no simulation to step through"
    command = [sys.executable, "-m", "batkube.schedulers.fifo", "--kubeconfig", str(server.out / "kubeconfig")]
    words = ["-p", str(PLATFORM), "-w", str(WORKLOAD), "-s", server.endpoint, "-e", str(tmp_path / "b")]
    with stranger(command), stranger([sys.executable, "-m", "batkube.simulator", *words]):
        wait_until("the first message", lambda: server.http.get(clock_url).json()["next"] == 0)
        assert clock("step", "--server", server.url).returncode == 0
        assert server.http.get(f"{server.url}/batkube/v1/state").json()["nodes"] == 16
        assert clock("resume", "--server", server.url).returncode == 0
        server.finished(1)
    assert server.http.get(clock_url).json()["state"] == "over"
    run = json.loads((server.out / "simulation-1" / "run.json").read_text())
    assert (run["decision_time"]["model"], run["pace"]["factor"]) == ("pace", 4000)
    assert run["jobs"]["succeeded"] == 100
    assert server.end(signal.SIGINT) == (0, "")


def test_the_routes_are_documented_and_refuse_nonsense(serve: Callable[..., Serve]) -> None:
    server = serve()
    paths = server.http.get(f"{server.url}/batkube/v1/openapi.json").json()["paths"]
    routes = {(method, path.removeprefix("/batkube/v1/clock")) for path in paths for method in paths[path]}
    assert {("get", ""), ("put", "/pace"), ("post", "/pause"), ("post", "/resume"), ("post", "/step")} <= routes
    bodies: list[Any] = [{"factor": 0}, {"factor": -1}, {"factor": "fast"}, {}, {"factor": 1, "speed": 2}, [], None]
    for body in bodies:
        answer = server.http.put(f"{server.url}/batkube/v1/clock/pace", json=body)
        assert answer.status_code == 422, body
        assert answer.json()["detail"]
    answer = server.http.post(f"{server.url}/batkube/v1/clock/step")
    assert (answer.status_code, answer.json()["detail"]) == (409, "the clock is not paused: pause it first")
    assert clock("step", "--server", server.url).stderr == (
        f"batkube: {server.url}: the clock is not paused: pause it first\n"
    )


def test_a_server_that_cannot_be_found_is_told_in_a_line(tmp_path: Path, free_port: Callable[[], int]) -> None:
    nonsense = tmp_path / "nonsense"
    nonsense.write_text("just: text\n")
    nobody = f"http://127.0.0.1:{free_port()}"
    for arguments, complaint in (
        (["--server", nobody], f"no batkube answers at {nobody}"),
        (["--server", "nowhere"], "no batkube answers at nowhere"),
        (["--kubeconfig", nonsense], "is no kubeconfig"),
        (["--kubeconfig", tmp_path / "none"], "No such file"),
    ):
        done = clock("show", *arguments)
        assert done.returncode == 1
        assert complaint in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
    assert clock("pace", "0", "--server", nobody).returncode == 2
    assert clock("pace", "fast", "--server", nobody).returncode == 2


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--pace", "0"], "pace"),
        (["--pace", "nan"], "pace"),
        (["--clock", "paced", "--decision-time", "2"], "dated when it does it"),
        (["--clock", "real", "--pace", "1", "--decision-time", "real"], "dated when it does it"),
        (["--scheduler", "none", "--pace", "1", "--decision-time", "2"], "dated when it does it"),
    ],
)
def test_what_does_not_go_together_is_refused(
    batkube: Batkube, three: Arguments, arguments: list[str], complaint: str
) -> None:
    done = batkube(*three, *arguments)
    assert done.exit_code == 2
    assert complaint in " ".join(done.stderr.replace("│", " ").split())


@pytest.mark.real_time
def test_the_simulated_clock_gives_the_schedule_of_the_real_one(
    batkube: Batkube, platform: Callable[..., Path], workload: Callable[..., Path], built_tool: Callable[[str], Path]
) -> None:
    """The same kube-scheduler, server and workload, a minute of real time and the same minute simulated."""
    profiles = {f"p{index}": {"type": "delay", "delay": delay} for index, (_, delay) in enumerate(TRACE)}
    jobs = [{"id": str(i), "subtime": date, "res": 1, "profile": f"p{i}"} for i, (date, _) in enumerate(TRACE)]
    given = ["-p", platform(3), "-w", workload(jobs, profiles)]
    given += ["--scheduler", "kube-scheduler", "--scheduler-binary", built_tool("kube-scheduler-1.36.3")]

    def schedule(*how: str) -> list[tuple[str, float]]:
        done = batkube(*given, *how)
        assert done.exit_code == 0, done.stderr
        starts = {row["job_id"]: float(row["starting_time"]) for row in done.rows("jobs.csv")}
        return sorted(starts.items(), key=lambda start: start[1])

    with subprocess.Popen([sys.executable, "-S", "-c", STALLS], stdin=PIPE, stdout=PIPE, text=True) as beside:
        real = schedule("--clock", "real", "--pace", "1")
        stall = float(beside.communicate("")[0])
    # A binding takes some ten turns of programs, each of which another one may hold up.
    slack = 0.1 + 10 * stall
    if slack > 0.3:
        pytest.skip("this machine is too busy to tell how long things take in real time")
    simulated = schedule("--clock", "once")
    assert [job for job, _ in real] == [job for job, _ in simulated]
    late = {job: date - dict(simulated)[job] for job, date in real}
    assert max(map(abs, late.values())) <= slack, late
    assert sum(date > TRACE[int(job)][0] for job, date in simulated) >= 5
