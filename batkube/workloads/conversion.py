"""Records as a workload of Batsim's: a profile for each length, and what pods want in each job's ``batkube``."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson

from batkube.batsim.jobs import MAX_DATE, MAX_RESOURCES
from batkube.batsim.workload import WorkloadError
from batkube.named_file import create_named
from batkube.workloads.packing import Packing
from batkube.workloads.reader import Record
from batkube.workloads.source import Source
from batkube.workloads.values import tidy

JSON = dict[str, Any]

_MICROSECONDS = 6
"""The decimals of times in Batsim's messages."""


class Converter:
    """Turns records into jobs, one at a time, and keeps what a workload has beside them."""

    def __init__(self, source: Source, packing: Packing) -> None:
        self.profiles: dict[str, JSON] = {}
        self.most_pods = 1
        self._source, self._packing = source, packing

    def jobs(self, records: Iterable[Record]) -> Iterator[JSON]:
        """Yield the jobs. Raises WorkloadError for one that Batsim does not take."""
        for record in records:
            self._source.taken += 1
            yield self._job(self._packing.packed(record))
        if not self._source.taken and self._source.skipped:
            raise self._source.error(None, f"there is no job in it: {self._source.reasons}")

    def _job(self, record: Record) -> JSON:
        dates_fit = 0 <= record.submit <= MAX_DATE and 0 < record.duration <= MAX_DATE
        if not dates_fit or not 0 < record.pods <= MAX_RESOURCES:
            raise WorkloadError(f"{self._source.path}: job {record.id}: has times or a number of pods that cannot be")
        duration = tidy(max(round(record.duration, _MICROSECONDS), 1e-6))
        profile = f"delay-{duration}"
        if profile not in self.profiles:
            self.profiles[profile] = {"type": "delay", "delay": duration}
        self.most_pods = max(self.most_pods, record.pods)
        job: JSON = {"id": record.id, "subtime": tidy(round(record.submit, _MICROSECONDS)), "res": record.pods}
        job["profile"] = profile
        if record.walltime is not None:
            job["walltime"] = tidy(record.walltime)
        if record.wants:
            job["batkube"] = record.wants
        return job


def content_of(source: Source, records: Iterable[Record], packing: Packing) -> JSON:
    """Return the whole workload. Raises WorkloadError."""
    converter = Converter(source, packing)
    jobs = list(converter.jobs(records))
    return {"nb_res": converter.most_pods, "jobs": jobs, "profiles": converter.profiles}


def write_workload(path: Path, source: Source, records: Iterable[Record], packing: Packing) -> None:
    """Write the workload job by job, so that any number of them needs little memory. Raises WorkloadError, OSError."""
    converter = Converter(source, packing)
    try:
        with create_named(path) as file:
            file.write(b'{"jobs": [')
            before = b"\n"
            for job in converter.jobs(records):
                file.write(before + orjson.dumps(job))
                before = b",\n"
            profiles = orjson.dumps(converter.profiles, option=orjson.OPT_INDENT_2)
            file.write(b'\n],\n"profiles": %b,\n"nb_res": %d}\n' % (profiles, converter.most_pods))
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
