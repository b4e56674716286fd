"""Runs in which deciding takes time."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.run.conftest import Batkube

Arguments = list[Any]


@pytest.fixture
def apart(platform: Callable[..., Path], workload: Callable[..., Path]) -> Arguments:
    """Four jobs, one after another, each with an empty cluster to itself, however slow the machine decides."""
    jobs = [{"id": str(index), "subtime": 100_000 * index, "res": 1, "profile": "p"} for index in range(4)]
    return ["-p", platform(2), "-w", workload(jobs, {"p": {"type": "delay", "delay": 30}})]


@pytest.mark.parametrize(("model", "wait"), [("zero", 0.0), ("3", 3.0)])
def test_a_constant_decision_time_is_exact_and_repeatable(
    batkube: Batkube, apart: Arguments, scheduler: list[str], model: str, wait: float
) -> None:
    prints = set()
    for _ in range(2):
        done = batkube(*apart, *scheduler, "--decision-time", model)
        assert done.exit_code == 0, done.stderr
        assert [float(row["waiting_time"]) for row in done.rows("jobs.csv")] == [wait] * 4
        assert [float(row["execution_time"]) for row in done.rows("jobs.csv")] == [30.0] * 4
        assert done.run["decision_time"] == {
            "model": model, "reactions": 4 if wait else 0, "total": 4 * wait, "longest": wait,
        }  # fmt: skip
        assert not any("decisions" in reason for reason in done.run["not_repeatable"])
        prints.add(done.run["events_sha256"])
    assert len(prints) == 1


def test_a_real_decision_time_shows_and_the_run_says_that_it_is_not_repeatable(
    batkube: Batkube, apart: Arguments, scheduler: list[str]
) -> None:
    done = batkube(*apart, *scheduler, "--decision-time", "real:50")
    assert done.exit_code == 0, done.stderr
    waits = [float(row["waiting_time"]) for row in done.rows("jobs.csv")]
    took = done.run["decision_time"]
    assert min(waits) > 0
    assert (took["model"], took["reactions"]) == ("real:50", 4)
    assert sum(waits) == pytest.approx(took["total"], abs=1e-5)
    assert max(waits) == pytest.approx(took["longest"], abs=1e-5)
    assert done.run["repeatable"] is False
    assert "real:50: 4 reactions took" in done.stdout
    assert "no: decisions take real time" in done.stdout


@pytest.mark.parametrize("nonsense", ["soon", "-1", "real:0"])
def test_nonsense_is_named(batkube: Batkube, apart: Arguments, nonsense: str) -> None:
    done = batkube(*apart, f"--decision-time={nonsense}")
    assert done.exit_code == 2
    assert "--decision-time: expected" in done.stderr
    assert repr(nonsense) in done.stderr
