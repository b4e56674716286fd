"""A job's fields by its workload file, if the file can be read, else by Batsim's message.

Batsim prints floats with six decimals, inside job fields too, and overwrites any nested ``id``: the file is the better
source. SIMULATION_BEGINS names the files by path.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from batkube.batsim.extra_data import with_extra_data
from batkube.batsim.jobs import JobDescription, submitted_job
from batkube.batsim.profile_parts import parts
from batkube.batsim.profiles import parse_profile
from batkube.batsim.workload import Workload, WorkloadError, read_workload
from batkube.bridge.storages import NO_STORAGES, StorageNeeds

JSON = dict[str, Any]


class JobFiles:
    """Workloads by the names Batsim gives them (``w0``, ``w1`` ...)."""

    def __init__(self, workloads: Mapping[str, Workload] | None = None) -> None:
        self._workloads: dict[str, Workload] = dict(workloads or {})
        self._profiles: dict[str, dict[str, JSON]] = {}

    def begin(self, paths: Mapping[str, str], profiles: Mapping[str, dict[str, JSON]]) -> None:
        """Take what SIMULATION_BEGINS tells: the files that exist here and can be read, and the profiles it carries."""
        self._profiles = dict(profiles)
        for name, path in paths.items():
            if name not in self._workloads and Path(path).is_file():
                try:
                    self._workloads[name] = read_workload(Path(path), name)
                except WorkloadError:
                    continue

    def job(self, job_id: str, sent: JSON, sent_profile: JSON | None = None) -> tuple[JSON, JSON]:
        """Return the job and its profile as in the file, or else as sent in JOB_SUBMITTED.

        The members of Batsim 5's ``extra_data`` count as if they stood in the job or profile itself.
        """
        workload_name, _, name = job_id.partition("!")
        profile = sent_profile or self._profiles.get(workload_name, {}).get(str(sent.get("profile")), {})
        workload = self._workloads.get(workload_name)
        job = workload.jobs.get(name) if workload else None
        if workload is None or job is None:
            raw, raw_profile = sent, profile
        else:
            raw, raw_profile = job.raw, workload.profiles[job.profile].raw
        return with_extra_data(raw), with_extra_data(raw_profile)

    def profile_of(self, job_id: str, name: str) -> JSON | None:
        """Return the profile of this name of the job's own workload; None if nobody has told it."""
        workload_name = job_id.partition("!")[0]
        workload = self._workloads.get(workload_name)
        if workload is not None and name in workload.profiles:
            return workload.profiles[name].raw
        return self._profiles.get(workload_name, {}).get(name)

    def profile(self, name: str) -> JSON | None:
        """Return the profile of this name of the first workload that has one; None if none has."""
        for workload in self._workloads.values():
            if name in workload.profiles:
                return workload.profiles[name].raw
        return next((profiles[name] for profiles in self._profiles.values() if name in profiles), None)

    def description(self, job_id: str, sent: JSON) -> JobDescription:
        """Return the job of a JOB_SUBMITTED: that of the file, which is checked already, if it was sent as it stands
        there. Raises ProtocolError.
        """
        workload_name, _, name = job_id.partition("!")
        workload = self._workloads.get(workload_name)
        job = workload.jobs.get(name) if workload else None
        if job is not None and sent == {**job.raw, "id": job_id}:
            return job
        return submitted_job(job_id, sent)

    def storage_needs(self, job_id: str, profile_name: str) -> StorageNeeds:
        """Return the storage needs of the job's profile and all it is composed of; none if the profile is not known."""
        workload_name = job_id.partition("!")[0]
        workload = self._workloads.get(workload_name)
        try:
            if workload is not None and profile_name in workload.profiles:
                known = workload.profiles
            else:
                told = self._profiles.get(workload_name, {})
                known = {name: parse_profile(name, raw) for name, raw in told.items()}
            return StorageNeeds.of(parts(known[profile_name], known))
        except (KeyError, ValueError):
            return NO_STORAGES
