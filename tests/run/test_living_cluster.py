"""A day of a cluster: servers, a database and jobs by the built-in controllers, an administrator, a zone that fails."""

import os
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from tests.conftest import BuiltTool
from tests.run.conftest import Outcome

SCENARIO = Path(__file__).parents[2] / "examples" / "living-cluster" / "scenario.yaml"
NOON, HOUR = 43_200.0, 3_600.0


@pytest.mark.slow
def test_a_day_of_a_cluster_is_the_same_each_time(
    two_at_once: Callable[..., list[Outcome]], built_tool: BuiltTool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The real kube-scheduler places the pods, and the real kubectl is the administrator's."""
    (tmp_path / "bin").mkdir()
    for name in ("kube-scheduler", "kubectl"):
        (tmp_path / "bin" / name).symlink_to(built_tool(f"{name}-1.36.3"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    one, other = two_at_once(SCENARIO, "--until", "14h")
    assert one.exit_code == 0, one.stderr
    assert one.run["repeatable"], one.run["not_repeatable"]
    assert one.fingerprints == other.fingerprints
    log = (one.out / "administrator.log").read_text()
    for words in ("deployment.apps/web scaled", "node/node-1 drained", "node/node-1 uncordoned", "job.batch/fails "):
        assert words in log
    pods = one.rows("pods.csv")
    web, db, hourly, fails = (
        [pod for pod in pods if pod["pod"].startswith(f"{name}-")] for name in ("web", "db", "hourly", "fails")
    )
    # Four servers, two more, six of the next version; one is moved at the drain; at noon those in the zone.
    assert [float(pod["created_time"]) for pod in web[:12]] == [0.0] * 4 + [600.0] * 2 + [1200.0] * 6
    still = [pod for pod in web if pod["phase"] == "Running"]
    assert len(still) == 6
    assert {pod["node"] for pod in still} <= {"node-1", "node-2"}
    lost = [pod for pod in web if pod["finish_time"] and float(pod["finish_time"]) == NOON]
    assert lost
    assert {pod["node"] for pod in lost} <= {"node-3", "node-4"}
    assert len([pod for pod in web if float(pod["created_time"]) >= NOON]) == len(lost)
    assert sorted(pod["pod"] for pod in db if pod["phase"] == "Running") == ["db-0", "db-1", "db-2"]
    # Each hour at 17 minutes past, ten minutes each.
    assert len(hourly) == 14
    assert all(round(float(pod["created_time"]) % HOUR) == 1020 for pod in hourly)
    assert {pod["turnaround_time"] for pod in hourly} == {"600.000000"}
    # Each 10, 20, 40 seconds after the one before has failed (and a second to take note).
    assert len(fails) == 4
    assert {pod["phase"] for pod in fails} == {"Failed"}
    between = [float(after["created_time"]) - float(before["finish_time"]) for before, after in pairwise(fails)]
    assert between == pytest.approx([10, 20, 40], abs=1)
