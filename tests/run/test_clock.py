"""Schedulers on the simulated clock: the same bytes each time, and their own timers count."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from contention import Contention

from tests.run.conftest import FIFO_PROGRAM, Batkube, Outcome

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


KUBE_SCHEDULER = "kube-scheduler-1.36.3"


FIFO_OVER_HTTP = "fifo over HTTP"


@pytest.fixture
def words(built_tool: Callable[[str], Path], tmp_path: Path) -> Callable[[Contention, str], list[Any]]:
    """Write a workload under contention; the options for it and a scheduler."""

    def choose(given: Contention, scheduler: str) -> list[Any]:
        platform, workload = given.write(tmp_path)
        words = ["-p", platform, "-w", workload, "--enable-compute-sharing"]
        words += FIFO_PROGRAM if scheduler == FIFO_OVER_HTTP else ["--scheduler", scheduler]
        if scheduler == "kube-scheduler":
            words += ["--scheduler-binary", built_tool(KUBE_SCHEDULER)]
        return words

    return choose


def fingerprint(done: Outcome, given: Contention) -> str:
    """Return the hashes of ``events.jsonl`` and of ``jobs.csv``."""
    assert done.exit_code == 0, done.stderr
    if done.run["scheduler"]["clock"] == "real":
        pytest.skip("this machine cannot give programs the simulated clock")
    assert done.run["repeatable"] is True
    if given.urgent:
        assert done.run["jobs"]["killed"] > 0
    return " ".join(done.fingerprints)


@pytest.fixture
def fingerprints(batkube: Batkube, words: Callable[[Contention, str], list[Any]]) -> Callable[..., Iterator[str]]:
    """Run the same again and again: its fingerprint each time."""

    def runs(given: Contention, scheduler: str, count: int) -> Iterator[str]:
        for _ in range(count):
            yield fingerprint(batkube(*words(given, scheduler)), given)

    return runs


CONTENTION = Contention(pods=30, nodes=3, hours=6)
PREEMPTION = Contention(pods=30, nodes=3, hours=6, urgent=0.3)


def test_a_real_kube_scheduler_whose_timers_are_followed_does_the_same_each_time(
    fingerprints: Callable[..., Iterator[str]],
) -> None:
    """Pods that wait, fail, back off and are tried again: one fingerprint."""
    assert len(set(fingerprints(CONTENTION, "kube-scheduler", 2))) == 1


def test_preemption_is_the_same_each_time(fingerprints: Callable[..., Iterator[str]]) -> None:
    assert len(set(fingerprints(PREEMPTION, "kube-scheduler", 2))) == 1


def test_events_of_one_date_are_told_one_by_one(
    batkube: Batkube, platform: Callable[..., Path], workload: Callable[..., Path], built_tool: Callable[[str], Path]
) -> None:
    """Of two pods that come together the first is placed, and then preempted by the second: never a race of the two."""
    jobs = [{"id": name, "subtime": 0, "res": 1, "profile": "p"} for name in ("first", "urgent")]
    jobs[1]["priority"] = 1000
    words = ["-p", platform(1), "-w", workload(jobs, {"p": {"type": "delay", "delay": 50}}), "--enable-compute-sharing"]
    done = batkube(*words, "--scheduler", "kube-scheduler", "--scheduler-binary", built_tool(KUBE_SCHEDULER))
    assert done.exit_code == 0, done.stderr
    if done.run["scheduler"]["clock"] == "real":
        pytest.skip("this machine cannot give programs the simulated clock")
    starts = [event["job"] for event in done.events if event["event"] == "job_started"]
    assert starts == ["w0!first", "w0!urgent"]
    assert done.run["jobs"]["killed"] == 1


def test_first_in_first_out_is_the_same_each_time(fingerprints: Callable[..., Iterator[str]]) -> None:
    over_http = set(fingerprints(CONTENTION, FIFO_OVER_HTTP, 2))
    in_process = set(fingerprints(CONTENTION, "fifo", 2))
    assert len(over_http | in_process) == 1


@pytest.mark.slow
@pytest.mark.parametrize(("scheduler", "urgent"), [("kube-scheduler", 0.2), (FIFO_OVER_HTTP, 0.0)])
def test_forty_hours_of_300_pods_are_the_same_each_time_whatever_the_machine_does(
    two_at_once: Callable[..., list[Outcome]],
    words: Callable[[Contention, str], list[Any]],
    scheduler: str,
    urgent: float,
) -> None:
    """Two at the same time, and beside other tests, all of which take the processors from one another."""
    given = Contention(urgent=urgent)
    one, other = two_at_once(*words(given, scheduler))
    assert fingerprint(one, given) == fingerprint(other, given)


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
    done = batkube("-p", platform(4), "-w", given, "--scheduler-cmd", command)
    assert done.exit_code == 0, done.stderr
    if done.run["scheduler"]["clock"] == "real":
        pytest.skip("this machine cannot take over the waits of programs")
    waits = [float(row["waiting_time"]) for row in done.rows("jobs.csv")]
    assert max(waits) <= 7.5
    assert max(waits) > 0


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
    done = batkube("-p", platform(1), "-w", given, *FIFO_PROGRAM, "--clock", "real")
    assert done.exit_code == 0
    assert done.run["repeatable"] is False
    assert done.run["scheduler"]["clock"] == "real"
    assert done.run["not_repeatable"] == ["the scheduler lives on the real clock"]
    assert "no: the scheduler lives on the real clock" in done.stdout
