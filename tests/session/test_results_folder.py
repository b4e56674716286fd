"""The folder of results: one run at a time, nothing of others, nothing of an earlier run, and never half a file."""

import errno
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from batkube.commands import run
from batkube.results.frames import TABLES
from batkube.results.run import Run
from batkube.session import result_files
from batkube.session.results_folder import held
from batkube.settings import RunSettings

PLATFORM = Path(__file__).parents[2] / "platforms" / "small-cluster.xml"

Play = Callable[..., int]


@pytest.fixture
def workload(tmp_path: Path) -> Path:
    """Four jobs, of which one needs more hosts than there are, and one runs longer than it may."""
    path = tmp_path / "w.json"
    jobs = [
        {"id": "good", "subtime": 0, "res": 1, "profile": "p"},
        {"id": "also", "subtime": 5, "res": 1, "profile": "p"},
        {"id": "wide", "subtime": 0, "res": 100, "profile": "p"},
        {"id": "slow", "subtime": 0, "res": 1, "profile": "p", "walltime": 3},
    ]
    path.write_text(json.dumps({"nb_res": 16, "jobs": jobs, "profiles": {"p": {"type": "delay", "delay": 10}}}))
    return path


@pytest.fixture
def play(tmp_path: Path, workload: Path) -> Play:
    """Play a run in this process; its exit code."""

    def played(**settings: Any) -> int:
        given = {"platform": PLATFORM, "workloads": (workload,), "out": tmp_path / "out", **settings}
        return run.main(RunSettings(**given), verbosity=-1)

    return played


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Let the disk be full when a file of results is written."""

    def at(name: str) -> None:
        def write(path: Path, ended: object) -> None:
            path.write_text("half a li")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setitem(result_files.RESULT_FILES, name, write)

    return at


def test_a_folder_that_another_run_uses(play: Play, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with held(tmp_path / "out"):
        assert play() == 2
    assert f"--out {tmp_path / 'out'}: another run writes its results there" in capsys.readouterr().err
    assert list((tmp_path / "out").iterdir()) == []
    assert play() == 0


def test_a_folder_with_files_of_others(play: Play, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = tmp_path / "out" / "thesis.txt"
    mine.parent.mkdir()
    mine.write_text("all of it")
    assert play() == 2
    said = capsys.readouterr().err
    assert "holds thesis.txt" in said
    assert "--force" in said
    assert [path.name for path in mine.parent.iterdir()] == ["thesis.txt"]
    assert play(force=True) == 0
    assert play() == 0, "the folder is ours by now"
    assert mine.read_text() == "all of it"


def test_what_an_earlier_run_left_is_gone(play: Play, tmp_path: Path, workload: Path) -> None:
    out = tmp_path / "out"
    assert play() == 0
    stale = [
        out / name
        for name in ("error.txt", "repeat.json", "seeds.json", "scheduler.log", "batsim.log", "batsim_old.csv")
    ]
    stale += [out / "2" / "run.json", out / "3" / "run.json"]
    kept = [out / "notes.txt", out / "4" / "notes.txt", out / "kubeconfig.mine"]
    for path in (*stale, *kept):
        path.parent.mkdir(exist_ok=True)
        path.write_text("{}")
    given = out / "batsim_input.json"
    given.write_bytes(workload.read_bytes())
    assert play(workloads=(given,)) == 0
    assert [path for path in stale if path.exists()] == []
    assert all(path.exists() for path in (*kept, given))


def test_the_document_has_all_files_and_their_columns() -> None:
    text = (Path(__file__).parents[2] / "docs" / "results.md").read_text()
    assert [name for name in (*result_files.RESULT_FILES, *result_files.WITH_THE_SERIES) if name not in text] == []
    batsims = {"jobs"}  # its format is described elsewhere
    columns = {column for name, table in TABLES.items() if name not in batsims for column in table.names}
    assert [column for column in sorted(columns) if f"`{column}`" not in text] == []


@pytest.mark.parametrize("name", ["jobs.csv", "schedule.csv", "pods.csv", "series.csv"])
def test_a_full_disk_is_told_by_the_file(
    play: Play, full: Callable[[str], None], tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    full(name)
    assert play() == 1
    out = tmp_path / "out"
    record = Run.read(out / "run.json")
    assert (record.status, record.exit_code) == ("failed", 1)
    assert record.reason is not None
    assert str(out / name) in record.reason
    assert "No space left on device" in record.reason
    assert record.reason in capsys.readouterr().err
    assert not (out / name).exists()
    assert not list(out.glob("*.part"))
    assert len((out / "events.jsonl").read_text().splitlines()) == record.events


@pytest.mark.parametrize("limit", [1500, 4000])
def test_no_room_for_what_is_written_as_the_run_goes_on(tmp_path: Path, limit: int) -> None:
    """No file may grow beyond a limit, which a user meets as on a full disk."""
    jobs = [{"id": str(index), "subtime": index, "res": 1, "profile": "p"} for index in range(100)]
    given = {"nb_res": 16, "jobs": jobs, "profiles": {"p": {"type": "delay", "delay": 10}}}
    (tmp_path / "w.json").write_text(json.dumps(given))
    words = ["-q", "-p", str(PLATFORM), "-w", "w.json", "-o", "out"]
    done = subprocess.run(
        [sys.executable, "-m", "batkube", "run", *words],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        # Bytecode would be cut off as well, and Python would take what is left of it for the modules.
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        timeout=120,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    assert done.returncode in (1, 2)
    assert "File too large" in done.stderr
    assert "out/" in done.stderr
    assert "fault" not in done.stderr
    record = tmp_path / "out" / "run.json"
    assert not record.exists() or json.loads(record.read_text())["status"] == "failed"


def test_jobs_without_an_end_of_their_own_are_told_last(play: Play, capsys: pytest.CaptureFixture[str]) -> None:
    assert play() == 0
    assert capsys.readouterr().err.splitlines()[-1] == "batkube: of 4 jobs 1 rejected"
    assert play(strict=True) == 1
    assert capsys.readouterr().err.splitlines()[-1] == "batkube: of 4 jobs 1 rejected"


def test_strict_says_nothing_against_a_run_in_order(
    play: Play, workload: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = json.loads(workload.read_text())
    content["jobs"] = [job for job in content["jobs"] if job["id"] in ("good", "also")]
    workload.write_text(json.dumps(content))
    assert play(strict=True) == 0
    assert capsys.readouterr().err == ""


def test_the_summary_says_how_many_jobs_a_figure_is_over(
    tmp_path: Path, workload: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    settings = RunSettings(platform=PLATFORM, workloads=(workload,), out=tmp_path / "out")
    assert run.main(settings) == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if "makespan" in line or "mean waiting time" in line]
    assert len(rows) == 2
    assert all("over the 3 of 4 jobs that ran" in row for row in rows)


def test_a_scheduler_of_several_names(play: Play, tmp_path: Path, workload: Path) -> None:
    content = json.loads(workload.read_text())
    content["jobs"] = [{**job, "scheduler": "second"} if job["id"] == "also" else job for job in content["jobs"]]
    workload.write_text(json.dumps(content))
    assert play(scheduler_names=("first", "second")) == 0
    record = Run.read(tmp_path / "out" / "run.json")
    assert record.scheduler.names == ["first", "second"]
    assert record.unserved == {}
    assert record.jobs.succeeded == 2
    assert play(scheduler_names=("first",)) == 1
    assert Run.read(tmp_path / "out" / "run.json").unserved == {"second": ["w0!also"]}
