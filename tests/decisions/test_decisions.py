"""kube-scheduler decides on batkube as it did on kube-apiserver."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import BuiltTool

from .playing import TieError, play, refuse_ties
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


def test_a_scenario_in_which_chance_decides_is_refused() -> None:
    line = 'I1 schedule_one.go:1] "Calculated node\'s final score for pod" pod="default/p" node="{}" score={}\n'
    first = line.format("n0", 5) + line.format("n1", 6)
    refuse_ties(first + line.format("n0", 7) + line.format("n1", 6))
    with pytest.raises(TieError, match="default/p: n0 and n1 have the same score"):
        refuse_ties(first + line.format("n0", 6) + line.format("n1", 6))
