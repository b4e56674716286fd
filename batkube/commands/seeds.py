"""``batkube run --seeds``: the same run with one seed after another, and how far its figures spread.

Each is a process of its own, and several go on at once where there are cores for them: on the simulated clock that
changes nothing in a result.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import stdev

from pydantic import BaseModel
from rich.console import Console
from rich.table import Table

from batkube.commands import event_loop
from batkube.commands.errors import tell
from batkube.comparison.figure_names import values_of
from batkube.comparison.statistics import mean
from batkube.comparison.words import number
from batkube.results.comparison import COMPARED
from batkube.results.run import Run, Status
from batkube.settings import BAD_INPUT, FAILED, FINISHED, Clock, RunSettings
from batkube.settings_rules import OUTSIDE

SHOWN = (
    "mean_wait", "p95_wait", "max_wait", "mean_turnaround", "mean_slowdown", "makespan", "cpu_utilization", "rejected",
)  # fmt: skip
"""The figures that are printed; the file has all."""


class SeedRun(BaseModel, frozen=True):
    """One of the runs."""

    seed: int
    folder: Path
    status: Status
    reason: str | None


class FigureSpread(BaseModel, frozen=True):
    """A figure over the runs that have it."""

    runs: int
    mean: float
    deviation: float | None
    """The standard deviation of single runs; None for one."""
    min: float
    max: float


class Seeds(BaseModel, frozen=True):
    """``seeds.json``."""

    runs: list[SeedRun]
    figures: dict[str, FigureSpread]


def main(settings: RunSettings, count: int, *, verbosity: int = 0) -> int:
    """Run with ``count`` seeds from that of the settings on, each into a folder of its seed's number.

    The exit code: 0 where all finished, 1 where not, 2 for bad input, 130 or 143 after Ctrl-C or SIGTERM.
    """
    console = Console(emoji=False, highlight=False, soft_wrap=True, quiet=verbosity < 0)
    if others := _others(settings, count):
        tell(f"{others}: results of another run, which would be taken for one of these")
        return BAD_INPUT
    runs = [settings_of(settings, seed) for seed in range(settings.seed, settings.seed + count)]
    beside = at_once(settings, count)
    console.print(f"{count} runs, {beside} at once; results go to {settings.out}/SEED", markup=False)
    together = _Together(verbosity, console)
    codes = event_loop.run(together.run(runs, beside))
    if together.interrupted:
        return 128 + together.number
    if BAD_INPUT in codes:
        return BAD_INPUT
    found = summed_up(runs)
    (settings.out / "seeds.json").write_text(found.model_dump_json(indent=2) + "\n")
    console.print(_table(found))
    for run in found.runs:
        if run.status != "finished":
            console.print(f"seed {run.seed}: {run.status}: {run.reason}", markup=False)
    return FINISHED if all(code == FINISHED for code in codes) else FAILED


def settings_of(settings: RunSettings, seed: int) -> RunSettings:
    """Return the settings of the run with a seed; it keeps its exchange (--record) in its own folder."""
    folder = settings.out / str(seed)
    record = folder / settings.record.name if settings.record is not None else None
    return settings.model_copy(update={"out": folder, "seed": seed, "record": record})


def _others(settings: RunSettings, count: int) -> Path | None:
    """Return a folder with results that are none of these runs, where they would be taken for one."""
    out, seeds = settings.out, range(settings.seed, settings.seed + count)
    if (out / "run.json").exists():
        return out
    below = sorted(out.iterdir()) if out.is_dir() else []
    ours = {str(seed) for seed in seeds}
    return next((path for path in below if path.name not in ours and (path / "run.json").is_file()), None)


def at_once(settings: RunSettings, count: int) -> int:
    """Return how many runs may go on at once: one where real time decides, or a Batsim calls at an address."""
    if "://" in settings.simulator or settings.clock in (Clock.REAL, Clock.PACED) or settings.step.pace is not None:
        return 1
    in_process = settings.scheduler_command is None and settings.scheduler not in OUTSIDE
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(count, cores if in_process else cores // 2))


def summed_up(runs: Sequence[RunSettings]) -> Seeds:
    """Return what the runs have in common, from their folders."""
    records = [(run, Run.read(run.out / "run.json")) for run in runs if (run.out / "run.json").is_file()]
    values: dict[str, list[float]] = {}
    for _, record in records:
        if record.figures is not None:
            energy = record.energy.total if record.energy is not None else None
            for name, value in values_of(record.figures, energy).items():
                if value is not None:
                    values.setdefault(name, []).append(value)
    return Seeds(
        runs=[
            SeedRun(seed=run.seed, folder=run.out, status=record.status, reason=record.reason)
            for run, record in records
        ],
        figures={
            name: FigureSpread(
                runs=len(found),
                mean=round(mean(found), 6),
                deviation=round(stdev(found), 6) if len(found) > 1 else None,
                min=min(found),
                max=max(found),
            )
            for name, found in values.items()
        },
    )


def _table(found: Seeds) -> Table:
    table = Table(title=f"figures over {len(found.runs)} runs", title_justify="left")
    for column in ("figure", "mean", "deviation", "min", "max"):
        table.add_column(column, justify="left" if column == "figure" else "right", no_wrap=True)
    for name in SHOWN:
        if (spread := found.figures.get(name)) is not None:
            amounts = (spread.mean, spread.deviation, spread.min, spread.max)
            table.add_row(name, *(number(amount) for amount in amounts))
    return table


class _Together:
    """Starts runs, each in a process of its own; Ctrl-C and SIGTERM end all that go on, and no other begins."""

    def __init__(self, verbosity: int, console: Console) -> None:
        self.interrupted = False
        self.number: int = signal.SIGINT
        """The signal that has come."""
        self._verbosity = verbosity
        self._console = console
        self._processes: set[asyncio.subprocess.Process] = set()
        self._said: set[bytes] = set()

    async def run(self, runs: Sequence[RunSettings], at_once: int) -> list[int]:
        """Run all to their ends; the exit codes of those that were started. After bad input no other is."""
        loop = asyncio.get_running_loop()
        for signal_number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(signal_number, self._interrupt, signal_number)
        waiting, codes = list(reversed(runs)), []

        async def one_after_another() -> None:
            while waiting and not self.interrupted and BAD_INPUT not in codes:
                codes.append(await self._one(waiting.pop()))

        await asyncio.gather(*(one_after_another() for _ in range(at_once)))
        return codes

    async def _one(self, settings: RunSettings) -> int:
        for name in ("run.json", *COMPARED):  # what an earlier run has left there must not be taken for this one's
            (settings.out / name).unlink(missing_ok=True)
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "batkube.commands.repeat", str(self._verbosity),
            stdin=asyncio.subprocess.PIPE,
            stdout=None if self._verbosity > 0 else asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,  # Ctrl-C on a terminal reaches this process alone, which passes it on
        )  # fmt: skip
        self._processes.add(process)
        if self.interrupted:
            process.send_signal(self.number)
        _, errors = await process.communicate(settings.model_dump_json(exclude_unset=True).encode())
        self._processes.discard(process)
        if errors and errors not in self._said:  # bad input is told once
            self._said.add(errors)
            sys.stderr.write(errors.decode(errors="replace"))
        self._console.print(f"seed {settings.seed}: {'done' if process.returncode == FINISHED else 'failed'}")
        return process.returncode or 0

    def _interrupt(self, signal_number: int) -> None:
        self.interrupted, self.number = True, signal_number
        for process in self._processes:
            if process.returncode is None:
                process.send_signal(signal_number)
