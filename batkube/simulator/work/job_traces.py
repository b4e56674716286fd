"""The traces that jobs replay, each read once."""

from collections.abc import Iterable
from pathlib import Path

from batkube.batsim.profiles import TraceProfile
from batkube.batsim.traces import Trace, read_trace
from batkube.batsim.workload import Workload, WorkloadError
from batkube.simulator.books.jobs import SimulatedJob
from batkube.simulator.work import smpi, usage_trace


class JobTraces:
    """Reads traces from the folders of their workloads."""

    def __init__(self, workloads: Iterable[Workload]) -> None:
        self._files = {workload.name: workload.path or Path(workload.name) for workload in workloads}
        self._read: dict[tuple[str, str], Trace] = {}

    def of(self, workload: str, profile: TraceProfile) -> Trace:
        """Return the trace of a profile. Raises ValueError if it cannot be replayed."""
        key = (workload, profile.name)
        if key not in self._read:
            trace = read_trace(profile, self._files[workload].parent)
            (smpi if profile.smpi else usage_trace).check(trace)
            self._read[key] = trace
        return self._read[key]

    def check(self, job: SimulatedJob) -> None:
        """Raise WorkloadError if a trace of the job cannot be replayed."""
        for profile in [each for each in job.elements.values() if isinstance(each, TraceProfile)]:
            try:
                ranks = len(self.of(job.workload, profile).ranks)
                mapping = job.description.smpi_ranks_to_hosts_mapping
                if mapping and len(mapping) != ranks:
                    raise ValueError(f"has {ranks} ranks, and smpi_ranks_to_hosts_mapping has {len(mapping)}")
            except ValueError as error:
                file = self._files[job.workload]
                raise WorkloadError(f"{file}: job {job.description.id!r}: profile {profile.name!r}: {error}") from None
