"""``schedule.csv``: one row that sums up a schedule.

https://batsim.readthedocs.io/en/latest/output-schedule.html
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from batkube.batsim.allocation import parse_intervals
from batkube.batsim.outputs.jobs import REJECTED, JobRecord, Run, run_of

STATES = ("computing", "idle", "sleeping", "switching_off", "switching_on", "unavailable")
"""The states of a machine, in the order of the columns."""

_HEADER = (
    "batsim_version,consumed_joules,makespan,max_slowdown,max_turnaround_time,max_waiting_time,mean_slowdown,"
    "mean_turnaround_time,mean_waiting_time,nb_computing_machines,nb_grouped_switches,nb_jobs,nb_jobs_finished,"
    "nb_jobs_killed,nb_jobs_rejected,nb_jobs_success,nb_machine_switches,scheduling_time,simulation_time,success_rate,"
    + ",".join(f"time_{state}" for state in STATES)
    + "\n"
)


@dataclass(frozen=True, slots=True)
class MachineTotals:
    """The totals over all machines."""

    times: Mapping[str, float] = field(default_factory=dict)
    """Machine-seconds by state, of each machine up to its last change of state."""
    consumed_joules: float = 0.0
    """The joules from the first submission to the end of the last job."""
    nb_grouped_switches: int = 0
    """The number of SET_RESOURCE_STATE."""
    nb_machine_switches: int = 0
    """The number of machines of all SET_RESOURCE_STATE together."""


_MEASURES: tuple[Callable[[Run], float], ...] = (
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
    totals: MachineTotals | None = None,
    batsim_version: str = "batkube",
) -> None:
    """Write the one row that sums up a schedule.

    ``nb_machines``: hosts, storage included. ``scheduling_time`` and ``simulation_time`` are real seconds: 0, so that
    equal runs give equal files, unless the caller wants them. As in Batsim, means divide by the number of all jobs,
    rejected ones included. Without ``totals`` hosts count as computing while they have a job, and energy as none.
    """
    runs = [run for record in records if (run := run_of(record))]
    success = sum(record.success for record in records)
    rejected = sum(record.final_state == REJECTED for record in records)
    totals = totals or MachineTotals(times=_times(runs))
    fields = [
        batsim_version,
        f"{totals.consumed_joules:.6f}",
        f"{max((run.finish for run in runs), default=0.0):.6f}",
        *(f"{max(map(measure, runs), default=0.0):.6f}" for measure in _MEASURES),
        *(_mean(math.fsum(map(measure, runs)), len(records)) for measure in _MEASURES),
        str(nb_machines),
        str(totals.nb_grouped_switches),
        str(len(records)),
        str(len(records) - rejected),
        str(len(records) - rejected - success),
        str(rejected),
        str(success),
        str(totals.nb_machine_switches),
        f"{scheduling_time:.6f}",
        f"{simulation_time:.6f}",
        _mean(success, len(records)),
        *(f"{totals.times.get(state, 0.0):.6f}" for state in STATES),
    ]
    path.write_text(_HEADER + ",".join(fields) + "\n", encoding="utf-8")


def _mean(total: float, count: int) -> str:
    # 0/0 as the C library that Batsim uses prints it.
    return f"{total / count:.6f}" if count else "-nan"


def _times(runs: Iterable[Run]) -> dict[str, float]:
    """Return host-seconds computing and idle; each host counts up to the end of its last job, as in Batsim."""
    busy: dict[int, list[tuple[float, float]]] = {}
    for run in runs:
        for host in parse_intervals(run.record.allocated_resources):
            busy.setdefault(host, []).append((run.start, run.finish))
    computing = [_covered(spans) for spans in busy.values()]
    last = (max(end for _, end in spans) for spans in busy.values())
    idle = (end - known for end, known in zip(last, computing, strict=True))
    return {"computing": math.fsum(computing), "idle": math.fsum(idle)}


def _covered(spans: list[tuple[float, float]]) -> float:
    """Return the length of the union of ``spans``."""
    total, reached = 0.0, -math.inf
    for begin, end in sorted(spans):
        total += max(0.0, end - max(begin, reached))
        reached = max(reached, end)
    return total
