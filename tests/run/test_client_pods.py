"""Pods that users make run, through the real kube-scheduler and kubectl, and each time in the same way."""

import json
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from tests.batsim.real import REAL, needs_batsim
from tests.conftest import BuiltTool
from tests.run.conftest import Batkube, Outcome
from tests.run.test_ends import started
from tests.waiting import wait_until

JSON = dict[str, Any]
ROOT = Path(__file__).parents[2]
PODS = ROOT / "examples" / "pods" / "pods.yaml"
PLATFORM = ROOT / "platforms" / "small-cluster.xml"
EXAMPLE = ["-p", PLATFORM, "--enable-compute-sharing", "--objects", PODS]

ENDS = {
    "batch": ("Succeeded", "", "600.000000"),
    "sleeper": ("Failed", "Error", "120.000000"),
    "unlucky": ("Failed", "DeadlineExceeded", "300.000000"),
    "server": ("Running", "", ""),
}


def ends(rows: list[dict[str, str]]) -> dict[str, tuple[str, str, str]]:
    return {row["pod"]: (row["phase"], row["reason"], row["finish_time"]) for row in rows}


@pytest.mark.parametrize("policy", ["fifo", "easy"])
def test_objects_alone_are_a_run(batkube: Batkube, policy: str) -> None:
    done = batkube(*EXAMPLE, "--scheduler", policy, "--strict")
    assert done.exit_code == 0, done.stderr
    assert ends(done.rows("pods.csv")) == ENDS
    assert done.run["jobs"] == {
        "submitted": 8, "succeeded": 1, "failed": 6, "walltime_reached": 0, "killed": 0, "stopped": 0, "rejected": 0,
        "running": 1, "unfinished": 0,
    }  # fmt: skip
    assert done.run["repeatable"]


@pytest.mark.parametrize(
    "simulator", [["--exact"], pytest.param(["--simulator", "batsim", "--batsim-binary", REAL], marks=needs_batsim)]
)
def test_what_runs_for_ever_is_no_job_that_nobody_told_of(batkube: Batkube, simulator: list[str | Path]) -> None:
    done = batkube(*EXAMPLE, *simulator, "--strict")
    assert done.exit_code == 0, done.stderr
    assert {pod: end[:2] for pod, end in ends(done.rows("pods.csv")).items()} == {
        pod: end[:2] for pod, end in ENDS.items()
    }
    assert done.run["jobs"]["running"] == 1
    assert "server" not in {row["job_id"] for row in done.rows("jobs.csv")}


def test_kube_scheduler_places_them_the_same_way_each_time(
    two_at_once: Callable[..., list[Outcome]], built_tool: BuiltTool
) -> None:
    scheduler = ["--scheduler", "kube-scheduler", "--scheduler-binary", built_tool("kube-scheduler-1.36.3")]
    one, other = two_at_once(*EXAMPLE, *scheduler)
    assert one.exit_code == 0, one.stderr
    assert ends(one.rows("pods.csv")) == ENDS
    assert one.fingerprints == other.fingerprints


def test_pods_of_kubectl_run_on_a_paced_simulation(tmp_path: Path, built_tool: BuiltTool) -> None:
    """A user makes a pod, sees it run and end, makes a server and deletes it; the simulation goes on for all that."""
    out, kubectl = tmp_path / "out", built_tool("kubectl-1.36.3")
    kubeconfig = out / "kubeconfig"

    def ask(*arguments: str) -> str:
        command = [str(kubectl), "--kubeconfig", str(kubeconfig), *arguments]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=120).stdout

    def phase(name: str) -> str:
        return ask("get", "pod", name, "--ignore-not-found", "-o", "jsonpath={.status.phase}")

    with started(out, "-p", PLATFORM, "--enable-compute-sharing", "--until", "1h", "--pace", "30") as process:
        wait_until("the kubeconfig", kubeconfig.exists)
        ask("run", "short", "--image=busybox", "--restart=Never", "--command", "--", "sleep", "60")
        wait_until("the pod runs", lambda: phase("short") == "Running")
        wait_until("the pod has ended", lambda: phase("short") == "Succeeded")
        ask("run", "server", "--image=server")
        wait_until("the server runs", lambda: phase("server") == "Running")
        ask("delete", "pod", "server")
        assert phase("server") == ""
        url = ask("config", "view", "--raw", "-o", "jsonpath={.clusters[0].cluster.server}")
        httpx.put(f"{url}/batkube/v1/clock/pace", json={"factor": None}, timeout=60).raise_for_status()
        process.wait(timeout=120)
    run = json.loads((out / "run.json").read_text())
    assert run["simulated_seconds"] == 3600
    assert (run["jobs"]["succeeded"], run["jobs"]["stopped"], run["jobs"]["killed"]) == (1, 1, 0)
    assert not run["repeatable"]  # users did things


def test_nothing_to_run_is_an_error(batkube: Batkube) -> None:
    done = batkube("-p", PLATFORM)
    assert done.exit_code == 2
    assert "there are no jobs: give a workload (-w), a workflow (-W), objects (--objects), or --until" in done.stderr


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "expected a mapping|Input should be"),
        ("rules: []", "line 1: rules: "),
        ("rules:\n- {selector: a=b}", "line 2: rules.0: expected a rule with a duration, or a usage"),
        ("rules:\n- {usage: cpu=much}", "line 2: rules.0: usage: expected a quantity such as 500m, 1Gi or 80%"),
        ("rules:\n- {usage: cpu=1, fail: 5%}", "line 2: rules.0: fail and exitCode need a duration"),
        ("rules:\n- {duration: soon}", "line 2: rules.0: expected seconds or a length such as 1h30m"),
        ("rules:\n- duration: 5\n  fail: 120%", "line 3: rules.0.fail: "),
        ("rules:\n- duration: 5\n  selector: 'a in'", "line 3: rules.0.selector: "),
    ],
)
def test_a_file_of_durations_that_cannot_be_used_is_told_with_its_line(
    batkube: Batkube, tmp_path: Path, text: str, why: str
) -> None:
    path = tmp_path / "durations.yaml"
    path.write_text(text)
    done = batkube(*EXAMPLE, "--durations", path)
    assert done.exit_code == 2
    assert any(part in done.stderr for part in why.split("|")), done.stderr
    assert str(path) in done.stderr


CONTROL_PLANE = """\
#!/bin/sh
# kube-controller-manager and kube-scheduler, with one kubeconfig.
common="--kubeconfig=$KUBECONFIG --leader-elect=false --secure-port=0 --kube-api-qps=5000 --kube-api-burst=5000"
{manager} $common --controllers={controllers} &
{scheduler} $common &
wait
"""
CONTROLLERS = ("deployment-controller", "replicaset-controller", "job-controller", "garbage-collector-controller")


def template(labels: JSON, command: list[str], policy: str = "Never") -> JSON:
    container = {"name": "main", "image": "app", "command": command, "resources": {"requests": {"cpu": "1"}}}
    return {"metadata": {"labels": labels}, "spec": {"restartPolicy": policy, "containers": [container]}}


def batch_job(name: str, command: list[str], **spec: Any) -> JSON:
    labels = {"work": name}
    whole = {**spec, "template": template(labels, command)}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": "default"}, "spec": whole}


@pytest.mark.slow
def test_what_controllers_make_runs_and_their_timers_count(
    two_at_once: Callable[..., list[Outcome]], built_tool: BuiltTool, tmp_path: Path
) -> None:
    """A Deployment, a Job in two waves and one that fails, with the real kube-controller-manager and kube-scheduler."""
    web = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "web"}},
            "template": template({"app": "web"}, [], "Always"),
        },
    }
    objects = [
        web,
        batch_job("waves", ["sleep", "30"], parallelism=2, completions=4),
        batch_job("fails", ["sh", "-c", "sleep 5; exit 1"], backoffLimit=2),
    ]
    path, script = tmp_path / "objects.yaml", tmp_path / "control-plane.sh"
    path.write_text(yaml.safe_dump_all(objects))
    manager, scheduler = built_tool("kube-controller-manager-1.36.3"), built_tool("kube-scheduler-1.36.3")
    script.write_text(
        CONTROL_PLANE.format(
            manager=shlex.quote(str(manager)), scheduler=shlex.quote(str(scheduler)), controllers=",".join(CONTROLLERS)
        )
    )
    words = ["-p", PLATFORM, "--enable-compute-sharing", "--objects", path, "--timers", "all"]
    one, other = two_at_once(*words, "--scheduler-cmd", f"sh {script}")
    assert one.exit_code == 0, one.stderr
    rows = one.rows("pods.csv")

    def starts(name: str) -> list[float]:
        """Return the seconds at which its pods started."""
        return sorted(float(row["starting_time"]) for row in rows if row["pod"].startswith(name))

    assert [row["phase"] for row in rows if row["pod"].startswith("web")] == ["Running"] * 2
    # The Job's controller acts once a second at most for each Job, and after a failure 10 s later, then 20 s.
    assert starts("waves") == pytest.approx([0, 0, 31, 31], abs=0.1)
    assert starts("fails") == pytest.approx([0, 15, 40], abs=0.1)
    assert one.run["jobs"]["succeeded"] == 4
    assert one.run["jobs"]["failed"] == 3
    assert one.run["jobs"]["running"] == 2
    assert one.fingerprints == other.fingerprints
    assert one.run["repeatable"], one.run["not_repeatable"]
    assert other.run["repeatable"], other.run["not_repeatable"]
