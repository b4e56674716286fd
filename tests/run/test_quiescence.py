"""Schedulers that batkube does not start, or may not look at: how, and how often, their quiescence is known."""

import json
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from contention import Contention

from tests import warm
from tests.run.conftest import FIFO_PROGRAM, Batkube, environment
from tests.run.test_serve import Serve, serve, stranger  # noqa: F401
from tests.waiting import wait_until

BuiltTool = Callable[[str], Path]


@pytest.fixture(params=["kube-scheduler-1.36.3", "kube-scheduler-1.34.3"])
def kube_scheduler(request: pytest.FixtureRequest, built_tool: BuiltTool) -> Path:
    return built_tool(request.param)


@pytest.fixture
def overload(workload: Callable[..., Path]) -> Path:
    """20 jobs at once, and 5 later, for the 16 hosts of the sample platform."""
    jobs = [
        {"id": str(index), "subtime": 0 if index < 20 else 40 * index, "res": 1, "profile": "p"} for index in range(25)
    ]
    return workload(jobs, {"p": {"type": "delay", "delay": 100}})


OVERLOAD_ENDS = 1060.0
"""Its makespan: the last job comes at 960."""


@contextmanager
def with_metrics(binary: Path, kubeconfig: Path, port: int, *more: str) -> Iterator[str]:
    """A kube-scheduler that somebody starts by hand; the address of its metrics, when they are there."""
    command = [str(binary), f"--kubeconfig={kubeconfig}", "--leader-elect=false", f"--secure-port={port}"]
    command += ["--bind-address=127.0.0.1", "--kube-api-qps=5000", "--kube-api-burst=5000", *more]
    url = f"https://127.0.0.1:{port}"
    with stranger(command):
        wait_until("the scheduler's answer", lambda: answers(url + "/healthz"))
        yield url


def answers(url: str) -> bool:
    try:
        return httpx.get(url, verify=False, timeout=60, trust_env=False).status_code == 200
    except httpx.TransportError:
        return False


def simulation(server: Serve, prefix: Path, jobs: Path, index: int = 1) -> dict[str, Any]:
    """Let a Batsim come; what run.json says then. Its own files must agree with ours."""
    assert server.simulate(prefix, workload=jobs) == 0
    server.finished(index)
    folder = server.out / f"simulation-{index}"
    assert (folder / "jobs.csv").read_bytes() == Path(f"{prefix}_jobs.csv").read_bytes()
    run: dict[str, Any] = json.loads((folder / "run.json").read_text())
    return run


def test_metrics_tell_of_a_scheduler_out_of_sight(
    serve: Callable[..., Serve],  # noqa: F811
    tmp_path: Path,
    overload: Path,
    kube_scheduler: Path,
    free_port: Callable[[], int],
) -> None:
    """The decisions are those of a scheduler that was seen; silence was taken for quiescence at the start only."""
    port = free_port()
    url = f"https://127.0.0.1:{port}"
    server = serve("--quiescence", "metrics", "--scheduler-metrics", url, "--scheduler-metrics-insecure")
    with with_metrics(
        kube_scheduler, server.out / "kubeconfig", port, "--authorization-always-allow-paths=/healthz,/metrics"
    ):
        for index in (1, 2):
            run = simulation(server, tmp_path / f"b{index}", overload, index)
            assert run["makespan"] == OVERLOAD_ENDS
            assert run["quiescence"]["metrics"] >= 15
            assert run["quiescence"]["observed"] == 0
            assert run["quiescence"]["quiet_period"] <= 2
            assert run["quiescence"]["not_established"] == 0
            assert "the scheduler lives on the real clock" in run["not_repeatable"]
            assert f"quiescence was told by metrics {run['quiescence']['metrics']} times" in run["not_repeatable"]
    assert server.end(signal.SIGTERM) == (0, "")


def test_metrics_are_read_with_a_token(
    serve: Callable[..., Serve],  # noqa: F811
    tmp_path: Path,
    overload: Path,
    built_tool: BuiltTool,
    free_port: Callable[[], int],
) -> None:
    """The scheduler asks our own server whose token that is, which is no work of its own."""
    port, token = free_port(), tmp_path / "token"
    url = f"https://127.0.0.1:{port}/metrics"
    server = serve(
        *("--quiescence", "metrics", "--scheduler-metrics", url, "--scheduler-metrics-insecure"),
        *("--scheduler-metrics-token", str(token), "--quiet-period", "5"),
    )
    with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as client:
        reader = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "reader"}}
        client.post("/api/v1/namespaces/default/serviceaccounts", json=reader).raise_for_status()
        account = client.post(
            "/api/v1/namespaces/default/serviceaccounts/reader/token",
            json={"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}},
        ).raise_for_status()
        token.write_text(account.json()["status"]["token"] + "\n")
    kubeconfig = server.out / "kubeconfig"
    delegated = [f"--authentication-kubeconfig={kubeconfig}", f"--authorization-kubeconfig={kubeconfig}"]
    with with_metrics(built_tool("kube-scheduler-1.36.3"), kubeconfig, port, *delegated):
        run = simulation(server, tmp_path / "b", overload)
    assert run["makespan"] == OVERLOAD_ENDS
    assert run["quiescence"]["metrics"] >= 15
    with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as client:
        assert 'resource="tokenreviews"' in client.get("/metrics").text


def test_metrics_that_may_not_be_read_say_what_to_do(
    serve: Callable[..., Serve],  # noqa: F811
    tmp_path: Path,
    built_tool: BuiltTool,
    free_port: Callable[[], int],
) -> None:
    port = free_port()
    url = f"https://127.0.0.1:{port}"
    server = serve("--quiescence", "metrics", "--scheduler-metrics", url, "--scheduler-metrics-insecure")
    with with_metrics(built_tool("kube-scheduler-1.36.3"), server.out / "kubeconfig", port):
        server.simulate(tmp_path / "b")
        path = server.out / "simulation-1" / "run.json"
        wait_until("the end of the simulation", lambda: json.loads(path.read_text())["status"] == "failed")
    run = json.loads(path.read_text())
    assert run["quiescence"]["not_established"] == 1
    assert f"{url}/metrics: answers 403 Forbidden" in run["reason"]
    assert "--authorization-always-allow-paths" in run["reason"]


def test_metrics_keep_pace_with_contention(
    batkube: Batkube,
    built_tool: BuiltTool,
    free_port: Callable[[], int],
    tmp_path: Path,
) -> None:
    """Pods that cannot be placed at once are placed at the date at which room is made, as by a scheduler in sight."""
    platform, workload = Contention(pods=25, nodes=3, hours=5).write(tmp_path)
    arguments = ["-p", platform, "-w", workload, "--enable-compute-sharing"]
    port = free_port()
    words = [built_tool("kube-scheduler-1.36.3"), "--kubeconfig={kubeconfig}", "--leader-elect=false"]
    words += [f"--secure-port={port}", "--bind-address=127.0.0.1", "--kube-api-qps=5000", "--kube-api-burst=5000"]
    words += ["--authorization-always-allow-paths=/metrics"]
    means = [
        "--scheduler-metrics",
        f"https://127.0.0.1:{port}",
        "--scheduler-metrics-insecure",
        "--quiescence",
        "metrics",
    ]
    told = batkube(*arguments, "--scheduler-cmd", " ".join(map(str, words)), *means)
    assert told.exit_code == 0, told.stderr
    assert told.run["quiescence"]["metrics"] > told.run["quiescence"]["quiet_period"]
    assert told.run["repeatable"] is False
    for row in told.rows("jobs.csv"):
        # A job that waits begins at the very date at which another one ends.
        waited = float(row["waiting_time"]) > 0
        ends = {other["finish_time"] for other in told.rows("jobs.csv")}
        assert not waited or row["starting_time"] in ends


def test_silence_has_to_do_where_nothing_else_may(
    batkube: Batkube, platform: Callable[..., Path], workload: Callable[..., Path]
) -> None:
    given = workload([{"id": "a", "subtime": 0, "res": 1, "profile": "p"}], {"p": {"type": "delay", "delay": 1}})
    done = batkube("-p", platform(1), "-w", given, *FIFO_PROGRAM, "--quiescence", "quiet", "--patience", 60)
    assert done.exit_code == 0, done.stderr
    assert done.run["scheduler"]["clock"] == "real"
    assert done.run["quiescence"]["quiet_period"] > 0
    assert done.run["quiescence"]["observed"] == 0
    assert done.run["repeatable"] is False


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--quiescence", "metrics"], "--quiescence metrics needs --scheduler-metrics URL"),
        (["--quiescence", "quiet", "--clock", "once"], "--quiescence quiet leaves the scheduler on the real clock"),
        (["--scheduler-metrics", "localhost:10259"], "--scheduler-metrics: expected"),
    ],
)
def test_settings_that_do_not_go_together(
    tmp_path: Path, platform: Callable[..., Path], workload: Callable[..., Path], arguments: list[str], complaint: str
) -> None:
    given = workload([], {"p": {"type": "delay", "delay": 1}})
    words = ["run", "-p", str(platform(1)), "-w", str(given), "-o", str(tmp_path / "out"), *arguments]
    words += ["--scheduler", "none"]
    done = warm.run([sys.executable, "-m", "batkube", *words], env=environment(), timeout=120)
    assert done.returncode == 2
    assert complaint in " ".join(done.stderr.split())
