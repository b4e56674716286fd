"""The published workloads of 200 equal jobs: makespan and mean wait as arithmetic demands, to the millisecond."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.run.conftest import Batkube

DELAY = 170


@pytest.mark.parametrize(
    ("spacing", "hosts", "makespan", "mean_wait"),
    [
        (10, 16, 2280.0, 57.6),
        (10, 15, 2420.0, 123.5),
        (0, 16, 2210.0, None),
        (0, 15, 2380.0, None),
    ],
)
def test_200_jobs_of_170_seconds(
    batkube: Batkube,
    platform: Callable[..., Path],
    workload: Callable[..., Path],
    scheduler: list[str],
    spacing: int,
    hosts: int,
    makespan: float,
    mean_wait: float | None,
) -> None:
    jobs = [{"id": str(i), "subtime": spacing * i, "res": 1, "profile": "delay"} for i in range(200)]
    profiles = {"delay": {"type": "delay", "delay": DELAY, "cpu": 1, "scheduler": "default"}}
    done = batkube("-p", platform(hosts), "-w", workload(jobs, profiles), *scheduler)
    assert done.exit_code == 0, done.stderr
    assert done.run["makespan"] == pytest.approx(makespan, abs=5e-4)
    rows = done.rows("jobs.csv")
    assert len(rows) == 200
    finished = [float(row["finish_time"]) for row in rows]
    assert max(finished) == pytest.approx(makespan, abs=5e-4)
    waits = [float(row["waiting_time"]) for row in rows]
    if mean_wait is not None:
        assert sum(waits) / 200 == pytest.approx(mean_wait, abs=5e-4)
    assert {row["final_state"] for row in rows} == {"COMPLETED_SUCCESSFULLY"}
    assert done.run["quiescence"]["quiet_period"] == 0
