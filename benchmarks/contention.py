"""A workload under contention: more work comes than the nodes can do, so pods wait, fail and are tried again."""

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inputs import write_platform, write_workload

HOUR = 3600.0
BURST = 15
"""Jobs that come at about the same time."""


@dataclass(frozen=True)
class Contention:
    """Jobs of one pod, 1 to 4 cores, run times exponential with a mean of an hour; they come in bursts.

    The nodes have 4 cores. With 300 pods in 40 (simulated) hours 8 nodes have more to do than they can half the time.
    ``urgent``: the share of jobs with a priority of 1000 instead of 0.
    """

    pods: int = 300
    nodes: int = 8
    hours: float = 40.0
    urgent: float = 0.0
    seed: int = 1

    def write(self, folder: Path) -> tuple[Path, Path]:
        """Platform and workload files, in ``folder``."""
        platform = write_platform(folder, self.nodes, cores=4, memory="16Gi")
        return platform, write_workload(folder, self.workload())

    def workload(self) -> dict[str, Any]:
        """Return the content of the workload file."""
        rng = random.Random(self.seed)
        between = self.hours * HOUR / (self.pods / BURST)
        jobs: list[dict[str, Any]] = []
        profiles: dict[str, dict[str, Any]] = {}
        date = 0.0
        for number in range(self.pods):
            # Some of a burst come at the same date, some seconds or minutes later.
            date += (
                between * rng.uniform(0.5, 1.4) if number % BURST == 0 else rng.choice((0.0, rng.expovariate(1 / 60)))
            )
            job = {"id": number, "subtime": round(date, 6), "res": 1, "profile": f"p{number}", "cpu": rng.randint(1, 4)}
            if self.urgent:
                job["priority"] = 1000 if rng.random() < self.urgent else 0
            jobs.append(job)
            profiles[f"p{number}"] = {"type": "delay", "delay": round(rng.expovariate(1 / HOUR) + 1, 6)}
        return {"nb_res": self.nodes, "jobs": jobs, "profiles": profiles}
