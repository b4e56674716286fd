"""The two looks and the wait for quiescence as a whole; and what one look only would miss."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from unittest.mock import AsyncMock

import pytest

from batkube.clock.oracle import IdleOracle
from batkube.clock.pause import FinePause
from batkube.clock.threads import Thread
from tests.waiting import wait_until

from .conftest import StartPython, idle, line, state, tell
from .oracle_stage import CONNECTS, SPINS, Server


class TestTwoLooks:
    """Two processes take turns: one runs only while the other sleeps, so that at no moment both sleep."""

    TURNS = """
import os, sys
mine, others = int(sys.argv[1]), int(sys.argv[2])
os.set_blocking(mine, False)
print('ready', flush=True)
def spin_until_told():
    while True:
        try:
            return os.read(mine, 1)
        except BlockingIOError:
            pass
while True:
    os.set_blocking(mine, True); os.read(mine, 1)     # asleep
    os.set_blocking(mine, False); spin_until_told()   # busy
"""

    @pytest.fixture
    def takes_turns(
        self, oracle: IdleOracle, monkeypatch: pytest.MonkeyPatch
    ) -> Iterator[list["subprocess.Popen[bytes]"]]:
        """The second process is busy; as soon as the first was looked at, they change places."""
        pipes = [os.pipe(), os.pipe()]
        processes = []
        for number in (0, 1):
            mine, others = pipes[number][0], pipes[1 - number][0]
            process = subprocess.Popen(
                [sys.executable, "-S", "-c", self.TURNS, str(mine), str(others)],
                pass_fds=(mine, others),
                stdout=subprocess.PIPE,
            )
            line(process)
            processes.append(process)
        first, second = processes
        wait_until("both processes sleep", lambda: state(first.pid) == state(second.pid) == "S")
        os.write(pipes[1][1], b"x")
        wait_until("the second process runs", lambda: state(second.pid) == "R")
        look = Thread.look

        def change_places(thread: Thread) -> bool:
            ran = look(thread)
            if thread.pid == first.pid and state(first.pid) == "S" and state(second.pid) == "R":
                os.write(pipes[0][1], b"x")
                wait_until("the first process runs", lambda: state(first.pid) == "R")
                os.write(pipes[1][1], b"x")
                wait_until("the second process sleeps", lambda: state(second.pid) == "S")
            return ran

        monkeypatch.setattr(Thread, "look", change_places)
        for process in processes:
            oracle.add(process.pid)
        yield processes
        for process in processes:
            process.kill()
            process.communicate()
        for pipe in pipes:
            for fd in pipe:
                os.close(fd)

    def test_never_idle(self, oracle: IdleOracle, takes_turns: object) -> None:
        verdict = oracle.look()
        assert verdict.kind == "woken", verdict

    def test_with_one_look_only_that_is_missed(
        self, oracle: IdleOracle, takes_turns: object, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The ablation: each was asleep when it was looked at."""
        monkeypatch.setattr(IdleOracle, "_second_look", lambda self: None)
        assert idle(oracle)

    def test_one_that_ran_between_the_looks_and_sleeps_again(
        self, oracle: IdleOracle, server: Server, start_python: StartPython, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        process = start_python("import sys\nfor line in sys.stdin: print('turn', flush=True)")
        tell(process)
        line(process)
        oracle.add(process.pid)
        wait_until("the process is idle", lambda: idle(oracle))

        def turn() -> bool:
            tell(process)
            line(process)
            wait_until("the process sleeps", lambda: state(process.pid) == "S")
            return False

        monkeypatch.setattr(server, "busy", turn)
        assert oracle.look().reason == f"thread {process.pid} of process {process.pid} ran meanwhile"


class TestWaitForQuiescence:
    async def test_waits_for_the_end_of_work(
        self, oracle: IdleOracle, start_python: StartPython, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The program works until it is told that it was looked at twenty times."""
        process = start_python(
            "import os\n"
            "def told():\n try: return os.read(0, 1)\n except BlockingIOError: return b''\n"
            "os.set_blocking(0, False); print('ready', flush=True)\n"
            "while not told(): pass\n"
            "os.set_blocking(0, True); print('done', flush=True); os.read(0, 1)"
        )
        line(process)
        oracle.add(process.pid)
        pauses: list[float] = []
        sleep = FinePause.sleep

        async def counted(pause: FinePause, seconds: float, loop: asyncio.AbstractEventLoop) -> None:
            pauses.append(seconds)
            if len(pauses) == 20:
                tell(process)
            await sleep(pause, seconds, loop)

        monkeypatch.setattr(FinePause, "sleep", counted)
        assert (await oracle.wait_for_quiescence(timeout=120)).idle
        assert process.stdout is not None
        os.set_blocking(process.stdout.fileno(), False)
        assert line(process) == "done"
        assert oracle.counts.looks == len(pauses) >= 20
        assert pauses[:20] == sorted(pauses[:20])  # it looks less and less often
        assert pauses[0] < pauses[19]
        assert oracle.counts.established == 1
        assert oracle.counts.longest_wait == oracle.counts.waited > 0

    async def test_says_why_not_when_time_is_over(self, oracle: IdleOracle, start_python: StartPython) -> None:
        process = start_python(SPINS)
        line(process)
        oracle.add(process.pid)
        verdict = await oracle.wait_for_quiescence(timeout=0.1)
        assert not verdict.idle
        assert not verdict.gone
        assert verdict.reason

    async def test_reports_a_death_at_once(self, oracle: IdleOracle, start_python: StartPython) -> None:
        process = start_python(SPINS)
        line(process)
        oracle.add(process.pid)
        asyncio.get_running_loop().call_later(0.1, process.kill)
        assert (await oracle.wait_for_quiescence(timeout=None)).gone

    async def test_others_go_on_meanwhile(self, oracle: IdleOracle, start_python: StartPython) -> None:
        process = start_python(SPINS)
        line(process)
        oracle.add(process.pid)

        async def end() -> None:
            for _ in range(5):
                await asyncio.sleep(0.01)
            process.kill()

        ending = asyncio.create_task(end())
        assert (await oracle.wait_for_quiescence(timeout=120)).gone
        assert ending.done()

    @pytest.mark.parametrize(("turns", "missed"), [(0, True), (5, False)])
    async def test_a_connection_just_accepted_is_waited_for(
        self, server: Server, start_python: StartPython, monkeypatch: pytest.MonkeyPatch, turns: int, missed: bool
    ) -> None:
        """An event loop tells the server about a connection some turns after it has accepted it."""
        monkeypatch.setattr("batkube.clock.oracle.TURNS", turns)
        monkeypatch.setattr(FinePause, "sleep", AsyncMock())  # it leaves the loop time, too
        process = start_python(CONNECTS + "s.sendall(b'request'); input()", server.port)
        line(process)
        wait_until("the process sleeps", lambda: state(process.pid) == "S")
        connection, _ = server.socket.accept()
        loop = asyncio.get_running_loop()
        loop.call_soon(loop.call_soon, loop.call_soon, server.accepted.append, connection)
        oracle = IdleOracle(server)
        oracle.add(process.pid)
        verdict = await oracle.wait_for_quiescence(timeout=0)
        assert verdict.idle == missed, verdict
        oracle.close()
        server.accepted.append(connection)


def test_a_doze_that_ends_is_no_quiescence(
    oracle: IdleOracle, start_python: StartPython, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread that was woken shows the call in which it slept until its CPU, which may be busy, takes note of it."""
    process = start_python("print('ready', flush=True); input()")
    line(process)
    wait_until("the process sleeps", lambda: state(process.pid) == "S")
    oracle.add(process.pid)
    wait_until("the process is idle", lambda: idle(oracle))
    oracle.dozes = lambda thread: True
    monkeypatch.setattr(Thread, "state", lambda thread: "R")
    assert oracle.look().kind == "woken"
