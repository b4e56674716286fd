"""Scenarios end with the controllers that are built in as with the real kube-controller-manager, second by second."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ..conftest import BuiltTool
from .comparing import differences
from .playing import play
from .recording import MANAGER, RECORDED, record, recorded
from .scenario import names

RECORDED_ANEW = ("job-backoff", "deployment-one-by-one", "daemonset-nodes")
"""The scenarios that are played beside the real one again, each at the cost of its start."""
OTHERWISE: dict[str, str] = {}
"""By the beginnings of their names, the scenarios that end otherwise, and why."""


def _why_otherwise(name: str) -> str | None:
    return next((why for prefix, why in OTHERWISE.items() if name.startswith(prefix)), None)


def test_each_scenario_is_recorded() -> None:
    assert names() == sorted(path.stem for path in RECORDED.glob("*.json"))


@pytest.mark.parametrize("name", names())
def test_it_is_as_with_kube_controller_manager(name: str, tmp_path: Path) -> None:
    found = differences(recorded(name), asyncio.run(play(name, tmp_path)))
    if why := _why_otherwise(name):
        assert found, f"{name} is equal now: take it out of OTHERWISE"
        pytest.xfail(why)
    assert not found, "\n".join(found)


@pytest.mark.slow
@pytest.mark.parametrize("name", RECORDED_ANEW)
def test_a_recording_is_what_the_real_one_does(name: str, built_tool: BuiltTool, tmp_path: Path) -> None:
    assert not differences(recorded(name), record(name, built_tool(MANAGER), tmp_path))
