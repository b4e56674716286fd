"""The progress that a run tells while it goes on, in lines of 80 columns, and not too often."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from batkube.session.display import LINE_EVERY, Lines
from batkube.session.progress import Progress


class Stage:
    """A simulation whose dates and jobs a test sets, and a clock of real seconds."""

    def __init__(self, total: int) -> None:
        self.moment = 100.0
        self.control = SimpleNamespace(over=0)
        self.time = SimpleNamespace(now=0.0)
        self.pace = SimpleNamespace(paused=False)
        self.progress = Progress(cast(Any, self), cast(Any, self.pace), total, lambda: self.moment)

    def go_on(self, real: float, simulated: float, over: int) -> None:
        """Let time pass."""
        self.moment += real
        self.time.now += simulated
        self.control.over += over


def test_a_line_says_part_jobs_time_speed_and_what_is_left() -> None:
    stage = Stage(total=1000)
    stage.go_on(real=30.0, simulated=60_000.0, over=250)
    assert stage.progress.line() == "25%, 250/1,000 jobs, at 16 h 40 min, 2,000 s/s, 1 min 30 s left"
    stage.pace.paused = True
    assert stage.progress.line() == "25%, 250/1,000 jobs, at 16 h 40 min, paused"


def test_of_an_unknown_number_of_jobs_no_part_is_told() -> None:
    stage = Stage(total=0)
    stage.go_on(real=10.0, simulated=50.0, over=3)
    assert stage.progress.line() == "3 jobs over, at 50 s, 5 s/s"


def test_the_speed_is_that_of_the_last_while() -> None:
    stage = Stage(total=10)
    stage.go_on(real=100.0, simulated=100.0, over=1)
    assert stage.progress.speed() == pytest.approx(1.0)
    stage.go_on(real=25.0, simulated=250.0, over=1)
    assert stage.progress.speed() == pytest.approx(10.0)


def test_lines_come_every_ten_seconds_at_most() -> None:
    stage = Stage(total=100)
    lines: list[str] = []
    display = Lines(stage.progress, lines.append, lambda: stage.moment)
    for _ in range(1000):
        stage.go_on(real=0.1, simulated=1.0, over=0)
        display.update()
    assert 0 < len(lines) <= 100 / LINE_EVERY


def test_the_longest_line_fits_80_columns() -> None:
    stage = Stage(total=10_000_000)
    stage.go_on(real=86_399.0, simulated=364 * 86_400.0, over=1_234_567)
    assert len(f"batkube: {stage.progress.line()}") <= 80
