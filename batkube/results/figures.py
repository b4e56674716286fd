"""The figures of a run as ``run.json`` has them; ``results/metrics.py`` computes them."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel

Better = Literal["less", "more", ""]


@dataclass(frozen=True, slots=True)
class Judged:
    """The way in which comparisons judge a figure. Without it less is better."""

    better: Better = "less"
    """The direction in which the figure improves; empty for neither."""
    counts: bool = False
    """True if it counts things that do not happen a little more or less by chance."""


class Spread(BaseModel, frozen=True):
    """The values of a measure over the jobs that ran; percentiles by nearest rank. None where none has run."""

    mean: float | None = None
    median: float | None = None
    p95: float | None = None
    p99: float | None = None
    max: float | None = None


class Figures(BaseModel, frozen=True):
    """The figures that sum up jobs and their pods. Those of times are over the jobs that ran, whatever their end."""

    jobs: Annotated[int, Judged("", counts=True)] = 0
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
    throughput: Annotated[float | None, Judged("more")] = None
    """The jobs that ran and have ended, an hour, from 0 to the makespan."""
    cpu_utilization: Annotated[float | None, Judged("more")] = None
    """The requests of pods while they were bound, over the offer of nodes that were up, from 0 to the makespan."""
    memory_utilization: Annotated[float | None, Judged("more")] = None
    gpu_utilization: Annotated[float | None, Judged("more")] = None
    fairness: Annotated[float | None, Judged("more")] = None
    """Jain's index over the users' means of the bounded slowdown: 1 where all are alike; None below two users."""
    submitted: Annotated[int, Judged("", counts=True)] = 0
    succeeded: Annotated[int, Judged("more", counts=True)] = 0
    failed: Annotated[int, Judged(counts=True)] = 0
    walltime_reached: Annotated[int, Judged(counts=True)] = 0
    killed: Annotated[int, Judged(counts=True)] = 0
    rejected: Annotated[int, Judged(counts=True)] = 0
    unfinished: Annotated[int, Judged(counts=True)] = 0
    preempted: Annotated[int | None, Judged(counts=True)] = 0
    """The number of pods that gave way to others; None, as the next three, of jobs whose pods are not known."""
    lost_work: float | None = 0.0
    """The core-seconds of pods that were killed before their end."""
    attempts: Annotated[int | None, Judged("")] = 0
    failed_attempts: int | None = 0
    area_bound: Annotated[float | None, Judged("")] = None
    """The makespan that no schedule of these jobs on these nodes can go below (``lower_bound``)."""
    distance: float | None = None
    """The makespan over that bound."""
    wait_reasons: dict[str, float] = {}
    """The seconds for which pods waited, by reason, summed up over the pods; empty where the reasons are not known."""
    constraints: dict[str, float] = {}
    """The seconds of ``wait_reasons.constraints``, by the plugin of kube-scheduler that kept the pods away."""
