"""Inputs in which much happens at one date, and several programs at once, give the same bytes each time."""

from contextlib import ExitStack
from pathlib import Path

import pytest
from repeat_cases import CASES, Stage

from tests.conftest import BuiltTool
from tests.run.conftest import Batkube


@pytest.mark.parametrize("name", ["gangs-preemption", "victims", "two-schedulers", "controller-manager"])
def test_the_same_bytes(batkube: Batkube, built_tool: BuiltTool, tmp_path: Path, name: str) -> None:
    for tool in ("kube-scheduler-1.36.3", "kube-controller-manager-1.36.3"):
        built_tool(tool)
    with ExitStack() as programs:
        words = CASES[name](Stage(tmp_path, "1.36.3", programs))
        done = batkube(*words, "--repeat", 2, timeout=300)
    if done.run["scheduler"]["clock"] == "real":
        pytest.skip("this machine cannot take over the waits of programs")
    assert done.exit_code == 0, done.stdout + done.stderr
    assert done.run["not_repeatable"] == []
