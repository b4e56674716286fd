"""The outcome of a mix, whoever played it."""

import csv
from dataclasses import dataclass, field
from pathlib import Path

from batkube.batsim.allocation import parse_intervals
from batkube.results.pods import PodRecord

REJECTED = "REJECTED"
NO_ENERGY = -1.0
"""The value of ``consumed_energy`` where energy is not simulated."""


@dataclass(frozen=True)
class End:
    """The end of a job. Dates (simulated seconds) and hosts are None for one that never ran."""

    state: str
    start: float | None = None
    finish: float | None = None
    hosts: tuple[int, ...] | None = None
    joules: float | None = None
    """Of its hosts while it ran, where energy is simulated."""


@dataclass
class Outcome:
    """The jobs of a run, and how it ended itself."""

    ends: dict[str, list[End]] = field(default_factory=dict)
    """By full id: one for each row of the results."""
    error: str | None = None
    """The reason why the run failed."""
    own: dict[str, list[End]] = field(default_factory=dict)
    """The simulator's own results."""
    pods: list[PodRecord] = field(default_factory=list)
    """The rows of all pods, where the mix was played in this process."""
    events: Path | None = None
    """Its events.jsonl, likewise."""
    said: list[str] = field(default_factory=list)
    """The dialogue, where the mix was played in this process."""


def read_jobs_csv(path: Path) -> dict[str, list[End]]:
    """A file ``jobs.csv`` of Batsim's form. Nothing where there is none."""
    ends: dict[str, list[End]] = {}
    if path.exists():
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                ends.setdefault(f"{row['workload_name']}!{row['job_id']}", []).append(_end(row))
    return ends


def _end(row: dict[str, str]) -> End:
    if not row["starting_time"]:
        return End(row["final_state"])
    hosts = tuple(parse_intervals(row["allocated_resources"]))
    joules = float(row["consumed_energy"])
    return End(
        row["final_state"],
        float(row["starting_time"]),
        float(row["finish_time"]),
        hosts,
        None if joules == NO_ENERGY else joules,
    )
