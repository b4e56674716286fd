"""The files that a session leaves when it is over, in the order in which they are written.

``events.jsonl`` is written while it goes on, and ``run.json`` also when it begins.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from batkube.batsim.outputs import JobRecord, MachineTotals, write_jobs_csv, write_schedule_csv
from batkube.bridge.simulation import Simulation
from batkube.results.accounts import Accounts
from batkube.results.comparison import file_sha256
from batkube.results.csv_rows import Table
from batkube.results.frames import LATE, TABLES, write_parquet
from batkube.results.metrics import complete_pod
from batkube.results.nodes import write_nodes_csv
from batkube.results.pods import PodRecord, write_pods_csv
from batkube.results.run import Run
from batkube.results.series import write_series
from batkube.session.conclusion import note_use
from batkube.session.process_use import ProcessUse


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
    accounts: Accounts
    """Takes in jobs and pods while they are written."""
    requests: Mapping[tuple[str, str], int]
    """The requests that came over HTTP, by verb and resource."""
    process: ProcessUse | None
    """The use of the scheduler's process."""


def _jobs(path: Path, ended: EndedSession) -> None:
    write_jobs_csv(path, ended.jobs)
    for job in ended.jobs:
        ended.accounts.add_job(job)
    ended.run.jobs_sha256 = file_sha256(path)


def _schedule(path: Path, ended: EndedSession) -> None:
    machines = ended.simulation.cluster.machines
    write_schedule_csv(path, ended.jobs, nb_machines=machines, totals=ended.totals)


def _pods(path: Path, ended: EndedSession) -> None:
    write_pods_csv(path, _accounted(ended), stages=ended.has_stages)
    figures = ended.run.figures = ended.accounts.figures()
    ended.run.figures_by = ended.accounts.figures_by(figures)
    ended.run.makespan, ended.run.mean_waiting_time = figures.makespan, figures.waiting_time.mean


def _accounted(ended: EndedSession) -> Iterator[PodRecord]:
    for pod in ended.simulation.finished.pods():
        complete_pod(pod, ended.accounts.end)
        ended.accounts.add_pod(pod)
        yield pod


def _series(path: Path, ended: EndedSession) -> None:
    timeline = ended.accounts.timeline()
    by_node, nodes = map(path.with_name, WITH_THE_SERIES)
    in_one_step(by_node, lambda partial: write_series(path, partial, timeline.play()))
    in_one_step(nodes, lambda partial: write_nodes_csv(partial, timeline.node_rows()))


def _run(path: Path, ended: EndedSession) -> None:
    note_use(ended.run, ended.requests, ended.process)
    ended.run.write(path)


RESULT_FILES: dict[str, Callable[[Path, EndedSession], None]] = {
    "jobs.csv": _jobs,
    "schedule.csv": _schedule,
    "pods.csv": _pods,
    "series.csv": _series,
    "run.json": _run,
}
"""The functions that write them; the last has the hash of the first."""
WITH_THE_SERIES = ("node_series.csv", "nodes.csv")
"""The files that the function of ``series.csv`` writes, too: one pass over time makes all three."""


def write_results(out: Path, ended: EndedSession, *, parquet: bool = False) -> None:
    """Write all files, each in one step: a reader never sees half of one. Raises OSError, which names the file.

    ``parquet``: the tables as Apache Parquet, too.
    """
    for name, write in RESULT_FILES.items():
        in_one_step(out / name, lambda partial, write=write: write(partial, ended))  # type: ignore[misc]
    for name, table in TABLES.items() if parquet else ():
        if name in LATE and not (out / f"{name}.csv").exists():
            continue
        in_one_step(out / f"{name}.parquet", partial(_parquet, out / f"{name}.csv", table))


def _parquet(rows: Path, table: Table[Any], path: Path) -> None:
    write_parquet(rows, path, table)


def in_one_step(path: Path, write: Callable[[Path], None]) -> None:
    """Let ``write`` fill a file beside ``path``, which takes its name when all of it is there.

    Raises OSError, which names ``path``; nothing is left of the attempt then.
    """
    partial = path.with_name(path.name + ".part")
    try:
        write(partial)
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        if error.filename in (None, str(partial)):
            error.filename = str(path)
        raise
