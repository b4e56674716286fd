"""The scenarios of ``examples/``."""

import json
import os
import sys
from pathlib import Path

import pytest

from tests.conftest import BuiltTool
from tests.run.conftest import Batkube

EXAMPLES = Path(__file__).parents[2] / "examples" / "scenarios"


def test_back_filling_over_seeds(batkube: Batkube) -> None:
    done = batkube(EXAMPLES / "back-filling.yaml", "--seeds", "2")
    assert done.exit_code == 0, done.stderr
    found = json.loads((done.out / "seeds.json").read_text())
    assert [run["status"] for run in found["runs"]] == ["finished"] * 2
    assert found["figures"]["mean_wait"]["deviation"] > 0  # of the jitter


def test_maintenance_of_a_node(batkube: Batkube, monkeypatch: pytest.MonkeyPatch) -> None:
    # As in an active virtual environment: the scenario's programs are `python ...`.
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    done = batkube(EXAMPLES / "maintenance.yaml")
    if not done.run["programs"]:
        pytest.skip("this machine cannot give programs the simulated clock")
    assert done.exit_code == 0, done.stderr
    dates = {event["event"]: event["time"] for event in done.events if event["event"].startswith("program_")}
    assert dates["program_started"] == 300
    assert dates["program_ended"] == pytest.approx(900, abs=0.1)
    bound = [float(row["bound_time"]) for row in done.rows("pods.csv") if row["node"] == "node-1"]
    assert bound
    assert not [date for date in bound if 300 < date < dates["program_ended"]]
    assert done.run["scenario"]["path"].endswith("maintenance.yaml")
    assert done.run["repeatable"], done.run["not_repeatable"]


def test_a_control_plane(
    batkube: Batkube, built_tool: BuiltTool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    for name in ("kube-scheduler", "kube-controller-manager"):
        (tmp_path / "bin" / name).symlink_to(built_tool(f"{name}-1.36.3"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    done = batkube(EXAMPLES / "control-plane.yaml")
    assert done.exit_code == 0, done.stderr
    schedulers = sorted(row["scheduler"] for row in done.rows("pods.csv") if row["phase"] == "Succeeded")
    assert schedulers == ["default-scheduler"] * 4 + ["second"]
    assert done.run["repeatable"], done.run["not_repeatable"]
