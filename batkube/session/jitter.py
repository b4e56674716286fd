"""Submissions that come a little later by chance (``--jitter``): the same workload, not quite in step.

Workloads are written anew into the folder of results, so that every simulator, a real Batsim too, reads the same.
"""

import json
from pathlib import Path
from random import Random

from batkube.batsim.profiles import TraceProfile
from batkube.batsim.workload import Workload, read_workload
from batkube.bridge.errors import InputError
from batkube.settings import RunSettings

DIGITS = 6
"""The decimals of dates in Batsim's files."""


def jittered(settings: RunSettings) -> RunSettings:
    """Return the settings with workloads whose submissions are later by a draw of up to ``--jitter`` seconds.

    Each job's draw follows from the seed and its name alone. Raises WorkloadError, InputError and OSError.
    """
    if not settings.jitter:
        return settings
    settings.out.mkdir(parents=True, exist_ok=True)
    written = []
    for index, path in enumerate(settings.workloads):
        workload = read_workload(path, f"w{index}")
        if trace := next((one for one in workload.profiles.values() if isinstance(one, TraceProfile)), None):
            raise InputError(f"--jitter: {path}: profile {trace.name}: a workload with traces must stay where it is")
        target = settings.out / f"jittered-{workload.name}.json"
        content = _later(path, workload, settings.seed, settings.jitter)
        target.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        written.append(target)
    return settings.model_copy(update={"workloads": tuple(written)})


def _later(path: Path, workload: Workload, seed: int, most: float) -> dict[str, object]:
    content: dict[str, object] = json.loads(path.read_bytes())
    dated = []
    for job in workload.jobs.values():
        draw = Random(f"{seed} {workload.name}!{job.id}").random() * most
        dated.append((round(max(0.0, job.subtime) + draw, DIGITS), job.raw))
    # Batsim submits jobs of one date in the order of their names: that of the file is for people.
    dated.sort(key=lambda found: found[0])
    return {**content, "jobs": [{**raw, "subtime": date} for date, raw in dated]}
