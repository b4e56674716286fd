"""``batkube run --seeds`` and ``--jitter``: several runs of one kind, each as if it were alone."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from batkube.batsim.workload import read_workload
from batkube.bridge.errors import InputError
from batkube.commands.seeds import at_once, summed_up
from batkube.comparison.sides import Side
from batkube.session.jitter import jittered
from batkube.settings import Clock, RunSettings

from .conftest import Batkube

PROFILES = {"p": {"type": "delay", "delay": 10}}


@pytest.fixture
def sample(platform: Callable[..., Path], workload: Callable[..., Path]) -> list[object]:
    """Five jobs for two hosts."""
    jobs = [{"id": str(index), "subtime": index, "res": 1, "profile": "p"} for index in range(5)]
    return ["-p", platform(2), "-w", workload(jobs, PROFILES)]


def test_each_seed_has_the_results_that_it_has_alone(batkube: Batkube, sample: list[object]) -> None:
    done = batkube(*sample, "--seeds", 2, "--seed", 3, "--jitter", 5)
    assert done.exit_code == 0, done.stderr
    assert list(Side.of(done.out).runs) == ["3", "4"]
    found = json.loads((done.out / "seeds.json").read_text())
    assert [run["seed"] for run in found["runs"]] == [3, 4]
    assert found["figures"]["mean_wait"]["runs"] == 2
    assert "mean_wait" in done.stdout
    kept = done.out.rename(done.out.with_name("kept"))
    alone = batkube(*sample, "--seed", 4, "--jitter", 5)
    assert (alone.out / "jobs.csv").read_bytes() == (kept / "4" / "jobs.csv").read_bytes()
    assert (alone.out / "jobs.csv").read_bytes() != (kept / "3" / "jobs.csv").read_bytes()
    later = {row["job_id"]: float(row["submission_time"]) - int(row["job_id"]) for row in alone.rows("jobs.csv")}
    assert len(set(later.values())) == 5
    assert all(0 < late < 5 for late in later.values())
    # The results of this run would be taken for one of the seeds'.
    refused = batkube(*sample, "--seeds", 2)
    assert refused.exit_code == 2
    assert refused.stderr == (f"batkube: {alone.out}: results of another run, which would be taken for one of these\n")


def test_bad_input_is_told_once(batkube: Batkube, platform: Callable[..., Path], tmp_path: Path) -> None:
    done = batkube("-p", platform(2), "-w", tmp_path / "nowhere.json", "--seeds", 3)
    assert done.exit_code == 2
    assert done.stderr == f"batkube: {tmp_path / 'nowhere.json'}: No such file or directory\n"


def test_runs_go_one_by_one_where_real_time_decides() -> None:
    given = {"platform": Path("p.xml"), "workloads": (Path("w.json"),)}
    assert at_once(RunSettings(**given), 1) == 1
    assert at_once(RunSettings(**given, scheduler_command="x", clock=Clock.REAL), 8) == 1
    assert at_once(RunSettings(**given, simulator="tcp://127.0.0.1:1"), 8) == 1


def test_runs_that_left_nothing_are_not_counted(tmp_path: Path) -> None:
    settings = RunSettings(platform=Path("p.xml"), workloads=(Path("w.json"),), out=tmp_path / "0")
    assert summed_up([settings]).runs == []


def test_workloads_with_traces_have_to_stay_where_they_are() -> None:
    path = Path(__file__).parents[2] / "workloads" / "usage-trace.json"
    with pytest.raises(InputError, match="a workload with traces must stay where it is"):
        jittered(read_workload(path), path, seed=0, most=1)
