"""``batkube doctor``: what this machine can do, whatever it lacks."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.run.conftest import FIFO_PROGRAM, environment

ELSEWHERE = """
import os, platform, socket, sys
import batkube.clock.syscalls  # its numbers stay those of the real machine
if "{system}" != "Linux":
    del os.pidfd_open, os.memfd_create, socket.AF_NETLINK
platform.system = lambda: "{system}"
platform.machine = lambda: "{machine}"
from batkube.commands.cli import main
sys.argv = ["batkube", *{arguments!r}]
main()
"""
"""batkube on a machine that says it is another one."""


def batkube(*words: str, warning: str = "", **env: str) -> str:
    command = [sys.executable, *(words or ("-m", "batkube", "doctor"))]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120, env={**environment(), "COLUMNS": "200", **env}
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == warning
    return done.stdout


def test_it_says_what_a_run_does_here() -> None:
    said = batkube()
    for name in ("clock of a Go program", "clock of any other program", "quiescence of a scheduler"):
        assert name in said


def test_nothing_is_necessary(tmp_path: Path) -> None:
    """No program on PATH, no C compiler, no cache to write into."""
    said = batkube(PATH=str(tmp_path), CC="", XDG_CACHE_HOME="/proc/nowhere", BATKUBE_TOOLS=str(tmp_path))
    assert "there is neither $CC nor gcc nor cc" in said
    assert "real: its timers run in real time" in said
    assert "give --scheduler-binary" in said


def test_programs_are_told_with_their_versions(tmp_path: Path) -> None:
    program = tmp_path / "batsim"
    program.write_text("#!/bin/sh\necho v4.2.0\n")
    program.chmod(0o755)
    silent = tmp_path / "kubectl"
    silent.write_text("#!/bin/sh\n")
    silent.chmod(0o755)
    said = batkube(PATH=f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert "batsim: v4.2.0" in said
    assert "says nothing of its version" in said


@pytest.mark.parametrize(("system", "machine"), [("Darwin", "arm64"), ("Linux", "aarch64")])
def test_other_machines_degrade(system: str, machine: str) -> None:
    said = batkube("-c", ELSEWHERE.format(system=system, machine=machine, arguments=["doctor"]))
    assert said.count("clock of") == 2
    assert said.count("real: its timers run in real time") == 2
    assert "needs Linux" in said
    assert ("silence" in said.split("quiescence of a scheduler")[1].splitlines()[0]) == (system == "Darwin")


@pytest.mark.parametrize(("system", "machine"), [("Darwin", "arm64"), ("Linux", "aarch64")])
def test_runs_go_on_other_machines_too(
    tmp_path: Path, platform: Callable[..., Path], workload: Callable[..., Path], system: str, machine: str
) -> None:
    given = workload([{"id": "a", "subtime": 0, "res": 1, "profile": "p"}], {"p": {"type": "delay", "delay": 10}})
    arguments = ["run", "-p", str(platform(1)), "-w", str(given), "-o", str(tmp_path / "out"), *FIFO_PROGRAM]
    arguments += ["--patience", "60"]  # where silence is taken for rest a slow machine may be silent for long
    why = f"batkube: the scheduler keeps the real clock: needs Linux on x86_64, this is {system} on {machine}\n"
    said = batkube("-c", ELSEWHERE.format(system=system, machine=machine, arguments=arguments), warning=why)
    assert "real clock; `batkube doctor` says why" in said
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    assert run["jobs"]["succeeded"] == 1
    assert run["repeatable"] is False
    assert (run["quiescence"]["observed"] > 0) == (system == "Linux")
    assert (run["quiescence"]["quiet_period"] > 0) == (system == "Darwin")
