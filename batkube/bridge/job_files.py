"""What the workload file says of a job, where the file can be read; else what Batsim's message says.

Batsim prints floats with six decimals, inside job fields too, and overwrites any nested ``id``: the file is the better
source. SIMULATION_BEGINS names the files by path.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from batkube.batsim.workload import Workload, WorkloadError, read_workload

JSON = dict[str, Any]


class JobFiles:
    """Workloads by the names Batsim gives them (``w0``, ``w1`` ...)."""

    def __init__(self, workloads: Mapping[str, Workload] | None = None) -> None:
        self._workloads: dict[str, Workload] = dict(workloads or {})
        self._profiles: dict[str, dict[str, JSON]] = {}

    def begin(self, paths: Mapping[str, str], profiles: Mapping[str, dict[str, JSON]]) -> None:
        """Take what SIMULATION_BEGINS tells: the files that are here and can be read, and the profiles it carries."""
        self._profiles = dict(profiles)
        for name, path in paths.items():
            if name not in self._workloads and Path(path).is_file():
                try:
                    self._workloads[name] = read_workload(Path(path), name)
                except WorkloadError:
                    continue

    def job(self, job_id: str, sent: JSON) -> tuple[JSON, JSON]:
        """The job and its profile as in the file, or else as ``sent`` in JOB_SUBMITTED."""
        workload_name, _, name = job_id.partition("!")
        profile = self._profiles.get(workload_name, {}).get(str(sent.get("profile")), {})
        workload = self._workloads.get(workload_name)
        job = workload.jobs.get(name) if workload else None
        if workload is None or job is None:
            return sent, profile
        return job.raw, workload.profiles[job.profile].raw
