"""The cases whose cost is measured: a platform, a workload, and a scheduler each."""

import random
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from inputs import write_platform, write_workload

MEAN_DELAY = 600.0
"""Simulated seconds that a job runs on average; run times are exponential."""
LOAD = 0.7
"""Of the hosts that arrivals are made for, the share in use once as many jobs end as come."""


@dataclass(frozen=True)
class Case:
    """Delay jobs on exclusive hosts of one core."""

    hosts: int
    jobs: int
    scheduler: str
    largest: int = 1
    """Jobs ask for 1 to so many hosts."""
    at_once: bool = False
    """All come at 0, else as a Poisson process."""
    made_for: int | None = None
    """Hosts for which the arrivals are made, if not for these."""
    seed: int = 1

    def write(self, folder: Path) -> list[str]:
        """Platform and workload files in ``folder``; the words of ``batkube run`` that name them and the scheduler."""
        platform, workload = write_platform(folder, self.hosts), write_workload(folder, self.workload())
        return ["--platform", str(platform), "--workload", str(workload), "--scheduler", self.scheduler]

    def workload(self) -> dict[str, Any]:
        """Return what the workload file says."""
        rng = random.Random(self.seed)
        size = (1 + self.largest) / 2
        between = MEAN_DELAY * size / (LOAD * (self.made_for or self.hosts))
        jobs: list[dict[str, Any]] = []
        profiles: dict[str, dict[str, Any]] = {}
        date = 0.0
        for number in range(self.jobs):
            if not self.at_once:
                date += rng.expovariate(1 / between)
            res = rng.randint(1, self.largest)
            jobs.append({"id": number, "subtime": round(date, 6), "res": res, "profile": f"p{number}"})
            profiles[f"p{number}"] = {"type": "delay", "delay": round(rng.expovariate(1 / MEAN_DELAY) + 1, 6)}
        return {"nb_res": self.hosts, "jobs": jobs, "profiles": profiles}

    def smaller(self, jobs: int) -> "Case":
        """The same with so many jobs."""
        return replace(self, jobs=jobs)


CASES = {
    "poisson-512": Case(512, 3_000, "kube-scheduler"),
    "poisson-5000": Case(5_000, 3_000, "kube-scheduler", made_for=512),
    "policy": Case(512, 10_000, "fifo"),
    "backlog": Case(64, 2_000, "kube-scheduler", at_once=True),
    "gangs": Case(512, 1_000, "kube-scheduler", largest=16),
}
