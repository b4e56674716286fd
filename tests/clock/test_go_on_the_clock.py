"""Unmodified Go programs on the simulated clock: their timers, and what a clock that stands still would hang."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from batkube.clock import go, simulated
from batkube.clock.launch import launch
from batkube.clock.oracle import IdleOracle
from batkube.clock.simulated import SimulatedClock
from batkube.schedulers.under_test import DETERMINISM, deterministic

from .conftest import GoProgram
from .oracle_stage import Server
from .stage import Nobody

EPOCH = 1_577_836_800.0  # 2020-01-01T00:00:00Z


@pytest.fixture
async def oracle(server: Server) -> AsyncIterator[IdleOracle]:
    oracle = IdleOracle(server)
    yield oracle
    oracle.close()


@pytest.fixture
async def clock(oracle: IdleOracle) -> AsyncIterator[SimulatedClock]:
    clock = SimulatedClock(EPOCH, oracle)
    yield clock
    clock.close()


async def play(
    program: Path, clock: SimulatedClock, oracle: IdleOracle, out: Path, *arguments: str, **options: Any
) -> tuple[list[str], list[float]]:
    """Run a program to its end, jumping from deadline to deadline; what it printed, and the jumps."""
    jumps: list[float] = []
    with out.open("wb") as file:
        process = await launch([str(program), *arguments], clock=clock, stdout=file, **options)
    try:
        oracle.add(process.pid)
        while True:
            verdict = await clock.wait_for_quiescence(timeout=120)
            if verdict.gone:
                break
            assert verdict.idle, verdict.reason
            deadline = clock.next_deadline()
            assert deadline is not None
            assert len(jumps) < 100
            jumps.append(deadline)
            clock.set(deadline)
        assert await process.wait() == 0
    finally:
        process.kill()
        await process.wait()
    return lines_of(out), jumps


def lines_of(out: Path) -> list[str]:
    """Return what the program has printed."""
    return out.read_text().splitlines()


async def test_timers_fire_at_their_simulated_times(
    clock: SimulatedClock, oracle: IdleOracle, go_program: GoProgram, tmp_path: Path
) -> None:
    lines, jumps = await play(go_program("timers"), clock, oracle, tmp_path / "out")
    fired = [(round(float(line.split()[0]), 2), line.split()[1]) for line in lines]
    assert sorted(fired) == [
        (0.0, "func"), (0.0, "start"), (5.0, "sleep"), (30.0, "tick"), (60.0, "tick"), (90.0, "context"),
        (90.0, "tick"), (120.0, "tick"), (36000.0, "after"),
    ]  # fmt: skip
    assert lines[0].split()[2] == "2020-01-01T00:00:00Z"
    assert jumps == sorted(jumps)
    assert 36000 <= clock.now < 36000.1


async def test_stops_do_not_depend_on_how_often_the_clock_is_read(go_program: GoProgram, tmp_path: Path) -> None:
    """The number of readings differs from run to run: a program's threads come to read it as they please."""
    plays = []
    for readings in ("0", "20", "1000"):
        oracle = IdleOracle(Nobody())
        clock = SimulatedClock(EPOCH, oracle)
        _, jumps = await play(go_program("ticks"), clock, oracle, tmp_path / "out", readings)
        plays.append(jumps)
        clock.close()
        oracle.close()
    assert plays[0] == plays[1] == plays[2]
    # A stop for each second, and one more each time when the clock begins its millisecond anew.
    assert len(plays[0]) <= 20 + 4
    assert plays[0][-1] <= 20.004


@pytest.fixture
async def started(
    request: pytest.FixtureRequest, clock: SimulatedClock, oracle: IdleOracle, go_program: GoProgram, tmp_path: Path
) -> AsyncIterator[Path]:
    """The program ``timers`` with the test's arguments, just started; the file with what it prints."""
    out = tmp_path / "out"
    with out.open("wb") as file:
        process = await launch([str(go_program("timers")), *getattr(request, "param", ())], clock=clock, stdout=file)
    oracle.add(process.pid)
    yield out
    process.kill()
    await process.wait()


async def test_no_timer_fires_while_the_clock_stands(clock: SimulatedClock, started: Path) -> None:
    assert (await clock.wait_for_quiescence(timeout=120)).idle
    before = lines_of(started)
    await asyncio.sleep(0.1)  # much more than the 1.5 ms of its first timer
    assert (await clock.wait_for_quiescence(timeout=120)).idle
    assert lines_of(started) == before


async def test_without_the_poke_a_jump_wakes_nobody(
    clock: SimulatedClock, started: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ablation: the kernel counts real time, and knows nothing of the jump."""
    await clock.wait_for_quiescence(timeout=120)
    clock.set(1.0)
    await clock.wait_for_quiescence(timeout=120)
    with monkeypatch.context() as without:
        without.setattr(go, "poke", lambda threads: None)
        clock.set(7.0)
        await clock.wait_for_quiescence(timeout=120)
        assert not any("sleep" in line for line in lines_of(started))
    clock.set(8.0)
    await clock.wait_for_quiescence(timeout=120)
    seconds, what = lines_of(started)[-1].split()
    assert (round(float(seconds), 3), what) == (8.0, "sleep")


async def test_a_thread_that_was_awake_during_the_jump_is_poked_again(
    clock: SimulatedClock, oracle: IdleOracle, started: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await clock.wait_for_quiescence(timeout=120)
    pokes: list[Any] = []
    monkeypatch.setattr(go, "poke", pokes.append)
    monkeypatch.setattr(oracle, "untouched", lambda: True)
    clock.set(1.0)
    assert (await clock.wait_for_quiescence(timeout=120)).idle
    assert (len(pokes), clock.uncertain_jumps) == (1, 0)
    monkeypatch.setattr(oracle, "untouched", lambda: False)
    clock.set(2.0)
    assert (await clock.wait_for_quiescence(timeout=120)).idle
    assert (len(pokes), clock.uncertain_jumps) == (3, 1)


spinning = pytest.mark.parametrize("started", [("spin",)], indirect=True)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that is nudged on soon."""
    monkeypatch.setattr(simulated, "SILENCE", 0.02)
    monkeypatch.setattr(simulated, "WORK", 0.02)


@spinning
async def test_a_program_that_waits_by_reading_the_clock_is_nudged_through(
    clock: SimulatedClock, started: Path, impatient: None
) -> None:
    assert (await clock.wait_for_quiescence(timeout=120)).gone
    assert lines_of(started)[-1].split()[1] == "spun"
    assert clock.nudges > 0
    assert clock.nudged > 0


async def test_the_next_deadline_lies_after_what_the_clock_was_nudged_to(clock: SimulatedClock, started: Path) -> None:
    assert (await clock.wait_for_quiescence(timeout=120)).idle
    clock._move_on(4 * simulated.SECOND, limited=False)
    assert (await clock.wait_for_quiescence(timeout=120)).idle
    deadline = clock.next_deadline()
    assert deadline is not None
    assert clock.now <= deadline <= 5.01  # its sleep of five seconds


@spinning
async def test_without_nudges_it_never_becomes_quiescent(
    clock: SimulatedClock, started: Path, impatient: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ablation. What remains is 1 ns for each reading of the clock."""
    monkeypatch.setattr(simulated, "NUDGE", 0)
    verdict = await clock.wait_for_quiescence(timeout=0.5)
    assert not verdict.idle
    assert not verdict.gone


@spinning
async def test_nobody_is_nudged_who_gets_something_done(clock: SimulatedClock, started: Path, impatient: None) -> None:
    requests = iter(range(10**6))
    assert not (await clock.wait_for_quiescence(timeout=0.5, progress=lambda: next(requests))).idle
    assert clock.nudges == 0


@spinning
async def test_a_program_may_work_for_a_while_before_it_is_nudged(clock: SimulatedClock, started: Path) -> None:
    """A reaction that takes some time shall not be dated by real time."""
    assert not (await clock.wait_for_quiescence(timeout=0.5)).idle
    assert clock.nudges == 0


@spinning
async def test_nudges_stop_at_the_next_known_date_for_a_while(
    clock: SimulatedClock, started: Path, impatient: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock.set(0.001, limit=0.005)
    while clock.now < 0.005:
        assert not (await clock.wait_for_quiescence(timeout=0.5)).idle
    assert not (await clock.wait_for_quiescence(timeout=0.1)).idle
    nanosecond = 1e-9
    assert clock.now == pytest.approx(0.005, abs=clock.page.reads * nanosecond)
    monkeypatch.setattr(simulated, "LIMITED_NUDGES", 5)  # a program in need of time must not hang for good
    assert (await clock.wait_for_quiescence(timeout=120)).gone
    assert clock.now > 0.25


@spinning
async def test_a_limit_in_the_past_is_none(clock: SimulatedClock, started: Path, impatient: None) -> None:
    clock.set(0.001, limit=0.001)
    assert (await clock.wait_for_quiescence(timeout=120)).gone


async def test_the_clock_never_goes_back(clock: SimulatedClock) -> None:
    clock.set(5.0)
    shown = clock.now
    clock.set(3.0)
    assert clock.now == shown
    assert 5.0 <= shown < 5.001
    with pytest.raises(ValueError, match="cannot go back by 1 ns"):
        clock.page.advance(-1)


async def test_what_a_program_draws_follows_from_the_seed(go_program: GoProgram, tmp_path: Path) -> None:
    """Orders of maps and of ``select``, numbers, the order of goroutines, and addresses."""

    async def said(seed: int | None) -> list[str]:
        oracle = IdleOracle(Nobody())
        clock = SimulatedClock(EPOCH, oracle)
        env = {**os.environ, **deterministic(os.environ, seed or 0)}
        lines, _ = await play(go_program("draws"), clock, oracle, tmp_path / "out", env=env, seed=seed)
        oracle.close()
        clock.close()
        return lines

    first, *again = [await said(1) for _ in range(5)]
    assert again == [first] * 4
    for other in (await said(2), await said(None)):
        assert not set(first) & set(other)


async def test_goroutines_that_wait_for_one_in_a_system_call_run_before_there_is_quiescence(
    go_program: GoProgram, clock: SimulatedClock, oracle: IdleOracle, tmp_path: Path
) -> None:
    env = {**os.environ, **DETERMINISM}
    lines, jumps = await play(go_program("blocks"), clock, oracle, tmp_path / "out", env=env)
    assert lines == [*(f"goroutine {n}" for n in range(5)), "over"]
    assert [round(jump) for jump in jumps if jump > 1.1] == [3601]
