"""Programs beside the scheduler: how they are written down, and when they are started again."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

import pytest

from batkube.clock.launch import launch
from batkube.schedulers.command_line import words_of
from batkube.schedulers.process import LaunchedProcess
from batkube.schedulers.program_settings import ProgramSettings, Restart, read_program
from batkube.schedulers.programs import Ended, Program, ProgramFailed, Programs


def test_a_program_in_a_line() -> None:
    assert read_program("probe=curl {server}/healthz?a=b") == ProgramSettings(
        name="probe", command="curl {server}/healthz?a=b"
    )
    assert read_program("probe:on-failure=sh probe.sh").restart is Restart.ON_FAILURE


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("sh probe.sh", "expected NAME=COMMAND"),
        ("=sh probe.sh", "expected NAME=COMMAND"),
        ("probe:sometimes=sh", "'sometimes' is none of never, on-failure, always"),
        ("probe=", "no program named"),
        ("probe=sh 'x", "No closing quotation"),
        ("scheduler=sh", "scheduler.log is another's"),
    ],
)
def test_what_is_no_program(given: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read_program(given)


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no program .*/bin/mine on this machine"):
        words_of("bin/mine --fast", tmp_path)


class Stage:
    """One program on a clock that the test sets; it ends at once, each time."""

    def __init__(self, folder: Path, code: int, restart: Restart) -> None:
        self.now = 0.0
        self.observed: list[int] = []
        self.ended: list[Ended] = []
        self.which: list[str] = []
        command = [sys.executable, "-c", f"print('run'); raise SystemExit({code})"]
        self.program = Program("mine", command, restart, folder / "mine.log")
        self.programs = Programs(
            [self.program], {}, self._launch, lambda: self.now, self.observed.append, self.observed.remove
        )
        self.programs.on_end = self.ended.append

    async def _launch(
        self, command: Sequence[str], env: Mapping[str, str], output: IO[bytes], folder: Path | None, which: str
    ) -> LaunchedProcess:
        self.which.append(which)
        return await launch(command, env=env, stdout=output, cwd=folder)

    async def ends(self) -> None:
        """Wait for its end, and let that be noted."""
        assert self.program.process is not None
        await self.program.process.wait()
        assert await self.programs.take_note()


async def test_it_is_started_again_at_once_and_then_after_longer_and_longer_waits(tmp_path: Path) -> None:
    stage = Stage(tmp_path, 3, Restart.ON_FAILURE)
    await stage.programs.start_next()
    assert not await stage.programs.start_due()
    await stage.ends()
    waits = [stage.ended[-1].again_in]
    for _ in range(6):
        await stage.ends()
        waits.append(stage.ended[-1].again_in)
        due = stage.programs.next_date
        assert due is not None
        assert not await stage.programs.start_due()
        stage.now = due
        assert await stage.programs.start_due()
    assert waits == [0, 10, 20, 40, 80, 160, 300]
    stage.now += 600
    await stage.ends()
    assert stage.ended[-1].again_in == 0  # it has run for ten minutes
    await stage.programs.stop()
    assert stage.which == [f"mine/{number}" for number in range(1, 10)]
    assert (tmp_path / "mine.log").read_text().startswith("run\n" * 8)
    assert stage.ended[0].how == "exited with code 3; its last words: run"
    assert len(stage.observed) == 1  # the last


@pytest.mark.parametrize("restart", [Restart.NEVER, Restart.ON_FAILURE])
async def test_one_that_has_done_its_work_is_left_alone(tmp_path: Path, restart: Restart) -> None:
    stage = Stage(tmp_path, 0, restart)
    await stage.programs.start_next()
    await stage.ends()
    assert stage.programs.next_date is None
    assert not await stage.programs.take_note()
    assert stage.observed == []


async def test_an_error_is_the_end_of_the_run_where_nobody_wants_another_start(tmp_path: Path) -> None:
    stage = Stage(tmp_path, 3, Restart.NEVER)
    await stage.programs.start_next()
    with pytest.raises(ProgramFailed, match=r"the program mine exited with code 3; its last words: run\. What it"):
        await stage.ends()


async def test_one_with_a_date_is_started_then(tmp_path: Path) -> None:
    stage = Stage(tmp_path, 0, Restart.NEVER)
    stage.program.due = 90.0
    await stage.programs.start_next()
    assert stage.which == []
    stage.now = 90.0
    assert await stage.programs.start_due()
    await stage.ends()
