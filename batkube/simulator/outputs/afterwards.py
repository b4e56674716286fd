"""The files that the embedded simulator leaves, as Batsim does, beside batkube's own."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from batkube.batsim.afterwards import PREFIX, Taken
from batkube.batsim.own_results import read_jobs_csv
from batkube.simulator.embedded import EmbeddedSimulator
from batkube.simulator.outputs.files import write_files


@dataclass(frozen=True)
class EmbeddedAfterwards:
    """Writes the files. ``dates``: the dates and joules of jobs are taken from them, as from Batsim's own."""

    simulator: EmbeddedSimulator
    dates: bool

    async def take(self, out: Path, given_up: asyncio.Event | None = None) -> Taken:
        """Write the simulator's files into ``out``."""
        write_files(self.simulator, out / PREFIX.rstrip("_"))
        jobs = read_jobs_csv(out / f"{PREFIX}jobs.csv") if self.dates else None
        return Taken(jobs, self.simulator.books.totals)
