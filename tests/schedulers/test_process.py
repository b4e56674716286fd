"""A scheduler's process is watched, its end is told well, and nothing of it is left behind."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

import pytest

from batkube.clock.launch import launch
from batkube.schedulers.process import LaunchedProcess, SchedulerError, SchedulerProcess
from tests.waiting import wait_until_async


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


async def on_real_clock(command: Sequence[str], env: Mapping[str, str], output: IO[bytes]) -> LaunchedProcess:
    return await launch(command, env=env, stdout=output)


async def test_output_goes_to_the_log_and_the_end_is_told(tmp_path: Path) -> None:
    program = "import os, sys; print('hello'); print(os.environ['WHO']); sys.exit(3)"
    process = await SchedulerProcess.start(
        "mine",
        [sys.executable, "-c", program],
        log=tmp_path / "log",
        env={"WHO": "the last word"},
        launch=on_real_clock,
    )
    assert await process.wait() == 3
    assert (tmp_path / "log").read_text() == "hello\nthe last word\n"
    assert process.how_it_ended() == "exited with code 3; its last words: the last word"


async def test_a_signal_is_named(tmp_path: Path) -> None:
    process = await SchedulerProcess.start("mine", ["sleep", "60"], log=tmp_path / "log", env={}, launch=on_real_clock)
    os.kill(process.pid, 9)
    await process.wait()
    assert process.how_it_ended() == "was killed by SIGKILL, without a word"


async def test_stop_ends_children_too(tmp_path: Path) -> None:
    process = await SchedulerProcess.start(
        "mine", ["bash", "-c", "sleep 60 & echo $!; wait"], log=tmp_path / "log", env={}, launch=on_real_clock
    )
    log = tmp_path / "log"
    await wait_until_async("the child's start", lambda: log.read_text().endswith("\n"))
    child = int(log.read_text())
    await process.stop()
    await wait_until_async("the child's end", lambda: not alive(child))


async def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SchedulerError, match=r"cannot start the scheduler mine: .*no-such-program"):
        await SchedulerProcess.start("mine", ["/no-such-program"], log=tmp_path / "log", env={}, launch=on_real_clock)
