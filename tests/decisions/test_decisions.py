"""kube-scheduler decides on batkube as it did on kube-apiserver."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import BuiltTool

from .__main__ import RECORDED
from .playing import play
from .scenarios import SCENARIOS, scenario


@pytest.mark.parametrize("number", SCENARIOS)
def test_the_same_pods_go_to_the_same_nodes_for_the_same_reasons(
    number: int, built_tool: BuiltTool, tmp_path: Path
) -> None:
    scheduler = built_tool("kube-scheduler-1.36.3")
    decisions = play(scenario(number), "batkube", scheduler, tmp_path)
    assert decisions == json.loads(RECORDED.read_text())[str(number)]
