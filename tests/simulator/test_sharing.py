"""Tasks that share hosts and links end when they do in a real Batsim."""

import csv
import shutil
from pathlib import Path

import pytest

from tests.simulator.cases.sharing import RECORDED, random_case
from tests.simulator.scripted import GAVE_UP, Recording, play, play_on_batsim, recordings

EXACT = 1e-6
"""Seconds, and part of an execution time."""


def check(recording: Recording, folder: Path) -> None:
    assert recording.exit_code == 0
    simulator, _ = play(recording.case, folder)
    ours = {record.job_id: record for record in simulator.records}
    rows = list(csv.DictReader(recording.outputs["out_jobs.csv"].splitlines()))
    assert len(rows) == len(recording.case.script)
    for row in rows:
        record = ours[row["job_id"]]
        assert record.starting_time is not None
        assert record.finish_time is not None
        execution = record.finish_time - record.starting_time
        assert execution == pytest.approx(float(row["execution_time"]), rel=EXACT, abs=2 * EXACT), row["job_id"]


@pytest.mark.parametrize("recording", recordings("sharing"), ids=lambda recording: recording.case.name)
def test_execution_times_are_batsims(recording: Recording, tmp_path: Path) -> None:
    check(recording, tmp_path)


@pytest.mark.skipif(not shutil.which("batsim"), reason="no batsim on the PATH")
@pytest.mark.parametrize("seed", range(RECORDED, RECORDED + 20))
def test_execution_times_beside_a_real_batsim(seed: int, tmp_path: Path) -> None:
    recording = play_on_batsim(random_case(seed))
    if recording.exit_code == GAVE_UP:
        pytest.skip("SimGrid itself never comes to an end here")
    check(recording, tmp_path)
