"""``pods.csv``: each pod's times, its node, and why it waited."""

import csv
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path


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
    scheduler: str
    node: str = ""
    phase: str = "Pending"
    reason: str = ""
    created_time: float | None = None
    bound_time: float | None = None
    starting_time: float | None = None
    finish_time: float | None = None
    failed_attempts: int = 0
    """The number of times the scheduler reported that it could not place the pod."""
    waited_for: str = ""
    """The last such report."""
    stages: PodStageTimes | None = None


def write_pods_csv(path: Path, pods: Iterable[PodRecord], *, stages: bool = False) -> None:
    """Write one row for each pod, in the order given; times with six decimals as in Batsim's files.

    ``stages``: with the columns of PodStageTimes at the end.
    """
    names = [field.name for field in fields(PodRecord) if field.name != "stages"]
    stage_names = [field.name for field in fields(PodStageTimes)] if stages else []
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names + stage_names)
        for pod in pods:
            cells = [_cell(getattr(pod, name)) for name in names]
            writer.writerow(cells + [_cell(getattr(pod.stages, name, None)) for name in stage_names])


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.6f}" if isinstance(value, float) else str(value)
