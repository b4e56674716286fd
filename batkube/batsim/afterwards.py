"""The things that a real Batsim leaves after the simulation: its end, its result files, and the true dates of jobs."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from batkube.batsim.outputs import MachineTotals
from batkube.batsim.own_results import JobKey, OwnJob, OwnResultsError, read_jobs_csv, read_machine_totals
from batkube.batsim.process import BatsimProcess
from batkube.batsim.result_files import ResultFiles

PREFIX = "batsim_"
"""The prefix of Batsim's own files beside ours."""
FILES_TIMEOUT = 30.0
"""Real seconds within which a Batsim that was started by hand has written its files, once the simulation is over."""
LOOK = 0.02
"""Real seconds between two looks at the files."""


@dataclass
class Taken:
    """The results that were found."""

    jobs: dict[JobKey, OwnJob] | None = None
    """The jobs by Batsim's ``jobs.csv``; None if that could not be read."""
    totals: MachineTotals | None = None
    """The totals by Batsim's ``schedule.csv``, if it has one."""
    warnings: list[str] = field(default_factory=list)
    """Warnings for the user, a line each."""


class Leaves(Protocol):
    """A simulator that leaves results of its own."""

    async def take(self, out: Path, given_up: asyncio.Event | None = None) -> Taken:
        """Put its files into ``out``, and return what they say. ``given_up`` ends the wait for them."""
        ...


@dataclass(frozen=True)
class Afterwards:
    """Waits until a Batsim has ended, and takes the results that it has left."""

    files: ResultFiles
    process: BatsimProcess | None = None
    """Batsim's process; None for a Batsim that was started by hand."""

    async def take(self, out: Path, given_up: asyncio.Event | None = None) -> Taken:
        """Put its files into ``out`` (copies, if they lie elsewhere), and return what they say.

        ``given_up`` ends the wait for them. Files that cannot be had are a warning: the simulation itself is over and
        well.
        """
        taken = Taken()
        waiting = self._process_done(self.process, taken) if self.process else self._files_written()
        await _unless(waiting, given_up or asyncio.Event())
        if self.files.prefix is None:
            taken.warnings.append(
                f"Batsim's own results are not there ({self.files.expected}): dates are those of its messages"
            )
            return taken
        try:
            self.files.copy_to(out, PREFIX)
            files = self.files.all()
            taken.jobs = read_jobs_csv(files["jobs.csv"])
        except (OwnResultsError, OSError, KeyError) as error:
            taken.warnings.append(f"Batsim's own results cannot be used, dates are those of its messages: {error}")
            return taken
        try:
            if "schedule.csv" in files:
                taken.totals = read_machine_totals(files["schedule.csv"])
        except OwnResultsError as error:
            taken.warnings.append(f"Batsim's own totals cannot be used: {error}")
        return taken

    @staticmethod
    async def _process_done(process: BatsimProcess, taken: Taken) -> None:
        if complaint := await process.finish():
            taken.warnings.append(complaint)

    async def _files_written(self) -> None:
        for _ in range(round(FILES_TIMEOUT / LOOK)):
            if self.files.prefix is not None:
                return
            await asyncio.sleep(LOOK)


async def _unless(work: Coroutine[Any, Any, None], given_up: asyncio.Event) -> None:
    tasks = [asyncio.ensure_future(work), asyncio.ensure_future(given_up.wait())]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
