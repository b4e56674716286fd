"""Each reason in a scheduler's own processes for which it is not idle."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from batkube.clock.oracle import IdleOracle
from batkube.clock.verdict import Verdict
from tests.waiting import wait_until

from .conftest import StartPython, idle, line, settled, state, tell
from .oracle_stage import SPINS, WAITS, Server


class TestProcesses:
    def test_a_process_that_waits_is_idle(self, oracle: IdleOracle, start_python: StartPython) -> None:
        process = start_python(WAITS)
        line(process)
        oracle.add(process.pid)
        wait_until("the process is idle", lambda: oracle.look() == Verdict(True))

    def test_a_busy_one_is_running(self, oracle: IdleOracle, start_python: StartPython) -> None:
        process = start_python(SPINS)
        line(process)
        oracle.add(process.pid)
        for _ in range(200):
            assert not idle(oracle)
        verdict = settled(oracle, "running")
        assert verdict.reason == f"thread {process.pid} of process {process.pid} runs"
        assert oracle.counts.not_idle["running"] > 0

    def test_one_busy_thread_of_many_is_enough(self, oracle: IdleOracle, start_python: StartPython) -> None:
        process = start_python(
            "import threading, time\n"
            "def spin():\n while True: pass\n"
            "for _ in range(5): threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()\n"
            "threading.Thread(target=spin, daemon=True).start()\n"
            "print('ready', flush=True); input()"
        )
        line(process)
        oracle.add(process.pid)
        for _ in range(200):
            assert not idle(oracle)

    def test_asleep_while_it_writes_is_not_idle(self, oracle: IdleOracle, start_python: StartPython) -> None:
        process = start_python("import os\nwhile True: os.write(1, bytes(4096))")  # nobody reads: the pipe gets full
        oracle.add(process.pid)
        verdict = settled(oracle, "working")
        assert verdict.reason == f"thread {process.pid} of process {process.pid} is in system call write"

    def test_a_stopped_one_is_not_idle(self, oracle: IdleOracle, start_python: StartPython) -> None:
        process = start_python(WAITS)
        line(process)
        oracle.add(process.pid)
        wait_until("the process is idle", lambda: idle(oracle))
        os.kill(process.pid, signal.SIGSTOP)
        wait_until("the process is stopped", lambda: state(process.pid) == "T")
        assert not idle(oracle)
        wait_until(
            "the process is seen stopped",
            lambda: oracle.look().reason == f"thread {process.pid} of process {process.pid} is in state T",
        )

    def test_a_dead_one_is_gone_not_idle(self, oracle: IdleOracle, start_python: StartPython) -> None:
        process = start_python(WAITS)
        line(process)
        oracle.add(process.pid)
        wait_until("the process is idle", lambda: idle(oracle))
        process.kill()
        wait_until("the process has ended", lambda: state(process.pid) == "Z")  # nobody has waited for it yet
        assert oracle.look() == Verdict(False, f"process {process.pid} has ended", "gone", gone=True)
        process.wait()
        assert oracle.look().gone

    @pytest.mark.parametrize("waited_for", [True, False], ids=["gone", "a zombie"])
    def test_one_that_dies_between_the_looks_is_not_idle(
        self,
        oracle: IdleOracle,
        server: Server,
        start_python: StartPython,
        monkeypatch: pytest.MonkeyPatch,
        waited_for: bool,
    ) -> None:
        process = start_python(WAITS)
        line(process)
        oracle.add(process.pid)
        wait_until("the process is idle", lambda: idle(oracle))

        def die() -> bool:
            process.kill()
            if waited_for:
                process.wait()
            else:
                wait_until("the process has ended", lambda: state(process.pid) == "Z")
            return False

        monkeypatch.setattr(server, "busy", die)
        assert not idle(oracle)
        assert oracle.look().gone

    def test_a_pid_that_never_was_is_gone(self, oracle: IdleOracle) -> None:
        oracle.add(2**22)
        assert oracle.look().gone

    def test_a_forgotten_process_does_not_count(self, oracle: IdleOracle, start_python: StartPython) -> None:
        process = start_python(SPINS)
        line(process)
        oracle.add(process.pid)
        assert not idle(oracle)
        oracle.remove(process.pid)
        assert idle(oracle)

    def test_it_does_not_observe_itself(self, oracle: IdleOracle) -> None:
        with pytest.raises(ValueError, match="itself"):
            oracle.add(os.getpid())


class TestDescendants:
    def test_a_busy_child_counts(self, oracle: IdleOracle, start_python: StartPython) -> None:
        process = start_python(
            "import subprocess, sys\n"
            "child = subprocess.Popen([sys.executable, '-S', '-c', 'while True: pass'])\n"
            "print(child.pid, flush=True); input(); child.kill(); child.wait(); print('killed', flush=True); input()"
        )
        child = int(line(process))
        oracle.add(process.pid)
        for _ in range(200):
            assert not idle(oracle)
        wait_until(
            "the child is seen to run", lambda: oracle.look().reason == f"thread {child} of process {child} runs"
        )
        tell(process)
        assert line(process) == "killed"
        wait_until("the process is idle", lambda: idle(oracle))

    def test_an_orphan_is_still_followed(self, oracle: IdleOracle, start_python: StartPython) -> None:
        """Its parent has ended, so that nothing under /proc leads from the root to it."""
        orphan = (
            "import os, signal\n"
            "def spin(*args):\n while True: pass\n"
            "signal.signal(signal.SIGUSR1, spin); print(os.getpid(), flush=True); signal.pause()"
        )
        parent = "import signal, subprocess, sys; subprocess.Popen(sys.argv[1:]); signal.pause()"
        process = start_python(
            "import subprocess, sys\n"
            f"orphan = [sys.executable, '-S', '-c', {orphan!r}]\n"
            f"parent = subprocess.Popen([sys.executable, '-S', '-c', {parent!r}, *orphan])\n"
            "input(); parent.kill(); parent.wait(); print('orphaned', flush=True); input()"
        )
        pid = int(line(process))
        oracle.add(process.pid)
        wait_until("the process is idle", lambda: idle(oracle))
        tell(process)
        assert line(process) == "orphaned"
        wait_until("the process is idle", lambda: idle(oracle))
        os.kill(pid, signal.SIGUSR1)
        wait_until("the child is seen to run", lambda: oracle.look().reason == f"thread {pid} of process {pid} runs")

    def test_a_shell_that_polls_is_idle_while_it_sleeps(self, oracle: IdleOracle) -> None:
        process = subprocess.Popen(["/bin/sh", "-c", "while true; do sleep 1000; done"], start_new_session=True)
        try:
            oracle.add(process.pid)
            wait_until("the process is idle", lambda: idle(oracle))
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def test_a_shell_that_starts_one_program_after_the_other_is_never_idle(self, oracle: IdleOracle) -> None:
        process = subprocess.Popen(["/bin/sh", "-c", "while true; do /bin/true; done"], start_new_session=True)
        try:
            wait_until(
                "the process runs its program",
                lambda: Path(f"/proc/{process.pid}/comm").read_text() != Path("/proc/self/comm").read_text(),
            )
            oracle.add(process.pid)
            end = time.monotonic() + 1
            while time.monotonic() < end:
                assert not idle(oracle)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
