"""The figures of a run, each defined here and nowhere else; ``schedule.csv`` alone has Batsim's own means.

Times are simulated seconds, those that ``jobs.csv`` and ``pods.csv`` have; amounts are cores, bytes and devices.
docs/results.md has all formulas in words.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from batkube.results.figures import Figures, Spread
from batkube.results.pods import PodRecord
from batkube.results.run import Jobs

DIGITS = 6
"""The decimals that figures are rounded to, which are those of Batsim's files."""
SHORTEST_EXECUTION = 1e-5
"""The seconds for which a job or pod that took no time is taken to have run, as in Batsim: its stretch is a number."""
SHORT_JOB = 10.0
"""The execution time in seconds below which the bounded slowdown does not divide by less."""
RESOURCES = ("cpu", "memory", "gpu")
WAIT_REASONS = (
    "no_capacity", "fragmentation", "constraints", "queue_order", "back_off", "gang", "gates", "startup",
)  # fmt: skip
"""The reasons why pods wait; ``pods.csv`` has a column ``wait_...`` for each."""
SIZE_CLASSES = (1, 4, 16, 64)
"""The most cores of a job in each class of sizes but the last."""


class EndedJob(Protocol):
    """A job that is over, as a row of ``jobs.csv`` has it."""

    @property
    def job_id(self) -> str:
        """The name alone, without the workload."""

    @property
    def workload_name(self) -> str:
        """The name of its workload."""

    @property
    def submission_time(self) -> float:
        """The date at which it was submitted."""

    @property
    def starting_time(self) -> float | None:
        """The date at which it began to run; None for a rejected one."""

    @property
    def finish_time(self) -> float | None:
        """The date at which it was over; None for a rejected one."""

    @property
    def final_state(self) -> str:
        """Batsim's word for how it ended."""


# The measures of one pod or job


def waiting(submitted: float, started: float) -> float:
    """Return the seconds from submission to start."""
    return started - submitted


def turnaround(submitted: float, finished: float) -> float:
    """Return the seconds from submission to end."""
    return finished - submitted


def stretch(turnaround: float, execution: float) -> float:
    """Return how much longer something took than it ran."""
    return turnaround / max(execution, SHORTEST_EXECUTION)


def bounded_slowdown(turnaround: float, execution: float) -> float:
    """Return the stretch of something that ran for at least SHORT_JOB, and not less than 1.

    (Feitelson et al., Theory and practice in parallel job scheduling, 1997.)
    """
    return max(1.0, turnaround / max(execution, SHORT_JOB))


def complete_pod(pod: PodRecord, now: float) -> None:
    """Set the measures of a pod that follow from its times, as they are at ``now``."""
    created, started, finished = pod.created_time, pod.starting_time, pod.finish_time
    if started is None:
        pod.waiting_time = (now if finished is None else finished) - created
        return
    pod.waiting_time = started - created
    if finished is None:
        return
    execution = finished - started
    pod.turnaround_time = finished - created
    pod.stretch = stretch(pod.turnaround_time, execution)
    pod.bounded_slowdown = bounded_slowdown(pod.turnaround_time, execution)


# Means and the like


def nearest_rank(ordered: Sequence[float], percent: float) -> float:
    """Return the smallest of the values that at least ``percent`` of them do not go beyond. They are in order."""
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


def spread(values: Iterable[float]) -> Spread:
    """Sum up values."""
    ordered = sorted(values)
    if not ordered:
        return Spread()
    return Spread(
        mean=round(math.fsum(ordered) / len(ordered), DIGITS),
        median=round(nearest_rank(ordered, 50), DIGITS),
        p95=round(nearest_rank(ordered, 95), DIGITS),
        p99=round(nearest_rank(ordered, 99), DIGITS),
        max=round(ordered[-1], DIGITS),
    )


def jain(values: Sequence[float]) -> float | None:
    """Return Jain's index of fairness: (sum x)² / (n · sum x²); None for less than two values."""
    squares = math.fsum(value * value for value in values)
    if len(values) < 2 or squares == 0:
        return None
    return math.fsum(values) ** 2 / (len(values) * squares)


def size_class(cores: float) -> str:
    """Return the name of the class of a job with so many cores."""
    below = 0
    for most in SIZE_CLASSES:
        if cores <= most:
            return str(most) if most - below == 1 else f"{below + 1}-{most}"
        below = most
    return f"{below + 1}-"


# Jobs together with their pods


@dataclass(slots=True)
class JobFacts:
    """A job, and what its pods add up to."""

    submitted: float = 0.0
    started: float | None = None
    finished: float | None = None
    final_state: str = ""
    """Empty for a job that is not over."""
    user: str = ""
    queue: str = ""
    priority: int = 0
    requested: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Cores, bytes and devices of all its pods together."""
    held: list[tuple[float, float, tuple[float, float, float]]] = field(default_factory=list)
    """For each pod that was bound: from when to when it had its node, and what it asked for."""
    preempted: int = 0
    lost_work: float = 0.0
    attempts: int = 0
    failed_attempts: int = 0
    waits: Sequence[float] | None = None
    """The seconds for which its pods waited, in the order of WAIT_REASONS; None for not at all."""
    constraints: Sequence[tuple[str, float]] = ()
    """The seconds of ``constraints``, by the plugin of kube-scheduler that kept the pods away."""


@dataclass(frozen=True, slots=True)
class Capacity:
    """The resources that the nodes offered over time."""

    total: tuple[float, float, float]
    """Cores, bytes and devices of all nodes together."""
    down: Sequence[tuple[float, float, tuple[float, float, float]]] = ()
    """From when to when nodes were not ready, and what they would have offered."""

    def until(self, date: float) -> tuple[float, float, float]:
        """Return the core-seconds, byte-seconds and device-seconds that were offered from 0 to ``date``."""
        offered = [amount * date for amount in self.total]
        for since, until, amounts in self.down:
            gone = max(0.0, min(until, date) - since)
            for index, amount in enumerate(amounts):
                offered[index] -= amount * gone
        return offered[0], offered[1], offered[2]


def figures(jobs: Sequence[JobFacts], capacity: Capacity | None = None, *, now: float = math.inf) -> Figures:
    """Compute the figures of these jobs. ``capacity``: of the cluster, where it is known. ``now``: pods that have not
    ended hold their nodes until then.
    """
    ran = [job for job in jobs if job.finished is not None and job.started is not None]
    makespan = max((job.finished or 0.0 for job in ran), default=None)
    utilization = _utilization(jobs, capacity, makespan, now) if capacity and makespan else (None, None, None)
    bound = lower_bound(ran, capacity) if ran else None
    turnarounds = [turnaround(job.submitted, job.finished or 0.0) for job in ran]
    executions = [(job.finished or 0.0) - (job.started or 0.0) for job in ran]
    slowdowns = list(map(bounded_slowdown, turnarounds, executions))
    return Figures(
        jobs=len(ran),
        waiting_time=spread(waiting(job.submitted, job.started or 0.0) for job in ran),
        turnaround_time=spread(turnarounds),
        stretch=spread(map(stretch, turnarounds, executions)),
        bounded_slowdown=spread(slowdowns),
        makespan=_rounded(makespan),
        throughput=_rounded(len(ran) / makespan * 3600) if makespan else None,
        cpu_utilization=utilization[0],
        memory_utilization=utilization[1],
        gpu_utilization=utilization[2],
        fairness=_rounded(_fairness(ran, slowdowns)),
        **job_counts(jobs, submitted=len(jobs), over=sum(bool(job.final_state) for job in jobs)).model_dump(),
        preempted=sum(job.preempted for job in jobs),
        lost_work=round(math.fsum(job.lost_work for job in jobs), DIGITS),
        attempts=sum(job.attempts for job in jobs),
        failed_attempts=sum(job.failed_attempts for job in jobs),
        area_bound=_rounded(bound),
        distance=_rounded(makespan / bound) if makespan and bound else None,
        wait_reasons=_wait_reasons(jobs),
        constraints=_constraints(jobs),
    )


def figures_by(
    jobs: Sequence[JobFacts], whole: Figures, capacity: Capacity | None = None, *, now: float = math.inf
) -> dict[str, dict[str, Figures]]:
    """Compute the figures by user, queue, priority and size class. ``whole``: those of all jobs.

    Users and queues without a name, and jobs without pods, are in no group.
    """
    keys: dict[str, Callable[[JobFacts], str]] = {
        "user": lambda job: job.user,
        "queue": lambda job: job.queue,
        "priority": lambda job: str(job.priority) if job.requested[0] else "",
        "size": lambda job: size_class(job.requested[0]) if job.requested[0] else "",
    }
    found: dict[str, dict[str, Figures]] = {}
    for name, key in keys.items():
        groups: dict[str, list[JobFacts]] = {}
        for job in jobs:
            if group := key(job):
                groups.setdefault(group, []).append(job)
        found[name] = {
            group: whole if len(members) == len(jobs) else figures(members, capacity, now=now)
            for group, members in sorted(groups.items(), key=lambda item: _natural(item[0]))
        }
    return found


def lower_bound(ran: Iterable[JobFacts], capacity: Capacity | None) -> float:
    """Return a date before which no schedule of these jobs can be done, whatever its order and places.

    It is the largest of: each job's submission and the time that it ran; and for each resource and each submission,
    that date and the time that the work submitted since takes all nodes together, none of them ever down.
    """
    jobs = sorted(ran, key=lambda job: -job.submitted)
    total = capacity.total if capacity else (0.0, 0.0, 0.0)
    work = [0.0, 0.0, 0.0]
    best = 0.0
    for job in jobs:
        execution = (job.finished or 0.0) - (job.started or 0.0)
        best = max(best, job.submitted + execution)
        for index, amount in enumerate(job.requested):
            if total[index] > 0:
                work[index] += amount * execution
                best = max(best, job.submitted + work[index] / total[index])
    return best


def job_counts(
    jobs: Iterable[EndedJob | JobFacts], *, submitted: int, over: int, running: int = 0, stopped: int = 0
) -> Jobs:
    """Count the jobs by their ends. ``over``: how many of those that were submitted have ended or were rejected.

    ``running``, ``stopped``: how many pods that run for ever did so until the end, and how many were deleted.
    """
    counts = Jobs(submitted=submitted, unfinished=submitted - over - running, running=running, stopped=stopped)
    counts.killed -= stopped
    for job in jobs:
        match job.final_state:
            case "":
                pass
            case "REJECTED":
                counts.rejected += 1
            case "COMPLETED_SUCCESSFULLY":
                counts.succeeded += 1
            case "COMPLETED_WALLTIME_REACHED":
                counts.walltime_reached += 1
            case "COMPLETED_KILLED":
                counts.killed += 1
            case _:
                counts.failed += 1
    return counts


def _utilization(
    jobs: Iterable[JobFacts], capacity: Capacity, makespan: float, now: float
) -> tuple[float | None, float | None, float | None]:
    end = min(makespan, now)
    sums = [0.0, 0.0, 0.0]
    for job in jobs:
        for since, until, amounts in job.held:
            passed = min(until, end) - since
            if passed > 0:
                for index, amount in enumerate(amounts):
                    sums[index] += amount * passed
    cpu, memory, gpu = (
        round(held / offered, DIGITS) if offered > 0 else None
        for held, offered in zip(sums, capacity.until(end), strict=True)
    )
    return cpu, memory, gpu


def _fairness(ran: Sequence[JobFacts], slowdowns: Sequence[float]) -> float | None:
    by_user: dict[str, list[float]] = {}
    for job, slowdown in zip(ran, slowdowns, strict=True):
        if job.user:
            by_user.setdefault(job.user, []).append(slowdown)
    return jain([math.fsum(values) / len(values) for values in by_user.values()])


def _wait_reasons(jobs: Iterable[JobFacts]) -> dict[str, float]:
    sums = [0.0] * len(WAIT_REASONS)
    for job in jobs:
        if job.waits is not None:
            sums = [total + seconds for total, seconds in zip(sums, job.waits, strict=True)]
    return {name: round(seconds, DIGITS) for name, seconds in zip(WAIT_REASONS, sums, strict=True)}


def _constraints(jobs: Iterable[JobFacts]) -> dict[str, float]:
    """Return the seconds by plugin, the longest first."""
    sums: dict[str, float] = {}
    for job in jobs:
        for plugin, seconds in job.constraints:
            sums[plugin] = sums.get(plugin, 0.0) + seconds
    longest = sorted(sums.items(), key=lambda found: (-found[1], found[0]))
    return {plugin: round(seconds, DIGITS) for plugin, seconds in longest}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)


def _natural(name: str) -> tuple[float, str]:
    """Return the order of groups: numbers by their size, then names."""
    head = name.split("-")[0] if name[:1].isdigit() else name
    try:
        return float(head), name
    except ValueError:
        return math.inf, name
