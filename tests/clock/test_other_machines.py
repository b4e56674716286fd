"""Machines without the simulated clock: one line says so, and schedulers keep the real clock."""

import logging
import platform
import sys
from pathlib import Path

import pytest

from batkube.bridge.errors import InputError
from batkube.clock import probe, tree, vdso
from batkube.clock.launch import LaunchError, Mode, choose, launch
from batkube.clock.oracle import IdleOracle
from batkube.clock.simulated import SimulatedClock
from batkube.session.scheduler_clock import clock_mode
from batkube.settings import Clock, RunSettings

from .stage import Nobody

REASON = {
    "aarch64": "needs Linux on x86_64, this is Linux on aarch64",
    "arm64": "needs Linux on x86_64, this is Darwin on arm64",
}


def settings(clock: Clock) -> RunSettings:
    return RunSettings(
        platform=Path("p"), workloads=(Path("w"),), out=Path("out"), scheduler="kube-scheduler", clock=clock
    )


@pytest.fixture(params=[("Linux", "aarch64"), ("Darwin", "arm64")], ids=["aarch64", "macOS"])
def reason(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return what this machine, taken for another, says."""
    system, machine = request.param
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    return REASON[machine]


def test_neither_mode_is_to_be_had(reason: str) -> None:
    assert vdso.missing() == tree.missing() == reason
    with pytest.raises(OSError, match=reason):
        tree.program()
    for mode in (probe.means_for("once"), probe.means_for("tree")):
        assert not mode.works
        assert mode.detail == f"{reason}: schedulers keep the real clock"
    assert choose(sys.executable, "auto") == "real"


async def test_a_program_is_not_started_on_the_simulated_clock(reason: str) -> None:
    oracle = IdleOracle(Nobody())
    clock = SimulatedClock(0.0, oracle)
    try:
        modes: list[Mode] = ["once", "tree"]
        for mode in modes:
            with pytest.raises(LaunchError, match=f"cannot give {sys.executable} the simulated clock: {reason}"):
                await launch([sys.executable, "-c", ""], clock=clock, mode=mode)
        process = await launch([sys.executable, "-S", "-c", ""], clock=clock, mode="auto")
        assert await process.wait() == 0
    finally:
        clock.close()
        oracle.close()


def test_a_run_refuses_what_was_asked_for_and_else_says_why(reason: str, caplog: pytest.LogCaptureFixture) -> None:
    for clock in (Clock.ONCE, Clock.TREE):
        with pytest.raises(InputError) as refused:
            clock_mode(settings(clock), [sys.executable])
        assert str(refused.value) == f"--clock {clock.value}: {reason}"
    with caplog.at_level(logging.WARNING):
        assert clock_mode(settings(Clock.AUTO), [sys.executable]) == "real"
    assert caplog.messages == [f"the scheduler keeps the real clock: {reason}"]


def test_without_a_compiler_programs_that_are_not_go_keep_the_real_clock(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    if vdso.missing():
        pytest.skip(vdso.missing())
    monkeypatch.setattr(tree, "built", lambda: False)
    monkeypatch.setattr(tree, "compiler", lambda: None)
    reason = "its helper must be built, and there is no C compiler (neither $CC nor gcc nor cc)"
    with pytest.raises(InputError) as refused:
        clock_mode(settings(Clock.TREE), [sys.executable])
    assert str(refused.value) == f"--clock tree: {reason}"
    assert clock_mode(settings(Clock.AUTO), [sys.executable]) == "real"
    assert caplog.messages == [f"the scheduler keeps the real clock: {reason}"]
