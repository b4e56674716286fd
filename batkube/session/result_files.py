"""The files that a session leaves when it is over, in the order in which they are written.

``events.jsonl`` is written while it goes on, and ``run.json`` also when it begins.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from batkube.batsim.outputs import JobRecord, MachineTotals, write_jobs_csv, write_schedule_csv
from batkube.bridge.simulation import Simulation
from batkube.results.comparison import file_sha256
from batkube.results.pods import write_pods_csv
from batkube.results.run import Run


@dataclass(frozen=True)
class EndedSession:
    """The facts of a session that are written."""

    run: Run
    simulation: Simulation
    jobs: Sequence[JobRecord]
    """The jobs that have ended, with the simulator's own dates where it has left them."""
    totals: MachineTotals | None
    """The totals of machines in the simulator's own file."""
    has_stages: bool
    """True if pods take time to start, so that their stages have dates."""


def _jobs(path: Path, ended: EndedSession) -> None:
    write_jobs_csv(path, ended.jobs)
    ended.run.jobs_sha256 = file_sha256(path)


def _schedule(path: Path, ended: EndedSession) -> None:
    machines = len(ended.simulation.cluster.hosts)
    write_schedule_csv(path, ended.jobs, nb_machines=machines, totals=ended.totals)


def _pods(path: Path, ended: EndedSession) -> None:
    write_pods_csv(path, ended.simulation.finished.pods(), stages=ended.has_stages)


def _run(path: Path, ended: EndedSession) -> None:
    ended.run.write(path)


RESULT_FILES: dict[str, Callable[[Path, EndedSession], None]] = {
    "jobs.csv": _jobs,
    "schedule.csv": _schedule,
    "pods.csv": _pods,
    "run.json": _run,
}
"""The functions that write them; the last has the hash of the first."""
