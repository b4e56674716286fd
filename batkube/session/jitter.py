"""Submissions that come a little later by chance (``--jitter``): the same workload, not quite in step."""

from pathlib import Path
from random import Random
from typing import Any

from batkube.batsim.profiles import TraceProfile
from batkube.batsim.workload import Workload, parse_workload
from batkube.bridge.errors import InputError

DIGITS = 6
"""The decimals of dates in Batsim's files."""


def jittered(workload: Workload, path: Path, *, seed: int, most: float) -> Workload:
    """Return the workload with each job's submission later by a draw of up to ``most`` seconds.

    A job's draw follows from the seed and its name alone. Raises WorkloadError and InputError.
    """
    if trace := next((one for one in workload.profiles.values() if isinstance(one, TraceProfile)), None):
        raise InputError(f"--jitter: {path}: profile {trace.name}: a workload with traces must stay where it is")
    dated = []
    for job in workload.jobs.values():
        draw = Random(f"{seed} {workload.name}!{job.id}").random() * most
        dated.append((round(max(0.0, job.subtime) + draw, DIGITS), job.raw))
    # Batsim submits jobs of one date in the order of their names: that of the file is for people.
    dated.sort(key=lambda found: found[0])
    changed = {**content(workload), "jobs": [{**raw, "subtime": date} for date, raw in dated]}
    return parse_workload(changed, workload.name, source=str(path), path=workload.path)


def content(workload: Workload) -> dict[str, Any]:
    """Return a workload as its file has it."""
    return {
        "nb_res": workload.nb_res,
        "jobs": [job.raw for job in workload.jobs.values()],
        "profiles": {name: profile.raw for name, profile in workload.profiles.items()},
    }
