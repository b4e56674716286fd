"""The display of a run while it goes on, on standard error: a bar on a terminal, a line now and then elsewhere."""

import sys
import time
from collections.abc import Callable
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bars

from batkube.bridge.simulation import Simulation
from batkube.clock.pace import Pace
from batkube.session.progress import Progress

LINE_EVERY = 10.0
"""Real seconds between two plain lines, at least."""
BAR_EVERY = 0.1
"""Real seconds between two updates of the bar."""
BAR_WIDTH = 14
"""Characters: the rest of 80 columns is for the words."""


class Display(Protocol):
    """Shows the state of a simulation."""

    def update(self) -> None:
        """Show what has happened, if it is time to."""

    def close(self) -> None:
        """Leave the terminal as it was."""


class Silent:
    """Shows nothing."""

    def update(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


class Lines:
    """A plain line now and then, for logs."""

    def __init__(
        self, progress: Progress, write: Callable[[str], None], real: Callable[[], float] = time.monotonic
    ) -> None:
        self._progress = progress
        self._write = write
        self._real = real
        self._next = real() + LINE_EVERY
        self._paused = False

    def update(self) -> None:
        """Write a line if the last is old enough, or the simulation was paused or resumed."""
        if self._real() >= self._next or self._progress.paused != self._paused:
            self._write(f"batkube: {self._progress.line()}")
            self._next = self._real() + LINE_EVERY
            self._paused = self._progress.paused

    def close(self) -> None:
        """Do nothing: there is nothing to undo."""


class Bar:
    """A progress bar over the jobs."""

    def __init__(self, progress: Progress, console: Console) -> None:
        self._progress = progress
        self._next = 0.0
        self._paused = False
        self._bars = Bars(
            BarColumn(BAR_WIDTH), TextColumn("{task.description}"), console=console, auto_refresh=False, transient=True
        )
        self._task = self._bars.add_task("starting", total=progress.total or None)
        self._bars.start()

    def update(self) -> None:
        """Redraw if the last drawing is old enough, or the simulation was paused or resumed."""
        if time.monotonic() >= self._next or self._progress.paused != self._paused:
            self._draw()
            self._paused = self._progress.paused
            self._next = time.monotonic() + BAR_EVERY

    def close(self) -> None:
        """Give the terminal back."""
        self._bars.stop()

    def _draw(self) -> None:
        self._bars.update(self._task, completed=self._progress.done, description=self._progress.line())
        self._bars.refresh()


def display(simulation: Simulation, pace: Pace, total: int, *, quiet: bool) -> Display:
    """Return the display that fits where standard error goes. ``total``: the number of jobs, 0 where not known."""
    if quiet:
        return Silent()
    progress = Progress(simulation, pace, total, time.monotonic)
    if sys.stderr.isatty():
        return Bar(progress, Console(emoji=False, stderr=True))
    return Lines(progress, lambda line: print(line, file=sys.stderr, flush=True))
