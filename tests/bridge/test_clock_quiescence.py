"""Schedulers that go on to send requests: some come to an end, however slow the machine, and some do not."""

from collections import Counter
from types import SimpleNamespace
from typing import Any, cast

import pytest

from batkube.bridge import clock_quiescence
from batkube.bridge.clock_quiescence import QuiescenceOnSimulatedClock
from batkube.bridge.errors import RunFailed
from batkube.bridge.step_settings import StepSettings
from batkube.clock.verdict import IDLE, Verdict


class Clock:
    """A clock whose scheduler is always at rest."""

    now, nudges, jumps = 0.0, 0, 0

    async def wait_for_quiescence(self, **how: Any) -> Verdict:
        return IDLE

    def processor_time(self) -> float:
        return 0.0

    def set(self, now: float) -> None:
        self.now = now


class Turns:
    """The turns of a scheduler that has sent so many requests at once, or sends another after each answer."""

    in_use, events = True, 0

    def __init__(self, waiting: int, *, goes_on: bool = False) -> None:
        self.waiting, self._goes_on = waiting, goes_on
        self.let_through = 0

    def next(self) -> bool:
        if not self.waiting and not self._goes_on:
            return False
        self.waiting = max(self.waiting - 1, 0)
        self.let_through += 1
        return True


class EndingPrograms:
    """A program that is seen to have ended before its exit code is known, as the process that traces it hears first."""

    programs: tuple[()] = ()
    next_date = None

    def __init__(self) -> None:
        self.asked = 0

    async def take_note(self) -> bool:
        self.asked += 1
        return self.asked > 2

    async def start_due(self) -> bool:
        return False


class ClockOfEnding(Clock):
    """The clock of these."""

    def __init__(self, programs: EndingPrograms) -> None:
        self._programs = programs

    async def wait_for_quiescence(self, **how: Any) -> Verdict:
        return IDLE if self._programs.asked > 2 else Verdict(False, "process 7 has ended", "gone", gone=True)


def quiescence(
    turns: Turns, monkeypatch: pytest.MonkeyPatch, programs: EndingPrograms | None = None
) -> QuiescenceOnSimulatedClock:
    """Return that of a scheduler on a machine that takes a second for each request."""
    monkeypatch.setattr(clock_quiescence, "monotonic", lambda: float(turns.let_through))
    server: Any = SimpleNamespace(
        turns=turns, busy=lambda: False, requests=Counter[tuple[str, str]](), end_watches_by=lambda deadlines: None
    )
    clock = Clock() if programs is None else ClockOfEnding(programs)
    return QuiescenceOnSimulatedClock(server, StepSettings(), cast(Any, clock), cast(Any, programs))


async def test_thousands_of_requests_that_were_sent_at_once_may_take_their_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """kube-scheduler sends an Event for each pod of a backlog, and nobody watches Events."""
    turns = Turns(2000)
    await quiescence(turns, monkeypatch).advance(1.0)
    assert turns.waiting == 0


async def test_a_scheduler_that_never_stops_sending_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RunFailed, match="it goes on to send requests though nothing happens"):
        await quiescence(Turns(5, goes_on=True), monkeypatch).advance(1.0)


async def test_a_program_whose_exit_code_is_not_known_yet_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    programs = EndingPrograms()
    await quiescence(Turns(0), monkeypatch, programs).advance(1.0)
    assert programs.asked == 3
