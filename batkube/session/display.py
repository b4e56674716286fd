"""The display of a run while it goes on: a bar on a terminal, a line now and then elsewhere."""

import sys
import time
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from batkube.bridge.simulation import Simulation
from batkube.clock.pace import Pace

LINE_EVERY = 2.0
"""Real seconds between two plain lines."""
BAR_EVERY = 0.1
"""Real seconds between two updates of the bar."""


class Display(Protocol):
    """Shows the state of a simulation."""

    def update(self) -> None:
        """Something has happened; show it if it is time to."""

    def close(self) -> None:
        """Leave the terminal as it was."""


class Silent:
    """Shows nothing."""

    def update(self) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


class State:
    """The figures that both displays show."""

    def __init__(self, simulation: Simulation, pace: Pace, total: int) -> None:
        self._simulation = simulation
        self._pace = pace
        self._began = time.monotonic()
        self.total = total

    @property
    def done(self) -> int:
        """Jobs that have ended, rejected ones included."""
        return self._simulation.control.over

    @property
    def paused(self) -> bool:
        """True if somebody has paused the simulation."""
        return self._pace.paused

    def text(self) -> str:
        """Simulated time, jobs, pace."""
        now = self._simulation.time.now
        control = self._simulation.control
        pace = now / max(time.monotonic() - self._began, 1e-9)
        goes = "paused" if self.paused else f"{pace:,.0f} simulated s/s"
        return f"t={now:.0f}s  {control.submitted} submitted, {control.running} running, {self.done} done  {goes}"


class Lines:
    """A plain line now and then, for logs."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._next = time.monotonic() + LINE_EVERY
        self._paused = False

    def update(self) -> None:
        """Print a line if the last is old enough, or the simulation was paused or resumed."""
        if time.monotonic() >= self._next or self._state.paused != self._paused:
            print(self._state.text(), flush=True)
            self._next = time.monotonic() + LINE_EVERY
            self._paused = self._state.paused

    def close(self) -> None:
        """Nothing to undo."""


class Bar:
    """A progress bar over the jobs."""

    def __init__(self, state: State, console: Console) -> None:
        self._state = state
        self._next = 0.0
        self._paused = False
        self._progress = Progress(
            BarColumn(), MofNCompleteColumn(), TextColumn("jobs"), TextColumn("{task.description}"),
            console=console, auto_refresh=False,
        )  # fmt: skip
        self._task = self._progress.add_task("starting", total=state.total or None)
        self._progress.start()

    def update(self) -> None:
        """Redraw if the last drawing is old enough, or the simulation was paused or resumed."""
        if time.monotonic() >= self._next or self._state.paused != self._paused:
            self._draw()
            self._paused = self._state.paused
            self._next = time.monotonic() + BAR_EVERY

    def close(self) -> None:
        """Draw the last state and give the terminal back."""
        self._draw()
        self._progress.stop()

    def _draw(self) -> None:
        self._progress.update(self._task, completed=self._state.done, description=self._state.text())
        self._progress.refresh()


def display(simulation: Simulation, pace: Pace, total: int, *, quiet: bool) -> Display:
    """Return the display that fits where our output goes. ``total``: the number of jobs, 0 where it is not known."""
    if quiet:
        return Silent()
    state = State(simulation, pace, total)
    return Bar(state, Console()) if sys.stdout.isatty() else Lines(state)
