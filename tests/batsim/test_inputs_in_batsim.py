"""Compare what batkube takes and refuses with a real Batsim 4.2.1 where there is one on PATH."""

import json
import shutil
from pathlib import Path

import pytest

from tests.batsim.recording.kind import workload
from tests.batsim.recording.kinds import GROUPS
from tests.batsim.recording.processes import Fcfs, Process
from tests.batsim.recording.run import Run, record, run_batsim
from tests.batsim.test_platform import HEAD, REFUSED_ZONES, ZONE
from tests.batsim.transcripts import Scenario, scenario
from tests.samples import PLATFORMS, Sample, by_name, samples

pytestmark = pytest.mark.skipif(shutil.which("batsim") is None, reason="there is no batsim on PATH")

ALIKE = (
    "delays",
    "kill_running",
    "sharing_mixed",
    "energy_pstates",
    "external_events_at_end",
    "error_call_in_the_past",
)
"""Kinds to record anew, one of each group or two."""
BATSIM_5 = {"batsim5"}
STRICTER = {"has no host"}
"""The refusals of files that Batsim takes: of one that has nobody but the master."""


@pytest.mark.parametrize("sample", [one for one in samples() if one.path.stem not in BATSIM_5], ids=by_name)
def test_a_sample_runs_in_batsim(sample: Sample, tmp_path: Path) -> None:
    words = ["batsim", "-p", str(sample.platform), "-w", str(sample.path), *sample.events, "-e", "out"]
    run = run_batsim(words, tmp_path, Process(policy=Fcfs(kill_on_failure=True)))
    assert run.exit_code == 0, run.diagnostics
    assert len((tmp_path / "out_jobs.csv").read_text().splitlines()) == sample.jobs + 1


@pytest.mark.parametrize("path", sorted(PLATFORMS.glob("*.xml")), ids=lambda path: path.name)
def test_a_platform_loads_in_batsim(path: Path, tmp_path: Path) -> None:
    run = _load(path, tmp_path)
    assert run.exit_code == 0, run.diagnostics


@pytest.mark.parametrize(("zone", "complaint"), REFUSED_ZONES)
def test_a_platform_that_is_refused_does_not_load_in_batsim(zone: str, complaint: str, tmp_path: Path) -> None:
    master = '<zone id="top" routing="Full"><zone id="m" routing="Full"><host id="master_host" speed="1f"/></zone>'
    (tmp_path / "p.xml").write_text(f"{HEAD}{master}{ZONE.format(zone)}</zone></platform>")
    assert (_load(tmp_path / "p.xml", tmp_path).exit_code == 0) is (complaint in STRICTER)


@pytest.mark.parametrize("name", ALIKE)
def test_batsim_says_today_what_was_recorded(name: str, tmp_path: Path) -> None:
    (kind,) = (kind for kinds in GROUPS.values() for kind in kinds if kind.name == name)
    record(kind, tmp_path / "v4" / kind.name)
    now, then = Scenario(tmp_path / "v4" / kind.name), scenario(f"v4/{kind.name}")
    assert now.dialogue == then.dialogue
    assert now.run == then.run
    assert {path.name for path in now.folder.iterdir()} == {path.name for path in then.folder.iterdir()}


def _load(platform: Path, folder: Path) -> Run:
    """Run Batsim on a platform without any job: it need not find routes."""
    (folder / "w.json").write_text(json.dumps(workload()))
    return run_batsim(["batsim", "-p", str(platform), "-w", "w.json", "-e", "out"], folder, Process())
