"""The oracle where the kernel tells less: each missing means has a substitute."""

import os
import signal
from collections.abc import Iterator

import pytest

from batkube.clock import server_side, threads
from batkube.clock.oracle import IdleOracle
from tests.waiting import wait_until

from .conftest import StartPython, idle, line, tell
from .oracle_stage import SPINS, WAITS, Server


@pytest.fixture(params=["no schedstat", "no syscall", "no numbers of system calls", "no sock_diag"])
def poorer(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, server: Server) -> Iterator[IdleOracle]:
    def refuse(*args: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    match request.param:
        case "no schedstat":
            monkeypatch.setattr(threads, "_SCHEDSTAT", False)
        case "no syscall":
            allowed = threads._open_if_allowed
            monkeypatch.setattr(
                threads, "_open_if_allowed", lambda path: -1 if path.endswith("syscall") else allowed(path)
            )
        case "no numbers of system calls":
            monkeypatch.setattr(threads, "WAITING", None)
            monkeypatch.setattr("batkube.clock.oracle.WAITING", None)
        case "no sock_diag":
            monkeypatch.setattr(server_side, "SockDiag", refuse)
    oracle = IdleOracle(server)
    yield oracle
    oracle.close()


def test_waiting_and_busy_are_told_apart(poorer: IdleOracle, start_python: StartPython) -> None:
    waits, spins = start_python(WAITS), start_python(SPINS)
    line(waits), line(spins)
    poorer.add(waits.pid)
    wait_until("the process is idle", lambda: idle(poorer))
    poorer.add(spins.pid)
    for _ in range(200):
        assert not idle(poorer)
    spins.kill()
    wait_until("the process is gone", lambda: poorer.look().gone)


def test_a_run_between_the_looks_is_seen(
    poorer: IdleOracle,
    server: Server,
    start_python: StartPython,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    process = start_python("import sys\nfor line in sys.stdin: print('turn', flush=True)")
    tell(process)
    line(process)
    poorer.add(process.pid)
    wait_until("the process is idle", lambda: idle(poorer))

    def turn() -> bool:
        tell(process)
        line(process)
        return False

    monkeypatch.setattr(server, "busy", turn)
    assert poorer.look().kind == "woken"


def test_a_stopped_process_is_not_idle(poorer: IdleOracle, start_python: StartPython) -> None:
    process = start_python(WAITS)
    line(process)
    poorer.add(process.pid)
    wait_until("the process is idle", lambda: idle(poorer))
    os.kill(process.pid, signal.SIGSTOP)
    wait_until("the process is seen stopped", lambda: poorer.look().reason.endswith("is in state T"))
    assert not idle(poorer)
