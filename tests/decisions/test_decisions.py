"""kube-scheduler decides on batkube as it did on kube-apiserver."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import BuiltTool

from .playing import play
from .recorded import VERSIONS, read
from .scenarios import SCENARIOS, scenario


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("number", SCENARIOS)
def test_the_same_pods_go_to_the_same_nodes_for_the_same_reasons(
    number: int, version: str, built_tool: BuiltTool, tmp_path: Path
) -> None:
    scheduler = built_tool(f"kube-scheduler-{version}")
    decisions = play(scenario(number), "batkube", scheduler, tmp_path)
    assert decisions == read(version)[str(number)]
