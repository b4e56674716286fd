"""The embedded simulator in exact mode beside recordings of a real Batsim, message by message and file by file."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.simulator.cases import coordinates, energy, storage, traces, workflows
from tests.simulator.likeness import check_alike
from tests.simulator.scripted import GAVE_UP, Case, Recording, play_on_batsim, recordings

KINDS = {"coordinates": coordinates, "energy": energy, "storage": storage, "traces": traces, "workflows": workflows}
RECORDED = [recording for kind in KINDS for recording in recordings(kind)]
FRESH = 5
"""Random cases of each kind that are tried where there is a Batsim."""


@pytest.mark.parametrize("recording", RECORDED, ids=lambda recording: recording.case.name)
def test_messages_and_files_are_batsims(recording: Recording, tmp_path: Path) -> None:
    check_alike(recording, tmp_path)


@pytest.mark.skipif(not shutil.which("batsim"), reason="no batsim on the PATH")
@pytest.mark.parametrize("seed", range(100, 100 + FRESH))
@pytest.mark.parametrize("random_case", [kind.random_case for kind in KINDS.values()], ids=list(KINDS))
def test_messages_and_files_beside_a_real_batsim(random_case: Callable[[int], Case], seed: int, tmp_path: Path) -> None:
    recording = play_on_batsim(random_case(seed))
    if recording.exit_code == GAVE_UP:
        pytest.skip("SimGrid itself never comes to an end here")
    check_alike(recording, tmp_path)
