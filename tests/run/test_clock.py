"""Schedulers on the simulated clock: the same bytes each time, and their own timers count."""

import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.run.conftest import Batkube

POLLING = """
import json, sys, time
from kubernetes import client, config, watch

config.load_kube_config(sys.argv[1])
api = client.CoreV1Api()
while True:
    pods = api.list_namespaced_pod("default").items
    used = {pod.spec.node_name for pod in pods if pod.status.phase not in ("Succeeded", "Failed")}
    free = [node.metadata.name for node in api.list_node().items if node.metadata.name not in used]
    waiting = [pod for pod in pods if not pod.spec.node_name]
    for pod, node in zip(waiting, free):
        binding = {"metadata": {"name": pod.metadata.name}, "target": {"kind": "Node", "name": node}}
        api.create_namespaced_pod_binding(pod.metadata.name, "default", binding, _preload_content=False)
    {wait}
"""
"""A scheduler that looks every 7 seconds."""
WAITS = {
    "sleeps": "time.sleep(7)",
    "lets a watch time out": """for _ in watch.Watch().stream(
        api.list_namespaced_config_map, "default", timeout_seconds=7
    ): pass""",
}


def contended(count: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Jobs of 1 to 4 cores and an hour on average that come faster than they go."""
    rng = random.Random(11)
    jobs, profiles, date = [], {}, 0.0
    for index in range(count):
        date += rng.expovariate(1 / 300)
        profiles[f"p{index}"] = {"type": "delay", "delay": round(rng.expovariate(1 / 3600) + 1, 3)}
        job = {"id": index, "subtime": round(date, 3), "res": 1, "profile": f"p{index}", "cpu": rng.randint(1, 4)}
        jobs.append(job)
    return jobs, profiles


def test_a_real_kube_scheduler_does_the_same_each_time(
    batkube: Batkube, platform: Callable[..., Path], workload: Callable[..., Path], built_tool: Callable[[str], Path]
) -> None:
    """40 pods on 3 shared nodes under contention: one fingerprint, one jobs.csv."""
    given = workload(*contended(40))
    binary = built_tool("kube-scheduler-1.36.3")
    prints = set()
    for _ in range(3):
        arguments = ["-p", platform(3, cores=4), "-w", given, "--enable-compute-sharing"]
        done = batkube(*arguments, "--scheduler", "kube-scheduler", "--scheduler-binary", binary)
        assert done.exit_code == 0, done.stderr
        if done.run["scheduler"]["clock"] == "real":
            pytest.skip("this machine cannot give programs the simulated clock")
        assert done.run["repeatable"] is True
        prints.add((done.run["events_sha256"], (done.out / "jobs.csv").read_bytes()))
    assert len(prints) == 1


@pytest.mark.parametrize("wait", list(WAITS))
def test_polling_happens_in_simulated_time(
    batkube: Batkube, platform: Callable[..., Path], workload: Callable[..., Path], tmp_path: Path, wait: str
) -> None:
    """A scheduler that waits for 7 s between two looks places each job within some 7 simulated seconds."""
    program = tmp_path / "polling.py"
    program.write_text(POLLING.replace("{wait}", WAITS[wait]))
    jobs = [{"id": str(index), "subtime": 100 * index, "res": 1, "profile": "p"} for index in range(20)]
    given = workload(jobs, {"p": {"type": "delay", "delay": 350}})
    command = f"{sys.executable} {program} {{kubeconfig}}"
    began = time.monotonic()
    done = batkube("-p", platform(4), "-w", given, "--scheduler-cmd", command)
    assert done.exit_code == 0, done.stderr
    if done.run["scheduler"]["clock"] == "real":
        pytest.skip("this machine cannot take over the waits of programs")
    waits = [float(row["waiting_time"]) for row in done.rows("jobs.csv")]
    assert max(waits) <= 7.5
    assert max(waits) > 0
    assert time.monotonic() - began < 60


def test_a_scheduler_with_nothing_left_to_wait_for_is_stuck_at_once(
    batkube: Batkube, platform: Callable[..., Path], workload: Callable[..., Path]
) -> None:
    """No patience in real time is needed: its timers are known."""
    given = workload(
        [{"id": "picky", "subtime": 0, "res": 1, "profile": "p", "nodeSelector": {"no": "such"}}],
        {"p": {"type": "delay", "delay": 1}},
    )
    done = batkube("-p", platform(1), "-w", given, "--patience", "1000")
    if done.run["scheduler"]["clock"] == "real":
        pytest.skip("this machine cannot take over the waits of programs")
    assert done.exit_code == 1
    assert "job w0!picky" in done.run["reason"]


def test_a_run_on_the_real_clock_says_that_it_may_not_be_repeatable(
    batkube: Batkube, platform: Callable[..., Path], workload: Callable[..., Path]
) -> None:
    given = workload([{"id": "a", "subtime": 0, "res": 1, "profile": "p"}], {"p": {"type": "delay", "delay": 1}})
    done = batkube("-p", platform(1), "-w", given, "--clock", "real")
    assert done.exit_code == 0
    assert done.run["repeatable"] is False
    assert done.run["scheduler"]["clock"] == "real"
    assert done.run["not_repeatable"] == ["the scheduler lives on the real clock"]
    assert "no: the scheduler lives on the real clock" in done.stdout
