"""Random clusters whose jobs are disrupted: each job is done once, and all its work accounted for."""

from pathlib import Path

import pytest

from tests.conftest import BuiltTool
from tests.mixes.conservation import draw, faults
from tests.mixes.processes import KUBE_SCHEDULER


@pytest.mark.parametrize("seed", [14, 16, 18])
def test_all_work_is_accounted_for(tmp_path: Path, built_tool: BuiltTool, seed: int) -> None:
    built_tool(KUBE_SCHEDULER)
    assert faults(draw(seed, tmp_path / "inputs"), tmp_path / "out", timeout=600) == []
