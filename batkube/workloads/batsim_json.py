"""Batsim's own workloads (JSON). A run takes them as they are; they are read here to be converted."""

from collections.abc import Iterator

from batkube.batsim.extra_data import with_extra_data
from batkube.batsim.profiles import DelayProfile
from batkube.batsim.workload import read_workload
from batkube.bridge.errors import InputError
from batkube.bridge.jobs import PodRequirements
from batkube.workloads.reader import FormatError, Reader, Record
from batkube.workloads.source import Head, Source

MEMBERS = ('"nb_res"', '"jobs"', '"profiles"')


class BatsimReader(Reader):
    """Batsim's JSON, as far as jobs are delays: other work has no length that is known before."""

    name = "batsim"
    title = "Batsim's workloads (JSON)"

    def claims(self, head: Head) -> bool:
        """Tell whether it is an object of JSON with one of the members that must be there."""
        text = head.text.lstrip()
        return text.startswith("{") and any(member in text for member in MEMBERS)

    def records(self, source: Source) -> Iterator[Record]:
        """Yield the jobs."""
        workload = read_workload(source.path)
        for job in workload.jobs.values():
            profile = workload.profiles[job.profile]
            if not isinstance(profile, DelayProfile) or profile.ret:
                raise FormatError(
                    f"{source.path}: job {job.id!r}: profile {profile.name!r}: only delays that succeed can be "
                    "converted"
                )
            if job.res == 0:
                source.skip("ask for no host")
                continue
            raw, raw_profile = with_extra_data(job.raw), with_extra_data(profile.raw)
            try:
                wanted = PodRequirements.read(f"{source.path}: job {job.id}", raw, raw_profile)
            except InputError as error:
                raise FormatError(str(error)) from None
            wants = wanted.model_dump(by_alias=True, exclude_defaults=True)
            yield Record(job.id, max(job.subtime, 0.0), profile.delay, job.res, job.walltime, wants)
