"""Starting programs: in which mode, on which clock, and that none is left behind."""

import signal
import sys
from pathlib import Path

import pytest

from batkube.clock.elf import is_go_program
from batkube.clock.launch import LaunchError, Mode, choose, launch
from batkube.clock.oracle import IdleOracle
from batkube.clock.simulated import SimulatedClock
from batkube.clock.tree import missing
from tests.waiting import wait_until

from .conftest import GoProgram, StartPython, line, state
from .oracle_stage import Server


def test_the_mode_is_chosen_by_the_program(go_program: GoProgram, monkeypatch: pytest.MonkeyPatch) -> None:
    program = go_program("timers")
    assert is_go_program(program)
    assert not is_go_program(Path(sys.executable))
    assert not is_go_program(Path(__file__))
    assert not is_go_program(Path("/nonexistent"))
    assert choose(str(program), "auto") == "once"
    assert choose("sh", "auto") == ("real" if missing() else "tree")
    monkeypatch.setattr("batkube.clock.launch.missing", lambda: "no compiler")
    assert choose("sh", "auto") == "real"
    assert choose(str(program), "real") == "real"


async def test_c_programs_too_read_the_simulated_time_in_once_mode(server: Server, tmp_path: Path) -> None:
    clock = SimulatedClock(1_577_836_800.0, IdleOracle(server))
    out = tmp_path / "out"
    code = "import time; print(time.time(), time.clock_gettime(5))"
    with out.open("wb") as file:
        process = await launch([sys.executable, "-S", "-c", code], clock=clock, mode="once", stdout=file)
    assert await process.wait() == 0
    seen = [float(word) for word in out.read_text().split()]
    assert seen == pytest.approx([1_577_836_800.0] * 2, abs=0.01)
    assert clock.page.reads > 0
    clock.close()


async def test_exit_codes_signals_and_environment(tmp_path: Path) -> None:
    process = await launch(["/bin/sh", "-c", "exit $CODE"], env={"CODE": "7"})
    assert await process.wait() == 7
    process = await launch(["/bin/sleep", "1000"], cwd=tmp_path)
    assert process.returncode is None
    process.terminate()
    assert await process.wait() == -signal.SIGTERM
    assert process.returncode == -signal.SIGTERM


@pytest.mark.parametrize("mode", ["real", "once", "tree"])
async def test_a_program_that_is_not_there_is_named(server: Server, mode: Mode) -> None:
    clock = SimulatedClock(0.0, IdleOracle(server))
    with pytest.raises(LaunchError, match=r"cannot start /nonexistent/scheduler: no such program"):
        await launch(["/nonexistent/scheduler"], clock=clock, mode=mode)
    clock.close()


async def test_stop_ends_the_whole_session_also_what_does_not_want_to(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with out.open("wb") as file:
        process = await launch(["/bin/sh", "-c", "trap '' TERM; sleep 1000 & echo $!; wait"], stdout=file)
    wait_until("the program has written", out.read_text)
    assert await process.stop(patience=0.1) == -signal.SIGKILL
    child = Path(f"/proc/{int(out.read_text())}")
    wait_until("the process is gone", lambda: not child.exists() or state(int(child.name)) == "Z")


def test_a_program_ends_when_we_end(start_python: StartPython) -> None:
    process = start_python(
        "import asyncio, os, sys\n"
        "sys.path[:0] = sys.argv[1:]\n"
        "from batkube.clock.child_process import ChildProcess\n"
        "async def main():\n"
        "    print(ChildProcess(['/bin/sleep', '1000']).pid, flush=True); os._exit(0)\n"
        "asyncio.run(main())",
        *sys.path,
    )
    pid = int(line(process))
    wait_until("the process is gone", lambda: not Path(f"/proc/{pid}").exists() or state(pid) == "Z")
