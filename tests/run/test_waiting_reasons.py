"""The reasons why pods of whole runs waited: the columns ``wait_*`` of ``pods.csv``, for cases computed by hand."""

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from batkube.results.result import load
from tests.conftest import BuiltTool
from tests.run.conftest import FIFO_PROGRAM, JSON, Batkube, Outcome
from tests.run.test_results import assert_waits_agree

PROFILES = {f"p{seconds}": {"type": "delay", "delay": seconds} for seconds in (30, 60, 100, 300)}
KUBE_SCHEDULER = "kube-scheduler-1.36.3"
Platform = Callable[..., Path]
Workload = Callable[..., Path]


def job(name: str, subtime: float, seconds: int, cpu: float, **more: object) -> JSON:
    return {"id": name, "subtime": subtime, "res": 1, "profile": f"p{seconds}", "cpu": cpu, **more}


def waits(outcome: Outcome) -> dict[str, dict[str, float]]:
    """Return the seconds that each pod waited, by reason. They sum to its wait, and none is negative."""
    assert outcome.exit_code == 0, outcome.stderr
    assert_waits_agree(load(outcome.out))
    found = {}
    for row in outcome.rows("pods.csv"):
        reasons = {name[5:]: float(value) for name, value in row.items() if name.startswith("wait_")}
        assert len(reasons) == 8
        assert min(reasons.values()) >= 0
        assert sum(reasons.values()) == pytest.approx(float(row["waiting_time"]), abs=2e-6)
        found[row["pod"].removeprefix("w0-")] = {name: value for name, value in reasons.items() if value}
    return found


def pick(request: pytest.FixtureRequest, built_tool: BuiltTool, name: str) -> list[object]:
    """Return the options for a scheduler."""
    if name == "fifo-program":
        return list(FIFO_PROGRAM)
    if name == KUBE_SCHEDULER:
        return ["--scheduler", "kube-scheduler", "--scheduler-binary", built_tool(name)]
    return ["--scheduler", name]


@pytest.fixture(params=["fifo", "easy", "fifo-program", KUBE_SCHEDULER])
def any_scheduler(request: pytest.FixtureRequest, built_tool: BuiltTool) -> list[object]:
    return pick(request, built_tool, request.param)


@pytest.fixture(params=["fifo", "easy", "fifo-program"])
def in_order(request: pytest.FixtureRequest, built_tool: BuiltTool) -> list[object]:
    return pick(request, built_tool, request.param)


@pytest.fixture
def kube_scheduler(request: pytest.FixtureRequest, built_tool: BuiltTool) -> list[object]:
    return pick(request, built_tool, KUBE_SCHEDULER)


def test_capacity_and_fragmentation(
    batkube: Batkube, platform: Platform, workload: Workload, any_scheduler: list[object]
) -> None:
    # Two nodes of 4 cores. From 0: 1 core is free on each. c (2 cores) finds 2 in all and no node; it has one when b
    # ends at 60. Then 1 and 2 are free: d (4 cores) finds too few in all until a ends at 100, when n0 is empty.
    jobs = [job("a", 0, 100, 3), job("b", 0, 60, 3), job("c", 10, 300, 2), job("d", 70, 60, 4)]
    outcome = batkube(
        "-p", platform(2, cores=4), "-w", workload(jobs, PROFILES), "--enable-compute-sharing", *any_scheduler
    )
    found = waits(outcome)
    if "kube-scheduler" in any_scheduler:  # it tries again within a second or ten after a place is free
        back_off = {pod: reasons.pop("back_off", 0.0) for pod, reasons in found.items()}
        assert max(back_off.values()) <= 10
    assert found == {"a": {}, "b": {}, "c": {"fragmentation": 50}, "d": {"no_capacity": 30}}


def test_the_turn_of_others(batkube: Batkube, platform: Platform, workload: Workload, in_order: list[object]) -> None:
    # b needs the whole node. c would fit beside a, but b came first, and nobody knows when a ends.
    jobs = [job("a", 0, 100, 3), job("b", 10, 30, 4), job("c", 20, 30, 1)]
    outcome = batkube("-p", platform(1, cores=4), "-w", workload(jobs, PROFILES), "--enable-compute-sharing", *in_order)
    # b runs from 100 to 130: until then nothing is left for c.
    assert waits(outcome) == {"a": {}, "b": {"no_capacity": 90}, "c": {"queue_order": 80, "no_capacity": 30}}


def test_kube_scheduler_backs_off(
    batkube: Batkube, platform: Platform, workload: Workload, kube_scheduler: list[object]
) -> None:
    # b is tried at 100.5 and backs off for a second; a ends within it at 101. Since 1.33 kube-scheduler takes a pod out
    # of back-off when it has nothing else to do, unless it is told not to.
    jobs = [job("a", 1, 100, 4), job("b", 100.5, 30, 4)]
    binary = kube_scheduler[-1]
    command = f"{binary} --kubeconfig {{kubeconfig}} --leader-elect=false --secure-port=0"
    outcome = batkube(
        "-p",
        platform(1, cores=4),
        "-w",
        workload(jobs, PROFILES),
        "--enable-compute-sharing",
        "--scheduler-cmd",
        f"{command} --feature-gates=SchedulerPopFromBackoffQ=false",
    )
    found = waits(outcome)["b"]
    assert found.keys() == {"no_capacity", "back_off"}
    assert found["no_capacity"] == pytest.approx(0.5)
    assert 0.4 <= found["back_off"] <= 2


def test_a_selector_forbids_free_nodes(
    batkube: Batkube, platform: Platform, workload: Workload, any_scheduler: list[object]
) -> None:
    # Only n1 will do, and a has it until 100; n0 is free all the time.
    chosen = {"nodeSelector": {"kubernetes.io/hostname": "node-1"}}
    jobs = [job("a", 0, 100, 4, **chosen), job("b", 10, 30, 4, **chosen)]
    outcome = batkube(
        "-p", platform(2, cores=4), "-w", workload(jobs, PROFILES), "--enable-compute-sharing", *any_scheduler
    )
    found = waits(outcome)["b"]
    assert found.pop("back_off", 0.0) <= (10 if "kube-scheduler" in any_scheduler else 0)
    assert found == {"constraints": 90}


def test_an_anti_affinity_is_told_by_the_scheduler(
    batkube: Batkube, platform: Platform, workload: Workload, kube_scheduler: list[object]
) -> None:
    # b may not be where a is, and there is no other node.
    apart = {
        "topologyKey": "kubernetes.io/hostname",
        "labelSelector": {"matchLabels": {"app": "lonely"}},
    }
    rule = {"spec": {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}}}}
    lonely = {"labels": {"app": "lonely"}, "pod": rule}
    jobs = [job("a", 0, 100, 1, **lonely), job("b", 10, 30, 1, **lonely)]
    outcome = batkube(
        "-p", platform(1, cores=4), "-w", workload(jobs, PROFILES), "--enable-compute-sharing", *kube_scheduler
    )
    found = waits(outcome)["b"]
    assert found.pop("back_off", 0.0) <= 10
    assert found == {"constraints": 90}


def test_a_gang_waits_for_its_last_place(
    batkube: Batkube, platform: Platform, workload: Workload, any_scheduler: list[object]
) -> None:
    # Exclusive hosts: one of two is free until 100. kube-scheduler binds the first pod there at once, the others wait
    # with the gang: the reasons of its first pod are the same, the second finds no free node.
    jobs = [job("a", 0, 100, 1), job("g", 10, 30, 1, res=2)]
    outcome = batkube("-p", platform(2), "-w", workload(jobs, PROFILES), *any_scheduler)
    found = waits(outcome)
    if "kube-scheduler" in any_scheduler:
        second = next(reasons for reasons in (found["g-0"], found["g-1"]) if "no_capacity" in reasons)
        first = next(reasons for reasons in (found["g-0"], found["g-1"]) if reasons is not second)
        assert second["no_capacity"] == 90
        assert second.pop("back_off", 0.0) <= 10
        assert first.keys() == {"gang"}
        assert first["gang"] >= 90
    else:
        assert found["g-0"] == found["g-1"] == {"gang": 90}


def test_a_process_that_takes_its_time_to_start(
    batkube: Batkube, platform: Platform, workload: Workload, any_scheduler: list[object], tmp_path: Path
) -> None:
    startup = tmp_path / "startup.yaml"
    startup.write_text("started: 4\n")
    outcome = batkube(
        "-p", platform(1), "-w", workload([job("a", 0, 30, 1)], PROFILES), "--startup", startup, *any_scheduler
    )
    assert waits(outcome) == {"a": {"startup": 4}}


@pytest.mark.parametrize("seed", range(4))
def test_the_reasons_sum_to_the_wait(
    batkube: Batkube, platform: Platform, workload: Workload, seed: int, any_scheduler: list[object]
) -> None:
    """Each mix has gangs, selectors and odd dates, on exclusive or shared hosts."""
    random = Random(seed)
    cores = random.choice([1, 4])
    jobs = [
        job(
            f"j{number}",
            round(random.uniform(0, 100), random.choice([0, 3, 6])),
            random.choice([30, 60, 100]),
            random.choice([0.3, 1]) if cores == 1 else random.choice([0.7, 1, 2, 3, 4]),
            res=random.choice([1, 1, 1, 2, 3]),
            walltime=random.choice([200, 1000]),
            **({"nodeSelector": {"kubernetes.io/hostname": "node-1"}} if random.random() < 0.2 else {}),
        )
        for number in range(25)
    ]
    for one in jobs:
        if "nodeSelector" in one:
            one["res"] = 1
    sharing = ["--enable-compute-sharing"] if random.random() < 0.6 else []
    outcome = batkube(
        "-p", platform(3, cores=cores), "-w", workload(jobs, PROFILES), *sharing, "--seed", seed, *any_scheduler
    )
    found = waits(outcome)
    assert len(found) >= 25
    assert any(found.values())
