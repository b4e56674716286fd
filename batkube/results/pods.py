"""``pods.csv``: each pod's times, its node, and why it waited."""

import csv
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path


@dataclass(slots=True)
class PodRecord:
    """A row of ``pods.csv``. Times are simulated seconds; None is written as nothing."""

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
    """How often the scheduler reported that it could not place the pod."""
    waited_for: str = ""
    """The last such report."""


def write_pods_csv(path: Path, pods: Iterable[PodRecord]) -> None:
    """Write one row a pod, in the order given; times with six decimals as in Batsim's files."""
    names = [field.name for field in fields(PodRecord)]
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        for pod in pods:
            writer.writerow([_cell(getattr(pod, name)) for name in names])


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.6f}" if isinstance(value, float) else str(value)
