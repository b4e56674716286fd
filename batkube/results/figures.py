"""The figures of a run as ``run.json`` has them; ``results/metrics.py`` computes them."""

from pydantic import BaseModel


class Spread(BaseModel, frozen=True):
    """The values of a measure over the jobs that ran; percentiles by nearest rank. None where none has run."""

    mean: float | None = None
    median: float | None = None
    p95: float | None = None
    p99: float | None = None
    max: float | None = None


class Figures(BaseModel, frozen=True):
    """The figures that sum up jobs and their pods. Those of times are over the jobs that ran, whatever their end."""

    jobs: int = 0
    """The number of jobs that ran and have ended."""
    waiting_time: Spread = Spread()
    """The seconds from a job's submission to its start."""
    turnaround_time: Spread = Spread()
    """The seconds from a job's submission to its end."""
    stretch: Spread = Spread()
    """The turnaround time over the execution time."""
    bounded_slowdown: Spread = Spread()
    """The same over at least ten seconds, and not less than 1."""
    makespan: float | None = None
    """The date at which the last of them ended, counted from 0, where the simulation begins."""
    throughput: float | None = None
    """Those jobs an hour, from 0 to the makespan."""
    cpu_utilization: float | None = None
    """The requests of pods while they were bound, over the offer of nodes that were up, from 0 to the makespan."""
    memory_utilization: float | None = None
    gpu_utilization: float | None = None
    fairness: float | None = None
    """Jain's index over the users' means of the bounded slowdown: 1 where all are alike; None below two users."""
    submitted: int = 0
    succeeded: int = 0
    failed: int = 0
    walltime_reached: int = 0
    killed: int = 0
    rejected: int = 0
    unfinished: int = 0
    preempted: int = 0
    """The number of pods that gave way to others."""
    lost_work: float = 0.0
    """The core-seconds of pods that were killed before their end."""
    attempts: int = 0
    failed_attempts: int = 0
    area_bound: float | None = None
    """The makespan that no schedule of these jobs on these nodes can go below (``lower_bound``)."""
    distance: float | None = None
    """The makespan over that bound."""
    wait_reasons: dict[str, float] = {}
    """The seconds for which pods waited, by reason, summed up over the pods."""
