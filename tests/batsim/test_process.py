"""Batsim as a process of ours. The stand-in takes its place, with the same options."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from batkube.batsim.errors import SimulatorDied, SimulatorError
from batkube.batsim.messages import Message, RejectJob, RejectJobData
from batkube.batsim.process import BatsimOptions, BatsimProcess, find_batsim
from tests.batsim.stand_in import COMMAND, FirstComeFirstServed, inputs


def options(folder: Path) -> BatsimOptions:
    platform, workload = inputs(folder)
    return BatsimOptions(platform, [workload], folder / "out")


def alive(pid: int) -> bool:
    """Whether there is such a process, be it a zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def running(pid: int) -> bool:
    """Whether there is such a process, and not just its zombie that whoever adopted it has not noticed yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def started(child: Path) -> int:
    """The process id written to a file, 0 before."""
    return int(child.read_text() or 0) if child.exists() else 0


def test_the_command_line_is_batsims(tmp_path: Path) -> None:
    told = BatsimOptions(
        Path("/p.xml"),
        [Path("/w.json"), Path("/x.json")],
        Path("/results/out"),
        external_events=[Path("/e.txt")],
        master_host="m",
        roles=["a,b:storage"],
        compute_sharing=True,
        dynamic_jobs=True,
        acknowledge_dynamic_jobs=True,
        profile_reuse=True,
        forward_profiles=True,
        forward_unknown_events=True,
        mmax=3,
        further=["--sched-cfg", "x"],
    )
    assert told.arguments("tcp://127.0.0.1:5") == [
        *("-p", "/p.xml", "-w", "/w.json", "-w", "/x.json", "--events", "/e.txt", "-e", "/results/out"),
        *("-s", "tcp://127.0.0.1:5", "-m", "m", "-r", "a,b:storage", "--mmax", "3"),
        *("--enable-compute-sharing", "--enable-dynamic-jobs", "--acknowledge-dynamic-jobs", "--enable-profile-reuse"),
        *("--forward-profiles-on-submission", "--forward-unknown-events", "--sched-cfg", "x"),
    ]


async def test_a_simulation_runs_to_its_end_and_leaves_its_files(tmp_path: Path) -> None:
    batsim = await BatsimProcess.start(options(tmp_path), command=COMMAND)
    await FirstComeFirstServed().play(batsim)
    with pytest.raises(SimulatorError, match="the simulation is over"):
        await batsim.receive()
    await batsim.close()
    assert batsim.exit_code == 0
    assert not alive(batsim.pid)
    rows = (tmp_path / "out_jobs.csv").read_text().splitlines()
    assert [row.split(",")[0] for row in rows] == ["job_id", "j0", "j1", "j2"]
    assert (tmp_path / "out_schedule.csv").exists()


async def test_a_refusal_is_told_with_exit_code_and_last_words(tmp_path: Path) -> None:
    batsim = await BatsimProcess.start(options(tmp_path), command=COMMAND)
    await batsim.receive()
    reject = RejectJob(timestamp=0, data=RejectJobData(job_id="w0!nobody"))
    await batsim.send(Message(now=0, events=[reject]))
    with pytest.raises(SimulatorDied) as died:
        await asyncio.wait_for(batsim.receive(), 30)
    assert died.value.exit_code == 1
    assert "exited with code 1 before the simulation ended; its last words: " in str(died.value)
    assert "event 0 (REJECT_JOB): there is no job w0!nobody" in died.value.last_lines
    await batsim.close()


async def test_a_death_by_signal_is_told_at_once(tmp_path: Path) -> None:
    batsim = await BatsimProcess.start(options(tmp_path), command=COMMAND)
    await batsim.receive()
    os.kill(batsim.pid, signal.SIGKILL)
    await batsim.send(Message(now=0, events=[]))
    with pytest.raises(SimulatorDied, match="was killed by SIGKILL"):
        await asyncio.wait_for(batsim.receive(), 30)
    await batsim.close()


async def test_a_batsim_that_never_calls_is_told(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import sys; sys.exit('[root/CRITICAL] no such option')"]
    batsim = await BatsimProcess.start(options(tmp_path), command=command)
    with pytest.raises(SimulatorDied, match=r"exited with code 1 .* last words: \[root/CRITICAL\] no such option"):
        await asyncio.wait_for(batsim.receive(), 30)
    await batsim.close()


async def test_close_ends_it_and_all_it_started(tmp_path: Path) -> None:
    child = tmp_path / "child"
    script = f"""
import pathlib, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
pathlib.Path({str(child)!r}).write_text(str(child.pid))
time.sleep(600)
"""
    batsim = await BatsimProcess.start(options(tmp_path), command=[sys.executable, "-c", script])
    waiting = asyncio.ensure_future(batsim.receive())
    for _ in range(3000):
        if started(child):
            break
        await asyncio.sleep(0.01)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    closing = asyncio.ensure_future(batsim.close())
    await asyncio.sleep(0)
    closing.cancel()  # even when we are in a hurry ourselves
    with pytest.raises(asyncio.CancelledError):
        await closing
    assert not alive(batsim.pid)
    for _ in range(3000):
        if not running(started(child)):
            return
        await asyncio.sleep(0.01)
    pytest.fail("what Batsim had started was left behind")


async def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SimulatorError, match=r"cannot start /no/such/batsim: No such file or directory"):
        await BatsimProcess.start(options(tmp_path), command=["/no/such/batsim"])
    with pytest.raises(SimulatorError, match="/no/such/batsim is no program"):
        find_batsim(Path("/no/such/batsim"))


def test_batsim_is_found_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SimulatorError, match="there is no batsim on PATH"):
        find_batsim()
    program = tmp_path / "batsim"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert find_batsim() == program
