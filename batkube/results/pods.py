"""``pods.csv``: each pod's times, its node, what it asked for, and why it waited. docs/results.md has all columns."""

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from batkube.results.csv_rows import Table
from batkube.results.resizes import Resize

REPLACED = "Replaced"
"""The reason of a pod that was taken away, and another made in its place: its node was lost, or its gang gave way."""


@dataclass(slots=True)
class PodStageTimes:
    """The times of a pod's stages in the kubelet, with columns of their own if a start-up model was used."""

    pulling_time: float | None = None
    pulled_time: float | None = None
    container_created_time: float | None = None
    exit_time: float | None = None
    """The end of its process; the pod's own end is ``finish_time``."""


@dataclass(slots=True)
class PodRecord:
    """A row of ``pods.csv``. Times are simulated seconds; None is written as an empty cell."""

    pod: str
    namespace: str
    job_id: str
    """The job as Batsim names it: ``WORKLOAD!NAME``."""
    scheduler: str
    user: str = ""
    queue: str = ""
    priority: int = 0
    """The number that admission gave it."""
    node: str = ""
    phase: str = "Pending"
    reason: str = ""
    created_time: float = 0.0
    first_attempt_time: float | None = None
    bound_time: float | None = None
    starting_time: float | None = None
    finish_time: float | None = None
    """The date at which it ended, or was taken away; None while it is there."""
    attempts: int = 0
    """The number of times the scheduler told what came of an attempt to place it."""
    failed_attempts: int = 0
    """The number of times the scheduler reported that it could not place the pod."""
    waited_for: str = ""
    """The last such report."""
    waiting_time: float | None = None
    """The seconds from its creation to its start; of a pod that never started, to its end or that of the run."""
    turnaround_time: float | None = None
    stretch: float | None = None
    bounded_slowdown: float | None = None
    cpu: float = 0.0
    """The cores that it asked for."""
    memory: int = 0
    """The bytes that it asked for."""
    gpu: int = 0
    """The ``nvidia.com/gpu`` that it asked for."""
    other_requests: str = ""
    """Other resources: ``name=number;...``."""
    preempted: bool = False
    lost_work: float = 0.0
    """The core-seconds for which it ran, if it was killed before its end; else 0."""
    wait_no_capacity: float | None = 0.0
    """The seconds for which it waited for this reason; None where the reasons are not known."""
    wait_fragmentation: float | None = 0.0
    wait_constraints: float | None = 0.0
    wait_queue_order: float | None = 0.0
    wait_back_off: float | None = 0.0
    wait_gang: float | None = 0.0
    wait_gates: float | None = 0.0
    wait_startup: float | None = 0.0
    constraints: str = ""
    """The seconds of ``wait_constraints`` by kube-scheduler's plugin: ``name=seconds;...``."""
    stages: PodStageTimes | None = None
    resizes: tuple[Resize, ...] = ()
    """The requests that it had later, if they were changed: ``resizes.csv``."""


PODS = Table(PodRecord, without=["stages", "resizes"])
STAGE_CELLS = Table(PodStageTimes)
STAGES = STAGE_CELLS.names
_NO_STAGES = PodStageTimes()


def named_seconds(seconds: Mapping[str, float]) -> str:
    """Return the cell for seconds by name, in order of the names."""
    return ";".join(f"{name}={value:.6f}" for name, value in sorted(seconds.items()))


def read_named_seconds(cell: str) -> dict[str, float]:
    """Return the seconds by name. Raises ValueError where the cell has others."""
    pairs = (part.split("=") for part in cell.split(";")) if cell else ()
    return {name: float(value) for name, value in pairs}


def write_pods_csv(path: Path, pods: Iterable[PodRecord], *, stages: bool = False) -> None:
    """Write one row for each pod, in the order given; times with six decimals as in Batsim's files.

    ``stages``: with the columns of PodStageTimes at the end.
    """
    if not stages:
        PODS.write(path, pods)
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*PODS.names, *STAGES])
        for pod in pods:
            writer.writerow([*PODS.cells(pod), *STAGE_CELLS.cells(pod.stages or _NO_STAGES)])


def read_pods_csv(path: Path) -> Iterator[PodRecord]:
    """Yield the pods of a file, without their stages. Raises ResultsError."""
    return PODS.read(path)
