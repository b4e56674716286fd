"""The real kube-scheduler with leader election on: it keeps its lease through jumps of minutes, for a hundred hours."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.run.conftest import JSON, Batkube

HOUR = 3600.0
HOURS = 100.0
PODS = 250

CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: true}
"""


@pytest.fixture
def hundred_hours(workload: Callable[..., Path]) -> Path:
    """A job every 24 minutes, give or take some, of ten minutes to an hour and ten."""
    profiles: dict[str, JSON] = {f"p{k}": {"type": "delay", "delay": 600 + 900 * k} for k in range(5)}
    jobs = [
        {"id": i, "subtime": HOURS * HOUR / PODS * i + i * 7919 % 300, "res": 1, "profile": f"p{i % 5}"}
        for i in range(PODS)
    ]
    return workload(jobs, profiles)


@pytest.mark.parametrize(
    ("program", "way"),
    [
        ("kube-scheduler-1.36.3", "by command"),
        ("kube-scheduler-1.36.3", "over TLS"),
        ("kube-scheduler-1.34.3", "configured"),
    ],
)
def test_no_lease_is_lost_in_a_hundred_hours(
    batkube: Batkube,
    platform: Callable[..., Path],
    hundred_hours: Path,
    built_tool: Callable[[str], Path],
    tmp_path: Path,
    program: str,
    way: str,
) -> None:
    binary = built_tool(program)
    config = tmp_path / "config.yaml"
    config.write_text(CONFIG)
    if way == "by command":
        words = [f"{binary} --kubeconfig {{kubeconfig}} --leader-elect --secure-port=0"]
        words = ["--scheduler-cmd", *words]
    else:
        words = ["--scheduler", "kube-scheduler", "--scheduler-binary", str(binary), "--scheduler-config", str(config)]
    if way == "over TLS":
        words.append("--tls")
    done = batkube("-p", platform(12), "-w", hundred_hours, *words, timeout=540)
    assert done.exit_code == 0, done.stderr
    if done.run["scheduler"]["clock"] == "real":
        pytest.skip("this machine cannot give programs the simulated clock")
    jobs = done.rows("jobs.csv")
    assert len(jobs) == PODS
    assert {job["final_state"] for job in jobs} == {"COMPLETED_SUCCESSFULLY"}
    assert max(float(job["finish_time"]) for job in jobs) > HOURS * HOUR
    assert max(float(job["waiting_time"]) for job in jobs) < 1.0
    said = (done.out / "scheduler.log").read_text().lower()
    assert said.count("successfully acquired lease") == 1
    assert "lost" not in said
    assert "failed to renew" not in said
