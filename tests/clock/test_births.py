"""Births of processes on this machine, and the questions that are spared where there were none."""

import os
import subprocess
import threading

import pytest

from batkube.clock import births
from batkube.clock.births import Births
from batkube.clock.observed_processes import ObservedProcess
from batkube.clock.oracle import IdleOracle
from tests.waiting import wait_until

from .conftest import StartPython, idle, line
from .oracle_stage import WAITS


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Births:
    monkeypatch.setattr(births, "_TRUSTED_FOR", 60.0)
    return Births()


def test_it_stands_while_nothing_is_started(seen: Births) -> None:
    wait_until("nothing is started", lambda: seen.last() == seen.last() is not None)  # others may start something


def test_a_process_changes_it(seen: Births) -> None:
    before = seen.last()
    subprocess.run(["/bin/true"], check=True)
    assert seen.last() != before


def test_a_thread_changes_it(seen: Births) -> None:
    before = seen.last()
    thread = threading.Thread(target=int)
    thread.start()
    thread.join()
    assert seen.last() != before


def test_it_is_not_trusted_for_long(seen: Births, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids are given out in a circle."""
    before = seen.last()
    monkeypatch.setattr(births, "_TRUSTED_FOR", 0.0)
    assert seen.last() != before


@pytest.mark.parametrize("told", [b"0.00 0.00 0.00 0/0 0\n", b"", b"nothing of the kind"])
def test_an_imitation_is_not_trusted(told: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "pread", lambda *args: told)
    assert Births().last() is None


def test_threads_and_children_are_asked_for_only_where_something_was_started(
    oracle: IdleOracle, start_python: StartPython, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = start_python(WAITS)
    line(process)
    oracle.add(process.pid)
    wait_until("the process is idle", lambda: idle(oracle))
    refresh, asked = ObservedProcess.refresh, list[ObservedProcess]()

    def ask(process: ObservedProcess) -> bool:
        asked.append(process)
        return refresh(process)

    monkeypatch.setattr(ObservedProcess, "refresh", ask)

    def look() -> bool:
        asked.clear()
        return idle(oracle)

    wait_until("an idle process is not asked for its threads", lambda: look() and not asked)
    subprocess.run(["/bin/true"], check=True)
    # A single look may say no of a thread that sleeps: it asks for certainty, not for a guess.
    wait_until("it is idle again", lambda: idle(oracle))
    assert asked
