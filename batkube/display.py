"""How a run is shown while it goes on: a bar on a terminal, a line now and then elsewhere; and its summary."""

import sys
import time
from typing import TYPE_CHECKING, Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from batkube.results.manifest import Run

if TYPE_CHECKING:
    from batkube.bridge.simulation import Simulation
    from batkube.clock.pace import Pace

LINE_EVERY = 2.0
"""Real seconds between two plain lines."""
BAR_EVERY = 0.1
"""Real seconds between two updates of the bar."""


SHOWN_BEHIND = 0.1
"""Real seconds."""


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

    def __init__(self, simulation: "Simulation", pace: "Pace", total: int) -> None:
        self._simulation = simulation
        self._pace = pace
        self._began = time.monotonic()
        self.total = total

    @property
    def done(self) -> int:
        """Jobs that have ended, rejected ones included."""
        return len(self._simulation.control.ended)

    @property
    def paused(self) -> bool:
        """Whether somebody has paused the simulation."""
        return self._pace.paused

    def text(self) -> str:
        """Simulated time, jobs, pace."""
        now = self._simulation.time.now
        control = self._simulation.control
        pace = now / max(time.monotonic() - self._began, 1e-9)
        goes = "paused" if self.paused else f"{pace:,.0f} simulated s/s"
        return f"t={now:.0f}s  {len(control.jobs)} submitted, {control.running} running, {self.done} done  {goes}"


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


def display(simulation: "Simulation", pace: "Pace", total: int, *, quiet: bool) -> Display:
    """The display that fits where our output goes. ``total``: the number of jobs, 0 where it is not known."""
    if quiet:
        return Silent()
    state = State(simulation, pace, total)
    return Bar(state, Console()) if sys.stdout.isatty() else Lines(state)


def summary(run: Run, simulation: "Simulation | None", console: Console) -> None:
    """The table at the end of a run, and what a user must not overlook."""
    table = Table(
        title=f"{run.status}: {run.scheduler.kind} on {run.simulator}", title_justify="left", show_header=False
    )
    jobs = run.jobs
    ends = [
        (jobs.succeeded, "succeeded"), (jobs.failed, "failed"), (jobs.walltime_reached, "reached their walltime"),
        (jobs.killed, "killed"), (jobs.rejected, "rejected"), (jobs.unfinished, "unfinished"),
    ]  # fmt: skip
    table.add_row("jobs", f"{jobs.submitted}: " + ", ".join(f"{count} {what}" for count, what in ends if count))
    if simulation is not None:
        table.add_row("nodes", str(len(simulation.cluster.hosts)))
    table.add_row("simulated time", f"{run.simulated_seconds:,.3f} s")
    if run.makespan is not None:
        table.add_row("makespan", f"{run.makespan:,.3f} s")
    if run.mean_waiting_time is not None:
        table.add_row("mean waiting time", f"{run.mean_waiting_time:,.3f} s")
    table.add_row("wall time", f"{run.wall_seconds:.1f} s")
    rest = run.rest
    ways = [
        (rest.observed, "seen"),
        (rest.metrics, "told by its metrics"),
        (rest.quiet_period, "assumed after silence"),
    ]
    if run.decision_time.model != "pace":
        seen = ", ".join(f"{how} {count} times" for count, how in ways if count)
        table.add_row("scheduler at rest", seen or "never")
    table.add_row("scheduler's clock", "real" if run.scheduler.clock == "real" else "simulated")
    if run.decision_time.model != "zero":
        table.add_row("decision time", _decision_time(run))
    if run.pace.factor is not None:
        behind = f", up to {run.pace.behind:,.3f} s behind" if run.pace.behind > SHOWN_BEHIND else ""
        table.add_row("pace", f"{run.pace.factor:g} simulated s/s{behind}")
    table.add_row("repeatable", "yes" if run.repeatable else f"no: {'; '.join(run.not_repeatable)}")
    table.add_row("fingerprint", (run.events_sha256 or "")[:16])
    console.print(table)
    for name, waiting in run.unserved.items():
        console.print(f"no scheduler named {name} is running; {len(waiting)} jobs ask for it: {_some(waiting)}")
    if run.rejected:
        for job_id, why in list(run.rejected.items())[:5]:
            console.print(f"rejected {job_id}: {why}", markup=False)
        if len(run.rejected) > 5:
            console.print(f"and {len(run.rejected) - 5} more rejected; run.json has the reasons")


def _decision_time(run: Run) -> str:
    took = run.decision_time
    if took.model == "pace":
        return "real: what the scheduler did is dated when it did it"
    what = took.model if took.model.startswith("real") else f"{took.model} s"
    return f"{what}: {took.reactions} reactions took {took.total:,.3f} s, the longest {took.longest:,.3f} s"


def _some(names: list[str], most: int = 5) -> str:
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")
