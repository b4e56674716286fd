"""Two hundred random experiments on the built-in simulator, which refuses what a real Batsim would abort on."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.mixes.comparison import LATE, own_files
from tests.mixes.demands import faults
from tests.mixes.mix import living_mix, mix
from tests.mixes.outcome import Outcome
from tests.mixes.playing import play_in_process
from tests.mixes.processes import KUBE_SCHEDULER, run

SEEDS = range(1, 201)
AT_ONCE = 20
"""Mixes of one test, so that they can be shared out."""
LIVING = range(1, 10)
STARTING = 94
"""A living mix in which a node is lost while a pod of a client starts there."""
WITH_KUBE_SCHEDULER = (1, 3, 6, 12, 18)
PARTED = (7720, 7803)
"""Mixes of which one of some runs was another one, before what was wrong was mended: a pod that has its node, and does
not start yet (7720: the decision takes time; 7803: an outage is near), is a victim before."""


@pytest.mark.parametrize("first", SEEDS[::AT_ONCE])
def test_every_job_ends_once_and_as_its_mix_demands(first: int, tmp_path: Path) -> None:
    found = []
    for seed in range(first, first + AT_ONCE):
        made = mix(seed)
        folder = tmp_path / str(seed)
        outcome = play_in_process(made, made.write(folder), folder, exact=True)
        assert outcome.error is None, f"mix {seed}: {outcome.error}"
        by_simulator = Outcome(outcome.own)
        found += [f"mix {seed}: {fault}" for fault in faults(made, by_simulator) + own_files(outcome, LATE)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("seed", [*LIVING, STARTING])
def test_whatever_clients_and_machines_do_nothing_is_lost(seed: int, tmp_path: Path) -> None:
    made = living_mix(seed)
    outcome = play_in_process(made, made.write(tmp_path), tmp_path, exact=True)
    assert outcome.error is None
    found = faults(made, Outcome(outcome.own)) + own_files(outcome, LATE)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("seed", WITH_KUBE_SCHEDULER)
def test_the_same_with_kube_scheduler(seed: int, tmp_path: Path, built_tool: Callable[[str], Path]) -> None:
    built_tool(KUBE_SCHEDULER)
    made = mix(seed)
    files = made.write(tmp_path / "inputs")
    outcome = run(made, files, tmp_path / "out", scheduler="kube-scheduler", batsim=None, timeout=900)
    assert not faults(made, outcome, preempting=True, within=LATE)


@pytest.mark.parametrize("seed", PARTED)
def test_what_parted_once_is_the_same_each_time(seed: int, tmp_path: Path, built_tool: Callable[[str], Path]) -> None:
    built_tool(KUBE_SCHEDULER)
    made = mix(seed)
    files = made.write(tmp_path / "inputs")
    prints = set()
    for number in range(3):
        out = tmp_path / str(number)
        run(made, files, out, scheduler="kube-scheduler", batsim=None, timeout=900)
        told = json.loads((out / "run.json").read_text())
        assert told["repeatable"]
        prints.add((told["events_sha256"], told["jobs_sha256"]))
    assert len(prints) == 1
