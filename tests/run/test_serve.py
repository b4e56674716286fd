"""``batkube serve``: up until it is told to end, one simulation after another, schedulers that it did not start."""

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests import warm
from tests.run.conftest import environment
from tests.run.test_simulators import by_itself
from tests.waiting import wait_until

ROOT = Path(__file__).parents[2]
PLATFORM = ROOT / "platforms" / "small-cluster.xml"
WORKLOAD = ROOT / "workloads" / "burst-then-trickle.json"


SLOW_START = "batkube: no scheduler has asked for pods yet: the simulation waits for one"
"""Told after ten seconds, which a scheduler's start may take on a busy machine."""


class Serve:
    """A server going on."""

    def __init__(self, out: Path, arguments: list[str], free_port: Callable[[], int]) -> None:
        self.out = out
        self.endpoint = f"tcp://127.0.0.1:{free_port()}"
        self.port = free_port()
        beside = [] if "--api-only" in arguments else ["--batsim", self.endpoint]
        words = ["--port", str(self.port), *beside, "-o", str(out), *arguments]
        self.process = warm.Popen(
            [sys.executable, "-m", "batkube", "serve", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
        )
        assert self.process.stdout is not None
        self.said = [self.process.stdout.readline() for _ in range(4 if "--api-only" not in arguments else 2)]
        self.url = f"http://127.0.0.1:{self.port}"
        self.http = httpx.Client(base_url=self.url, timeout=60, trust_env=False)

    def simulate(self, prefix: Path, platform: Path = PLATFORM, workload: Path = WORKLOAD) -> int:
        """A Batsim comes and goes."""
        words = ["-p", str(platform), "-w", str(workload), "-s", self.endpoint, "-e", str(prefix)]
        done = warm.run([sys.executable, "-m", "batkube.simulator", *words], env=environment(), timeout=120)
        return done.returncode

    @contextmanager
    def batsim(self, platform: Path, workload: Path) -> Iterator[None]:
        """A Batsim that is there for a while."""
        words = ["-p", str(platform), "-w", str(workload), "-s", self.endpoint, "-e", str(self.out / "batsim")]
        with stranger([sys.executable, "-m", "batkube.simulator", *words]):
            wait_until("the start of the simulation", lambda: (self.out / "simulation-1" / "events.jsonl").exists())
            yield

    def finished(self, index: int) -> None:
        """Wait until the results of a simulation are written."""
        path = self.out / f"simulation-{index}" / "run.json"
        wait_until("the start of the simulation", path.exists)
        wait_until("the end of the simulation", lambda: json.loads(path.read_text())["exit_code"] == 0)

    def step_until_jobs_end(self) -> None:
        """Let the first simulation, which is paused, come to the end of some of its jobs, and no farther."""
        path = self.out / "simulation-1" / "events.jsonl"
        clock = "/batkube/v1/clock"

        def have_ended() -> bool:
            if not self.http.get(clock).json()["stepping"]:
                self.http.post(f"{clock}/step")
            ended = self.http.get("/batkube/v1/results")
            return ended.is_success and bool(ended.json()["jobs"] > 2)

        wait_until("the start of the simulation", path.exists)
        wait_until("the end of some jobs", have_ended)

    def resume(self) -> None:
        """Let the simulation go on."""
        self.http.post("/batkube/v1/clock/resume").raise_for_status()

    def complaint(self) -> str:
        """The next line on its standard error output that has to do with what happens."""
        assert self.process.stderr is not None
        return next(said for line in self.process.stderr if (said := str(line).rstrip()) != SLOW_START)

    def close(self) -> None:
        """End it, however it is, and wait for its end."""
        self.http.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def end(self, number: signal.Signals) -> tuple[int, str]:
        """The exit code, and what it complained of."""
        self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=120)
        return self.process.returncode, errors.replace(f"{SLOW_START}\n", "")


@pytest.fixture
def serve(tmp_path: Path, free_port: Callable[[], int]) -> Iterator[Callable[..., Serve]]:
    servers: list[Serve] = []

    def start(*arguments: str) -> Serve:
        servers.append(Serve(tmp_path / "served", list(arguments), free_port))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@contextmanager
def stranger(command: list[str]) -> Iterator[None]:
    """A scheduler that somebody else starts."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("kind", ["fifo", "kube-scheduler-1.36.3", "kube-scheduler-1.34.3"])
def test_one_simulation_after_another(
    serve: Callable[..., Serve], tmp_path: Path, built_tool: Callable[[str], Path], kind: str
) -> None:
    server = serve("--batsim-out", str(tmp_path / "batsim")) if kind == "fifo" else serve()
    kubeconfig = server.out / "kubeconfig"
    if kind == "fifo":
        command = [sys.executable, "-m", "batkube.schedulers.fifo", "--kubeconfig", str(kubeconfig)]
    else:
        command = [str(built_tool(kind)), f"--kubeconfig={kubeconfig}", "--leader-elect=false", "--secure-port=0"]
        command += ["--kube-api-qps=5000", "--kube-api-burst=5000"]
    with stranger(command):
        for index in (1, 2):
            assert server.simulate(tmp_path / "batsim") == 0
            folder = server.out / f"simulation-{index}"
            server.finished(index)
            assert (folder / "jobs.csv").read_bytes() == (tmp_path / "batsim_jobs.csv").read_bytes()
            assert (folder / "batsim_jobs.csv").exists() == (kind == "fifo")
            run = json.loads((folder / "run.json").read_text())
            assert run["makespan"] == 3510.0
            assert run["quiescence"]["observed"] > 100
            assert run["quiescence"]["quiet_period"] == 0
    code, errors = server.end(signal.SIGTERM)
    assert (code, errors) == (0, "")


def fifo(server: Serve) -> list[str]:
    """The command of a scheduler for a server."""
    return [sys.executable, "-m", "batkube.schedulers.fifo", "--kubeconfig", str(server.out / "kubeconfig")]


def test_time_stands_while_the_scheduler_is_gone(serve: Callable[..., Serve], tmp_path: Path) -> None:
    """Killed in the midst and started again, it costs the simulation nothing: not a second of simulated time."""
    server = serve("--paused")
    words = ["-p", str(PLATFORM), "-w", str(WORKLOAD), "-s", server.endpoint, "-e", str(tmp_path / "b")]
    with stranger([sys.executable, "-m", "batkube.simulator", *words]):
        with stranger(fifo(server)):
            server.step_until_jobs_end()
        server.resume()
        assert server.complaint() == "batkube: the scheduler is gone: simulated time stands until one is back"
        with stranger(fifo(server)):
            server.finished(1)
    run = json.loads((server.out / "simulation-1" / "run.json").read_text())
    assert (run["makespan"], run["quiescence"]["lost"]) == (3510.0, 1)
    assert "the scheduler was gone 1 times" in run["not_repeatable"]
    _, errors = server.end(signal.SIGTERM)
    assert errors.splitlines() == ["batkube: a scheduler is back: the simulation goes on"]


def test_the_loss_of_the_scheduler_may_be_the_end(serve: Callable[..., Serve], tmp_path: Path) -> None:
    server = serve("--on-scheduler-loss", "fail", "--paused")
    words = ["-p", str(PLATFORM), "-w", str(WORKLOAD), "-s", server.endpoint, "-e", str(tmp_path / "b")]
    with stranger([sys.executable, "-m", "batkube.simulator", *words]):
        with stranger(fifo(server)):
            server.step_until_jobs_end()
        server.resume()
        path = server.out / "simulation-1" / "run.json"
        wait_until("the end of the simulation", lambda: json.loads(path.read_text())["status"] == "failed")
    assert "the scheduler is gone" in json.loads(path.read_text())["reason"]


def test_pods_of_a_served_simulation_take_time_to_start(serve: Callable[..., Serve], tmp_path: Path) -> None:
    model = tmp_path / "startup.yaml"
    model.write_text("pulled: 2\nended: 1\n")
    server = serve("--startup", str(model), "--platform", str(PLATFORM))
    command = [sys.executable, "-m", "batkube.schedulers.fifo", "--kubeconfig", str(server.out / "kubeconfig")]
    with stranger(command):
        assert server.simulate(tmp_path / "batsim", workload=ROOT / "workloads" / "all-kinds-of-ends.json") == 0
        server.finished(1)
    rows = (server.out / "simulation-1" / "pods.csv").read_text().splitlines()
    pods = [dict(zip(rows[0].split(","), row.split(","), strict=False)) for row in rows[1:]]
    ran = [pod for pod in pods if pod["starting_time"]]
    assert ran
    for pod in ran:
        assert float(pod["starting_time"]) == float(pod["bound_time"]) + 2
        assert float(pod["finish_time"]) == float(pod["exit_time"]) + 1
    assert json.loads((server.out / "simulation-1" / "run.json").read_text())["startup"]["path"] == str(model)


def test_it_says_how_to_point_a_scheduler_and_batsim_at_it(serve: Callable[..., Serve]) -> None:
    server = serve()
    assert server.url in server.said[0]
    assert f"KUBECONFIG={server.out / 'kubeconfig'}" in server.said[1]
    assert server.endpoint in server.said[2]
    assert server.said[3] == f"  in a browser: {server.url}/\n"
    assert server.end(signal.SIGINT) == (0, "")


def test_a_platform_in_any_form_is_written_for_batsim(serve: Callable[..., Serve], tmp_path: Path) -> None:
    server = serve("-p", "2 x 4cpu,8Gi zone=a", "-p", "1 x 8cpu", "--add-nodes", "1 like node-3")
    written = server.out / "imported-platform.xml"
    assert f"batsim -p {written} -w" in server.said[2]
    command = [sys.executable, "-m", "batkube.schedulers.fifo", "--kubeconfig", str(server.out / "kubeconfig")]
    with stranger(command):
        assert server.simulate(tmp_path / "batsim", platform=written) == 0
        server.finished(1)
    assert [node["metadata"]["name"] for node in server.http.get("/api/v1/nodes").json()["items"]] == [
        "node-1",
        "node-2",
        "node-3",
        "node-3-more-1",
    ]


@pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_batsim_in_mid_simulation_is_not_left_hanging(
    serve: Callable[..., Serve], tmp_path: Path, number: signal.Signals, exit_code: int
) -> None:
    """And the exit code tells that a simulation was cut short, as that of a run does."""
    server = serve()
    words = ["-p", PLATFORM, "-w", WORKLOAD, "-s", server.endpoint, "-e", tmp_path / "b"]
    folder = server.out / "simulation-1"
    with by_itself(sys.executable, "-m", "batkube.simulator", *words) as simulator:
        wait_until("the start of the simulation", lambda: (folder / "events.jsonl").exists())
        code, errors = server.end(number)
        assert simulator.wait(timeout=120) == 0
    assert code == exit_code
    assert "Batsim was told to give up its jobs, and came to its end" in errors
    run = json.loads((folder / "run.json").read_text())
    assert (run["status"], run["exit_code"]) == ("interrupted", exit_code)


def test_its_own_api_is_typed_and_documented(serve: Callable[..., Serve]) -> None:
    server = serve()
    with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as client:
        assert client.get("/batkube/v1/health").json()["status"] == "ok"
        assert client.get("/batkube/v1/state").json()["state"] == "waiting for a simulation"
        assert client.get("/batkube/v1/time").status_code == 404
        paths = client.get("/batkube/v1/openapi.json").json()["paths"]
        assert {"/batkube/v1/state", "/batkube/v1/jobs", "/batkube/v1/results"} <= set(paths)
        described = client.get("/batkube/v1/docs").text
        assert "/batkube/v1/clock/pace" in described
        assert "<script" not in described  # nothing comes from the network


def test_state_and_results_after_a_simulation(serve: Callable[..., Serve], tmp_path: Path) -> None:
    server = serve()
    command = [sys.executable, "-m", "batkube.schedulers.fifo", "--kubeconfig", str(server.out / "kubeconfig")]
    with stranger(command):
        assert server.simulate(tmp_path / "b") == 0
        server.finished(1)
    with httpx.Client(base_url=server.url + "/batkube/v1", timeout=60, trust_env=False) as client:
        state = client.get("/state").json()
        assert state["state"] == "over"
        assert state["time"]["now"] == 3510.0
        assert state["jobs"] == {"waiting": 0, "running": 0, "ended": 100, "rejected": 0}
        assert client.get("/results").json()["makespan"] == 3510.0
        assert client.get("/jobs/w0!burst-0").json()["final_state"] == "COMPLETED_SUCCESSFULLY"
        assert len(client.get("/jobs", params={"limit": 7}).json()) == 7
        assert client.get("/jobs/w0!none").status_code == 404


def test_taken_ports_are_told_in_a_line(serve: Callable[..., Serve], tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        for arguments in (["--port", str(port)], ["--port", "0", "--batsim", f"tcp://127.0.0.1:{port}"]):
            words = [sys.executable, "-m", "batkube", "serve", "-o", tmp_path / "o", *arguments]
            done = warm.run(words, env=environment(), timeout=120)
            assert done.returncode == 2
            assert str(port) in done.stderr
            assert len(done.stderr.strip().splitlines()) == 1


def test_api_only_is_a_server_without_simulator(serve: Callable[..., Serve]) -> None:
    server = serve("--api-only")
    with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as client:
        assert client.get("/readyz").text == "ok"
        assert client.get("/api/v1/nodes").json()["items"] == []
        # A kube-scheduler beside it may use a node that says it is ready.
        assert client.post("/api/v1/nodes", json={"metadata": {"name": "n"}}).json()["spec"]["taints"]
        ready = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
        headers = {"Content-Type": "application/merge-patch+json"}
        patched = client.patch("/api/v1/nodes/n/status", json=ready, headers=headers).json()
        assert "taints" not in patched["spec"]
    assert server.end(signal.SIGTERM) == (0, "")
    assert server.process.returncode == 0


@pytest.mark.parametrize("beside", [["--api-only"], ["--batsim", "ENDPOINT"]], ids=["api-only", "beside-batsim"])
def test_a_folder_of_results_is_one_servers(
    serve: Callable[..., Serve], tmp_path: Path, free_port: Callable[[], int], beside: list[str]
) -> None:
    endpoint = f"tcp://127.0.0.1:{free_port()}"
    words = [sys.executable, "-m", "batkube", "serve", "--port", "0"]
    words += [endpoint if word == "ENDPOINT" else word for word in beside]

    def refused(out: Path) -> str:
        done = warm.run([*words, "-o", str(out)], env=environment(), timeout=120)
        assert done.returncode == 2
        return str(done.stderr)

    server = serve("--api-only")
    written = (server.out / "kubeconfig").read_bytes()
    assert refused(server.out) == f"batkube: --out {server.out}: another run writes its results there\n"
    assert (server.out / "kubeconfig").read_bytes() == written
    others = tmp_path / "others"
    others.mkdir()
    (others / "thesis.tex").touch()
    assert "holds thesis.tex, and no results of a run; --force takes it all the same" in refused(others)
    assert [path.name for path in others.iterdir()] == ["thesis.tex"]


def test_a_server_that_writes_no_results_needs_no_folder(serve: Callable[..., Serve], tmp_path: Path) -> None:
    first = serve("--api-only")
    second = serve("--api-only", "--kubeconfig", str(tmp_path / "elsewhere"))
    assert second.out == first.out
    assert f"KUBECONFIG={tmp_path / 'elsewhere'}" in second.said[1]
    assert first.end(signal.SIGTERM) == (0, "")
    (tmp_path / "served" / "simulation-1").mkdir()
    (tmp_path / "served" / "kubeconfig").unlink()
    assert "/served" in serve("--api-only", "--force").said[1]
