"""Batsim's own result files: found, read, and their dates taken."""

import asyncio
import re
from pathlib import Path

import pytest

from batkube.batsim import afterwards, process
from batkube.batsim.afterwards import Afterwards
from batkube.batsim.command_line import BatsimInputs
from batkube.batsim.outputs import JobRecord, write_jobs_csv, write_schedule_csv
from batkube.batsim.own_results import Contradiction, OwnResultsError, dated_by, read_jobs_csv
from batkube.batsim.process import BatsimProcess
from batkube.batsim.result_files import ResultFiles
from tests.batsim.real import REAL, needs_batsim
from tests.batsim.stand_in import COMMAND, FirstComeFirstServed, inputs

HEADER = (
    "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state,"
    "starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,consumed_energy,"
    "metadata\n"
)
RAN = (
    "b,w0,d,3.000000,1,-1.000000,1,COMPLETED_SUCCESSFULLY,3.000045,10.000001,13.000047,0.000045,10.000046,1.000005,1,"
    '-1.000000,""\n'
)
REFUSED = 'a,w0,d,1.000000,9,-1.000000,0,REJECTED,,,,,,,,,""\n'


def record(name: str, state: str = "COMPLETED_SUCCESSFULLY") -> JobRecord:
    ran = state != "REJECTED"
    start, end = (3.1, 13.1) if ran else (None, None)
    return JobRecord(
        name, "w0", "d", 3.0, 1, None, state == "COMPLETED_SUCCESSFULLY", state, start, end, "1" if ran else ""
    )


def files(folder: Path, *rows: str) -> Path:
    path = folder / "out_jobs.csv"
    path.write_text(HEADER + "".join(rows))
    write_schedule_csv(folder / "out_schedule.csv", [], nb_machines=1)
    return path


def test_rows_have_batsims_own_digits(tmp_path: Path) -> None:
    own = read_jobs_csv(files(tmp_path, RAN, REFUSED))
    records = dated_by([record("a", "REJECTED"), record("b")], own)
    write_jobs_csv(tmp_path / "jobs.csv", records)
    assert (tmp_path / "jobs.csv").read_text().splitlines()[1] == RAN.strip()
    assert [one.job_id for one in records] == ["b", "a"]
    assert (records[0].starting_time, records[0].finish_time) == (3.000045, 13.000047)


def test_a_job_that_the_file_lacks_keeps_the_dates_of_the_messages(tmp_path: Path) -> None:
    records = dated_by([record("c"), record("b")], read_jobs_csv(files(tmp_path, RAN)))
    assert [(one.job_id, one.starting_time) for one in records] == [("b", 3.000045), ("c", 3.1)]


async def test_totals_that_cannot_be_read_leave_the_dates(tmp_path: Path) -> None:
    files(tmp_path, RAN)
    (tmp_path / "out_schedule.csv").write_text("makespan\n1\n")
    taken = await Afterwards(ResultFiles(tmp_path)).take(tmp_path)
    assert taken.jobs is not None
    assert "Batsim's own totals cannot be used" in taken.warnings[0]


def test_what_contradicts_is_refused(tmp_path: Path) -> None:
    own = read_jobs_csv(files(tmp_path, RAN))
    with pytest.raises(Contradiction, match=r"has job w0!b .* of whose end it has told nothing"):
        dated_by([], own)
    with pytest.raises(
        Contradiction, match="job w0!b: Batsim's file has COMPLETED_SUCCESSFULLY, its messages COMPLETED_F"
    ):
        dated_by([record("b", "COMPLETED_FAILED")], own)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "has no column job_id"),
        (HEADER.replace("starting_time", "start"), "has no column starting_time"),
        (HEADER + RAN[:60], "line 2: is cut short"),
        (HEADER + RAN.replace("3.000045", "soon"), "line 2: could not convert"),
        (HEADER + RAN.replace("3.000045", "nan"), "line 2: starting_time: is nan"),
        ("\udcff", "can't decode"),
    ],
)
def test_a_broken_file_is_named(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "out_jobs.csv"
    path.write_bytes(content.encode(errors="surrogateescape"))
    with pytest.raises(OwnResultsError, match=f"{path}.*{words}"):
        read_jobs_csv(path)


def test_files_are_found_by_folder_or_prefix(tmp_path: Path) -> None:
    files(tmp_path, RAN)
    for export in (tmp_path, tmp_path / "out"):
        assert ResultFiles(export).prefix == str(tmp_path / "out_")
        assert sorted(ResultFiles(export).all()) == ["jobs.csv", "schedule.csv"]
    assert ResultFiles(tmp_path / "other").prefix is None
    five = tmp_path / "five"
    five.mkdir()
    (five / "jobs.csv").write_text(HEADER)
    (five / "schedule.json").write_text("{")
    assert ResultFiles(five).prefix is None
    (five / "schedule.json").write_text("{}")
    assert ResultFiles(five).prefix == f"{five}/"


def test_files_of_an_earlier_simulation_and_half_written_ones_do_not_count(tmp_path: Path) -> None:
    files(tmp_path, RAN)
    summary = tmp_path / "out_schedule.csv"
    assert ResultFiles(tmp_path, since=summary.stat().st_mtime + 1).prefix is None
    summary.write_text("makespan\n1")
    assert ResultFiles(tmp_path).prefix is None


async def test_a_batsim_by_hand_is_waited_for(tmp_path: Path) -> None:
    out = tmp_path / "ours"
    out.mkdir()
    waiting = asyncio.ensure_future(Afterwards(ResultFiles(tmp_path)).take(out))
    await asyncio.sleep(0.1)
    files(tmp_path, RAN)
    taken = await waiting
    assert taken.jobs is not None
    assert list(taken.jobs) == [("w0", "b")]
    assert sorted(path.name for path in out.iterdir()) == ["batsim_jobs.csv", "batsim_schedule.csv"]
    assert taken.warnings == []


async def test_what_is_missing_or_broken_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(afterwards, "FILES_TIMEOUT", 0.05)
    taken = await Afterwards(ResultFiles(tmp_path)).take(tmp_path)
    assert taken.jobs is None
    assert f"({tmp_path}/out_jobs.csv): dates are those of its messages" in taken.warnings[0]
    files(tmp_path, RAN[:60])
    taken = await Afterwards(ResultFiles(tmp_path)).take(tmp_path)
    assert taken.jobs is None
    assert "line 2: is cut short" in taken.warnings[0]
    monkeypatch.setattr(afterwards, "FILES_TIMEOUT", 60)
    given_up = asyncio.Event()
    given_up.set()
    assert (await Afterwards(ResultFiles(tmp_path / "no")).take(tmp_path, given_up)).jobs is None


@pytest.mark.parametrize("command", [COMMAND, pytest.param((str(REAL),), marks=needs_batsim)])
async def test_a_batsim_of_ours(tmp_path: Path, command: tuple[str, ...]) -> None:
    platform, workload = inputs(tmp_path)
    given = BatsimInputs(platform, [workload], tmp_path / "batsim")
    batsim = await BatsimProcess.start(given, command=command, log=tmp_path / "batsim.log")
    await FirstComeFirstServed().play(batsim)
    taken = await Afterwards(ResultFiles(tmp_path / "batsim"), batsim).take(tmp_path)
    await batsim.close()
    assert taken.warnings == []
    assert taken.jobs is not None
    assert sorted(taken.jobs) == [("w0", "j0"), ("w0", "j1"), ("w0", "j2")]


@pytest.mark.parametrize(
    ("last_act", "words"),
    [
        (
            "sys.exit('[root/CRITICAL] no room on the disk')",
            "exited with code 1 after the simulation; .*disk",
        ),
        ("time.sleep(600)", "did not end within 0.2 s after the simulation, and was stopped"),
    ],
)
async def test_a_bad_end_after_the_simulation_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last_act: str, words: str
) -> None:
    monkeypatch.setattr(process, "FAREWELL", 0.2 if "sleep" in last_act else 30.0)
    script = tmp_path / "batsim.py"
    script.write_text(f"import sys, time\nfrom batkube.simulator.standalone.batsim4 import main\nmain()\n{last_act}\n")
    platform, workload = inputs(tmp_path)
    given = BatsimInputs(platform, [workload], tmp_path / "batsim")
    batsim = await BatsimProcess.start(given, command=[COMMAND[0], str(script)])
    await FirstComeFirstServed().play(batsim)
    complaint = await batsim.finish()
    await batsim.close()
    assert complaint is not None
    assert re.search(words, complaint), complaint
    assert batsim.exit_code is not None
