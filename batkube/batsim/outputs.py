"""``jobs.csv`` and ``schedule.csv``: Batsim's columns, order and number formats, so that tools for Batsim read ours.

https://batsim.readthedocs.io/en/latest/output-jobs.html, output-schedule.html, and files that Batsim 4.2 wrote.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from batkube.batsim.allocation import parse_intervals

REJECTED = "REJECTED"
SHORTEST_EXECUTION = 1e-5
"""Batsim writes this for a job that took no time at all, so that its stretch is a number."""

_JOBS_HEADER = (
    "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state,"
    "starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,consumed_energy,"
    "metadata\n"
)
_SCHEDULE_HEADER = (
    "batsim_version,consumed_joules,makespan,max_slowdown,max_turnaround_time,max_waiting_time,mean_slowdown,"
    "mean_turnaround_time,mean_waiting_time,nb_computing_machines,nb_grouped_switches,nb_jobs,nb_jobs_finished,"
    "nb_jobs_killed,nb_jobs_rejected,nb_jobs_success,nb_machine_switches,scheduling_time,simulation_time,success_rate,"
    "time_computing,time_idle,time_sleeping,time_switching_off,time_switching_on,time_unavailable\n"
)

Outage = tuple[int, float, float]
"""A host, and from when to when it was unavailable."""


@dataclass(frozen=True, slots=True)
class JobRecord:
    """A job that has ended. Times are simulated seconds; those of the run itself are None for a rejected job."""

    job_id: str
    """The name alone, without the workload."""
    workload_name: str
    profile: str
    submission_time: float
    """As the workload file says."""
    requested_number_of_resources: int
    requested_time: float | None
    """The walltime; None for none."""
    success: bool
    final_state: str
    """``COMPLETED_...`` or ``REJECTED``."""
    starting_time: float | None = None
    finish_time: float | None = None
    allocated_resources: str = ""
    """An interval set of host numbers."""
    consumed_energy: float | None = None
    """Joules; None where energy is not simulated."""
    metadata: str = ""


@dataclass(frozen=True, slots=True)
class _Run:
    """The times of a job that ran, as Batsim writes them."""

    record: JobRecord
    start: float
    execution: float
    finish: float

    @property
    def waiting(self) -> float:
        return self.start - self.record.submission_time

    @property
    def turnaround(self) -> float:
        return self.finish - self.record.submission_time

    @property
    def stretch(self) -> float:
        return self.turnaround / self.execution


def _run(record: JobRecord) -> _Run | None:
    start, finish = record.starting_time, record.finish_time
    if start is None or finish is None:
        return None
    if finish == start:
        finish = start + SHORTEST_EXECUTION
        return _Run(record, start, SHORTEST_EXECUTION, finish)
    return _Run(record, start, finish - start, finish)


def write_jobs_csv(path: Path, records: Iterable[JobRecord]) -> None:
    """One row a record, in the order given: Batsim's is that of completion and rejection."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(_JOBS_HEADER)
        for record in records:
            file.write(_row(record))


def _row(record: JobRecord) -> str:
    walltime = -1.0 if record.requested_time is None else record.requested_time
    fields = [
        _text(record.job_id),
        _text(record.workload_name),
        _text(record.profile),
        f"{record.submission_time:.6f}",
        str(record.requested_number_of_resources),
        f"{walltime:.6f}",
        str(int(record.success)),
        record.final_state,
    ]
    if run := _run(record):
        energy = -1.0 if record.consumed_energy is None else record.consumed_energy
        times = (run.start, run.execution, run.finish, run.waiting, run.turnaround, run.stretch)
        fields += [f"{time:.6f}" for time in times]
        fields += [record.allocated_resources, f"{energy:.6f}"]
    else:
        fields += [""] * 8
    return ",".join(fields) + ',"' + record.metadata.replace('"', '""') + '"\n'


def _text(value: str) -> str:
    """Batsim writes names as they are; those that would break the row are quoted."""
    if any(character in value for character in ',"\r\n'):
        return '"' + value.replace('"', '""') + '"'
    return value


_MEASURES: tuple[Callable[[_Run], float], ...] = (
    lambda run: run.stretch,
    lambda run: run.turnaround,
    lambda run: run.waiting,
)


def write_schedule_csv(
    path: Path,
    records: Sequence[JobRecord],
    *,
    nb_machines: int,
    scheduling_time: float = 0.0,
    simulation_time: float = 0.0,
    outages: Iterable[Outage] = (),
    batsim_version: str = "batkube",
) -> None:
    """The one row that sums a schedule up.

    ``nb_machines``: hosts, storage included. ``scheduling_time`` and ``simulation_time`` are real seconds: 0, so that
    equal runs give equal files, unless the caller wants them. Means divide by the number of all jobs,
    rejected ones included, as Batsim's.
    """
    runs = [run for record in records if (run := _run(record))]
    success = sum(record.success for record in records)
    rejected = sum(record.final_state == REJECTED for record in records)
    computing, idle, unavailable = _host_seconds(runs, outages)
    fields = [
        batsim_version,
        "0.000000",
        f"{max((run.finish for run in runs), default=0.0):.6f}",
        *(f"{max(map(measure, runs), default=0.0):.6f}" for measure in _MEASURES),
        *(_mean(math.fsum(map(measure, runs)), len(records)) for measure in _MEASURES),
        str(nb_machines),
        "0",
        str(len(records)),
        str(len(records) - rejected),
        str(len(records) - rejected - success),
        str(rejected),
        str(success),
        "0",
        f"{scheduling_time:.6f}",
        f"{simulation_time:.6f}",
        _mean(success, len(records)),
        f"{computing:.6f}",
        f"{idle:.6f}",
        "0.000000",
        "0.000000",
        "0.000000",
        f"{unavailable:.6f}",
    ]
    path.write_text(_SCHEDULE_HEADER + ",".join(fields) + "\n", encoding="utf-8")


def _mean(total: float, count: int) -> str:
    # 0/0 as the C library that Batsim uses prints it.
    return f"{total / count:.6f}" if count else "-nan"


def _host_seconds(runs: Iterable[_Run], outages: Iterable[Outage]) -> tuple[float, float, float]:
    """Host-seconds computing, idle and unavailable; each host counts up to its last change of state, as in Batsim."""
    busy: dict[int, list[tuple[float, float]]] = {}
    for run in runs:
        for host in parse_intervals(run.record.allocated_resources):
            busy.setdefault(host, []).append((run.start, run.finish))
    down: dict[int, list[tuple[float, float]]] = {}
    for host, begin, end in outages:
        down.setdefault(host, []).append((begin, end))
    computing, idle, unavailable = [], [], []
    for host in sorted(busy.keys() | down.keys()):
        spans = busy.get(host, []) + down.get(host, [])
        known, out = _covered(spans), _covered(down.get(host, []))
        # A job that runs on through an outage computes nothing in Batsim's books.
        computing.append(known - out)
        unavailable.append(out)
        idle.append(max(end for _, end in spans) - known)
    return math.fsum(computing), math.fsum(idle), math.fsum(unavailable)


def _covered(spans: list[tuple[float, float]]) -> float:
    """Length of the union of ``spans``."""
    total, reached = 0.0, -math.inf
    for begin, end in sorted(spans):
        total += max(0.0, end - max(begin, reached))
        reached = max(reached, end)
    return total
