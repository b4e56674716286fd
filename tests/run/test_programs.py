"""Programs beside the scheduler (``--program``), real ones: on its clock, the same bytes every time."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.conftest import BuiltTool
from tests.run.conftest import FIFO_PROGRAM, Batkube, Outcome

PLATFORM = Path(__file__).parents[2] / "platforms" / "small-cluster.xml"

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "extra", "namespace": "default"},
    "spec": {
        "schedulerName": "second",
        "restartPolicy": "Never",
        "containers": [{"name": "main", "image": "app", "command": ["sleep", "25"]}],
    },
}
SECOND = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "leaderElection": {"leaderElect": False},
    "clientConnection": {"kubeconfig": "{kubeconfig}", "qps": 5000, "burst": 5000},
    "profiles": [{"schedulerName": "second"}],
}
TEMPLATE = {
    "spec": {
        "restartPolicy": "Never",
        "containers": [{"name": "main", "image": "app", "command": ["sleep", "30"]}],
    }
}
WAVES = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "waves", "namespace": "default"},
    "spec": {"parallelism": 2, "completions": 4, "template": TEMPLATE},
}
"""A Job in two waves of two pods."""


def need_simulated_clock(done: Outcome) -> None:
    """Skip the test where programs cannot be given the simulated clock."""
    if done.run["programs"] == []:
        pytest.skip("this machine cannot give programs the simulated clock")


@pytest.mark.slow
def test_a_control_plane_of_four_programs_gives_the_same_bytes(
    two_at_once: Callable[..., list[Outcome]], built_tool: BuiltTool, tmp_path: Path
) -> None:
    """kube-controller-manager, two kube-schedulers of different names, and a shell script with kubectl."""
    scheduler, manager, kubectl = map(
        built_tool, ("kube-scheduler-1.36.3", "kube-controller-manager-1.36.3", "kubectl-1.36.3")
    )
    for name, content in {"job.yaml": WAVES, "pod.yaml": POD, "second.yaml": SECOND}.items():
        (tmp_path / name).write_text(yaml.safe_dump(content))
    script = tmp_path / "user.sh"
    script.write_text(f"sleep 150; {kubectl} create -f {tmp_path}/pod.yaml || exit 1; echo done\n")
    common = "--kubeconfig={kubeconfig} --leader-elect=false --secure-port=0 --kube-api-qps=5000 --kube-api-burst=5000"
    words = ["-p", PLATFORM, "--enable-compute-sharing", "--objects", tmp_path / "job.yaml", "--timers", "all"]
    words += ["--scheduler", "kube-scheduler", "--scheduler-binary", scheduler, "--until", "130"]
    words += ["--program", f"manager:always={manager} {common} --controllers=job-controller"]
    words += ["--program", f"second={scheduler} --secure-port=0 --config {{file:{tmp_path}/second.yaml}}"]
    words += ["--program", f"user=sh {script}"]
    one, other = two_at_once(*words)
    assert one.exit_code == 0, one.stderr
    pods = {row["pod"]: row for row in one.rows("pods.csv")}
    assert [row["scheduler"] for row in pods.values()].count("default-scheduler") == 4
    assert pods["extra"]["scheduler"] == "second"
    assert all(row["phase"] == "Succeeded" for row in pods.values())
    # The script has begun a minute before the simulation, and slept on its clock.
    assert 80 < float(pods["extra"]["created_time"]) < 150
    ended = [event for event in one.events if event["event"] == "program_ended"]
    assert [(event["name"], event["exit_code"]) for event in ended] == [("user", 0)]
    assert "done" in (one.out / "user.log").read_text()
    assert "Starting Kubernetes Scheduler" in (one.out / "second.log").read_text()
    assert [program["name"] for program in one.run["programs"]] == ["manager", "second", "user"]
    assert one.run["repeatable"], one.run["not_repeatable"]
    assert one.fingerprints == other.fingerprints


def test_a_node_controller_takes_no_node_for_lost(
    batkube: Batkube, built_tool: BuiltTool, workload: Callable[..., Path]
) -> None:
    """It watches leases: one that nobody renews for 50 s means that the kubelet is gone, and the node takes no pod."""
    manager = built_tool("kube-controller-manager-1.36.3")
    jobs = workload([{"id": 1, "subtime": 80, "res": 1, "profile": "p"}], {"p": {"type": "delay", "delay": 5}})
    command = f"{manager} --kubeconfig={{kubeconfig}} --leader-elect=false --secure-port=0"
    command += " --controllers=node-lifecycle-controller"
    words = ["-p", PLATFORM, "-w", jobs, "--timers", "all", *FIFO_PROGRAM, "--program", f"manager={command}"]
    done = batkube(*words)
    assert done.exit_code == 0, done.stderr
    (job,) = done.rows("jobs.csv")
    assert float(job["starting_time"]) == 80


def test_a_program_that_fails_ends_the_run_and_one_that_is_started_again_does_not(
    batkube: Batkube, tmp_path: Path, workload: Callable[..., Path]
) -> None:
    jobs = workload([{"id": 1, "subtime": 5, "res": 1, "profile": "p"}], {"p": {"type": "delay", "delay": 60}})
    words = ["-p", PLATFORM, "-w", jobs, *FIFO_PROGRAM]
    failed = batkube(*words, "--program", "probe=sh -c 'echo no such thing; exit 4'")
    need_simulated_clock(failed)
    assert failed.exit_code == 1
    assert "the program probe exited with code 4; its last words: no such thing. What it would have" in failed.stderr
    assert failed.run["programs"][0]["ends"] == ["at 0 s: exited with code 4; its last words: no such thing"]
    done = batkube(*words, "--program", "again:on-failure=sh -c 'sleep 100; exit 4'")
    assert done.exit_code == 0, done.stderr
    assert "the program again exited with code 4, without a word; it was started again" in done.stderr
    events = [json.dumps(event) for event in done.events]
    assert any("program_started" in event for event in events)
    assert done.run["programs"][0]["starts"] == 2
    assert not (done.out / "probe.log").exists()  # of the run before
    assert (done.out / "again.log").exists()


def test_a_script_is_woken_up_at_its_time(batkube: Batkube, tmp_path: Path) -> None:
    """Though nothing happens then, and no pod waits. It has begun a minute before the simulation."""
    words = ["-p", PLATFORM, *FIFO_PROGRAM, "--until", "1h"]
    done = batkube(*words, "--program", "user=sh -c 'sleep 100; sleep 1000'")
    assert done.exit_code == 0, done.stderr
    need_simulated_clock(done)
    (ended,) = [event for event in done.events if event["event"] == "program_ended"]
    assert ended["time"] == pytest.approx(1100 - 60.37, abs=0.01)
    assert done.run["simulated_seconds"] == 3600


PLAYER = """
import json, sys, time, urllib.request

def send(method, path, body=None):
    data = json.dumps(body).encode() if body else None
    asked = urllib.request.Request(sys.argv[1] + path, data, {"Content-Type": "application/json"}, method=method)
    return json.load(urllib.request.urlopen(asked))

main = {"name": "main", "image": "app", "command": ["sleep", "30"], "resources": {"requests": {"cpu": "1"}}}
for number in range(int(sys.argv[2])):
    time.sleep(100)
    pod = {"metadata": {"name": sys.argv[3] + f"-{number}"}, "spec": {"restartPolicy": "Never", "containers": [main]}}
    send("POST", "/api/v1/namespaces/default/pods", pod)
    time.sleep(10)
    seen = send("GET", f"/api/v1/namespaces/default/pods/{sys.argv[3]}-{number}")
    print(number, seen["status"]["phase"], seen["spec"].get("nodeName"), flush=True)
"""


@pytest.mark.parametrize("policy", ["fifo", "easy"])
def test_programs_beside_a_policy_that_runs_inside_batkube(
    two_at_once: Callable[..., list[Outcome]], tmp_path: Path, workload: Callable[..., Path], policy: str
) -> None:
    """The policy places what a program makes at once; the program ends, another begins at its date."""
    script = tmp_path / "player.py"
    script.write_text(PLAYER)
    jobs = workload(
        [{"id": number, "subtime": 10 * number, "res": 1, "profile": "p"} for number in range(9)],
        {"p": {"type": "delay", "delay": 60}},
    )
    scenario = tmp_path / "scenario.yaml"
    command = f"{sys.executable} player.py {{server}}"
    programs = [
        {"name": "early", "command": f"{command} 2 early"},
        {"name": "late", "command": f"{command} 1 late", "start": 500},
    ]
    content = {"platform": "2 x 4cpu", "workload": str(jobs), "scheduler": policy, "until": 900, "programs": programs}
    scenario.write_text(yaml.safe_dump({**content, "enable-compute-sharing": True}))
    one, other = two_at_once(scenario)
    assert one.exit_code == 0, one.stderr
    need_simulated_clock(one)
    pods = {row["pod"]: row for row in one.rows("pods.csv") if not row["job_id"].startswith("w0!")}
    assert sorted(pods) == ["early-0", "early-1", "late-0"]
    for row, created in ((pods["early-0"], 100 - 60.37), (pods["early-1"], 210 - 60.37), (pods["late-0"], 600)):
        assert float(row["created_time"]) == pytest.approx(created, abs=0.01)
        assert row["starting_time"] == row["created_time"]
        assert row["phase"] == "Succeeded"
    assert (one.out / "early.log").read_text().splitlines() == ["0 Running node-2", "1 Running node-1"]
    assert one.fingerprints == other.fingerprints


def test_a_program_starts_at_the_same_nanosecond_each_time(two_at_once: Callable[..., list[Outcome]]) -> None:
    """Many seed their randomness by it. The scheduler, and the program before, have read the clock by then."""
    command = f"{sys.executable} -c 'import time; print(time.time_ns())'"
    words = ["-p", PLATFORM, *FIFO_PROGRAM, "--until", "10"]
    one, other = two_at_once(*words, "--program", f"first={command}", "--program", f"second={command}")
    assert one.exit_code == 0, one.stderr
    need_simulated_clock(one)
    for name in ("first.log", "second.log"):
        assert (one.out / name).read_text() == (other.out / name).read_text()


def test_a_program_may_send_more_than_the_server_takes_at_once(batkube: Batkube, tmp_path: Path) -> None:
    """A body beyond 64 KiB, as that of a CustomResourceDefinition, is read though its request waits for its turn."""
    script = tmp_path / "large.py"
    script.write_text(
        "import json, sys, urllib.request\n"
        "content = {'metadata': {'name': 'large'}, 'data': {'a': 'x' * 700_000}}\n"
        "url = sys.argv[1] + '/api/v1/namespaces/default/configmaps'\n"
        "asked = urllib.request.Request(url, json.dumps(content).encode(), {'Content-Type': 'application/json'})\n"
        "print(len(json.load(urllib.request.urlopen(asked))['data']['a']))\n"
    )
    done = batkube("-p", PLATFORM, "--until", "1m", "--program", f"large={sys.executable} {script} {{server}}")
    assert done.exit_code == 0, done.stderr
    assert (done.out / "large.log").read_text() == "700000\n"
