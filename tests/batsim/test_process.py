"""Batsim as a process of ours. The standalone simulator takes its place, with the same options."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from batkube.batsim.command_line import BatsimInputs, find_batsim
from batkube.batsim.errors import SimulatorDied, SimulatorError
from batkube.batsim.messages import Message, RejectJob, RejectJobData
from batkube.batsim.process import BatsimProcess
from tests.batsim.stand_in import COMMAND, FirstComeFirstServed, inputs


def files(folder: Path) -> BatsimInputs:
    platform, workload = inputs(folder)
    return BatsimInputs(platform, [workload], folder / "out")


def alive(pid: int) -> bool:
    """Tell whether there is such a process, be it a zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def running(pid: int) -> bool:
    """Tell whether there is such a process, and not just its zombie that whoever adopted it has not noticed yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def started(child: Path) -> int:
    """The process id written to a file, 0 before."""
    return int(child.read_text() or 0) if child.exists() else 0


async def test_a_simulation_runs_to_its_end_and_leaves_its_files(tmp_path: Path) -> None:
    batsim = await BatsimProcess.start(files(tmp_path), command=COMMAND)
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
    batsim = await BatsimProcess.start(files(tmp_path), command=COMMAND)
    await batsim.receive()
    reject = RejectJob(timestamp=0, data=RejectJobData(job_id="w0!nobody"))
    await batsim.send(Message(now=0, events=[reject]))
    with pytest.raises(SimulatorDied) as died:
        await asyncio.wait_for(batsim.receive(), 120)
    assert died.value.exit_code == 1
    assert "exited with code 1 before the simulation ended; its last words: " in str(died.value)
    assert "event 0 (REJECT_JOB): there is no job w0!nobody" in died.value.last_lines
    await batsim.close()


async def test_all_that_it_writes_is_kept_in_a_log(tmp_path: Path) -> None:
    log = tmp_path / "batsim.log"
    script = "import sys; print('on one', flush=True); print('on the other', file=sys.stderr); sys.exit(3)"
    batsim = await BatsimProcess.start(files(tmp_path), command=[sys.executable, "-c", script], log=log)
    with pytest.raises(SimulatorDied, match=r"exited with code 3 .* last words: on one\non the other"):
        await asyncio.wait_for(batsim.receive(), 120)
    await batsim.close()
    assert log.read_text() == "on one\non the other\n"


async def test_a_death_by_signal_is_told_at_once(tmp_path: Path) -> None:
    batsim = await BatsimProcess.start(files(tmp_path), command=COMMAND)
    await batsim.receive()
    os.kill(batsim.pid, signal.SIGKILL)
    await batsim.send(Message(now=0, events=[]))
    with pytest.raises(SimulatorDied, match="was killed by SIGKILL"):
        await asyncio.wait_for(batsim.receive(), 120)
    await batsim.close()


async def test_a_batsim_that_never_calls_is_told(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import sys; sys.exit('much more\\n[root/CRITICAL] no such option')"]
    batsim = await BatsimProcess.start(files(tmp_path), command=command)
    with pytest.raises(SimulatorDied, match=r"exited with code 1 .* last words: \[root/CRITICAL\] no such option"):
        await asyncio.wait_for(batsim.receive(), 120)
    await batsim.close()


async def test_a_batsim_that_says_nothing_for_long_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("batkube.batsim.process.SILENCE", 0.1)
    end = tmp_path / "end"
    command = ["sh", "-c", f"until [ -e {end} ]; do sleep 0.01; done; exit 3"]
    simulator = await BatsimProcess.start(files(tmp_path), command=command)
    receiving = asyncio.ensure_future(simulator.receive())
    async with asyncio.timeout(120):
        while "Batsim has said nothing for 0.1 s" not in caplog.text:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    end.touch()
    with pytest.raises(SimulatorDied, match="exited with code 3"):
        await receiving
    await simulator.close()


async def test_close_ends_it_and_all_it_started(tmp_path: Path) -> None:
    child = tmp_path / "child"
    script = f"""
import pathlib, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
pathlib.Path({str(child)!r}).write_text(str(child.pid))
time.sleep(600)
"""
    batsim = await BatsimProcess.start(files(tmp_path), command=[sys.executable, "-c", script])
    waiting = asyncio.ensure_future(batsim.receive())
    for _ in range(12_000):
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
    for _ in range(12_000):
        if not running(started(child)):
            return
        await asyncio.sleep(0.01)
    pytest.fail("what Batsim had started was left behind")


async def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SimulatorError, match=r"cannot start /no/such/batsim: No such file or directory"):
        await BatsimProcess.start(files(tmp_path), command=["/no/such/batsim"])
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
