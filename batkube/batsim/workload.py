"""Workload files (JSON): jobs, and the profiles that describe their work.

https://batsim.readthedocs.io/en/latest/input-workload.html. A file is refused if Batsim 4 would abort on it.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from batkube.batsim.input_file import parse_json, quote, read_text
from batkube.batsim.jobs import MAX_RESOURCES, JobDescription, job_name, parse_job
from batkube.batsim.profile_parts import parts
from batkube.batsim.profiles import Profile, parse_profile

JSON = dict[str, Any]


class WorkloadError(ValueError):
    """A workload that cannot be used. The text, one line, names file, job or profile, and member."""


_UNFIT = re.compile(r'[",|}\x00-\x1f]')
"""The characters that an id must not have: they break the text of the job, in which Batsim puts its workload's name
before the id."""


@dataclass(frozen=True)
class Workload:
    """The jobs and profiles of a file, under the name that Batsim gives it (``w0`` for the first file)."""

    name: str
    jobs: dict[str, JobDescription]
    """The jobs by name, in the order of the file."""
    profiles: dict[str, Profile]
    """The profiles by name, in the order of the file, including those that no job uses."""
    nb_res: int | None = None
    """The number of hosts the workload was made for."""
    path: Path | None = None
    used_profiles: dict[str, Profile] = field(default_factory=dict)
    """The profiles that a job uses, directly or through a sequence, by name in the order of the file."""


def read_workload(path: Path, name: str = "w0") -> Workload:
    """Return the workload in the file ``path``, to be called ``name``. Raises WorkloadError."""
    path = Path(path)
    try:
        content = parse_json(read_text(path))
    except ValueError as error:
        raise WorkloadError(f"{path}: {error}") from None
    return parse_workload(content, name, source=str(path), path=path.absolute())


def parse_workload(
    content: object, name: str = "w0", *, source: str = "workload", path: Path | None = None
) -> Workload:
    """Return the workload that ``content``, the value of a JSON text, describes. ``source`` is its name in errors.

    Raises WorkloadError.
    """
    try:
        return _Reader(name).read(content, path)
    except ValueError as error:
        raise WorkloadError(f"{source}: {error}") from None


class _Reader:
    """Reads one workload. Its methods raise ValueErrors, before which the file's name is put."""

    def __init__(self, name: str) -> None:
        self.name = name

    def read(self, content: object, path: Path | None) -> Workload:
        if not isinstance(content, dict):
            raise ValueError(f"expected an object with jobs and profiles, not {quote(content)}")
        nb_res = content.get("nb_res")
        if "nb_res" not in content:
            raise ValueError("nb_res: missing")
        if type(nb_res) is not int or not 0 < nb_res <= MAX_RESOURCES:
            raise ValueError(f"nb_res: expected a number of hosts greater than 0, not {quote(nb_res)}")
        profiles = self._profiles(content.get("profiles"))
        jobs = self._jobs(content.get("jobs"))
        used = self._check_profiles(jobs, profiles)
        if path is not None:
            self._check_traces(profiles.values(), path.parent)
        return Workload(
            self.name, jobs, profiles, nb_res, path, {key: profile for key, profile in profiles.items() if key in used}
        )

    def _profiles(self, content: object) -> dict[str, Profile]:
        if not isinstance(content, dict):
            raise ValueError(f"profiles: expected an object, not {quote(content)}")
        profiles = {}
        for name, raw in content.items():
            try:
                profiles[name] = parse_profile(name, raw)
            except ValueError as error:
                raise ValueError(f"profile {name!r}: {error}") from None
        return profiles

    def _jobs(self, content: object) -> dict[str, JobDescription]:
        if not isinstance(content, list):
            raise ValueError(f"jobs: expected an array, not {quote(content)}")
        jobs: dict[str, JobDescription] = {}
        for index, raw in enumerate(content):
            job = self._job(index, raw)
            if job.id in jobs:
                raise ValueError(f"job {job.id!r}: id: used twice")
            jobs[job.id] = job
        return jobs

    def _job(self, index: int, raw: object) -> JobDescription:
        if not isinstance(raw, dict):
            raise ValueError(f"job number {index}: expected an object, not {quote(raw)}")
        who = f"job {job_name(raw['id'])!r}" if "id" in raw else f"job number {index}"
        try:
            job = parse_job(self._with_bare_id(raw))
            if unfit := _UNFIT.search(job.id):
                raise ValueError(f"id: must have no {unfit[0]!r}: Batsim cannot write it")
            if "!" in job.id:
                raise ValueError("id: must have no '!', which stands between workload and job")
            if self.name in job.id:
                raise ValueError(
                    f"id: must not contain {self.name!r}, its workload's name: Batsim takes it for a full identifier"
                )
        except ValueError as error:
            raise ValueError(f"{who}: {error}") from None
        return job

    def _with_bare_id(self, raw: JSON) -> JSON:
        """Return the job as given, or with the name alone if its id is the full identifier, ``w0!NAME``."""
        given, prefix = raw.get("id"), f"{self.name}!"
        return {**raw, "id": given.removeprefix(prefix)} if isinstance(given, str) and given.startswith(prefix) else raw

    def _check_profiles(self, jobs: dict[str, JobDescription], profiles: dict[str, Profile]) -> set[str]:
        used: set[str] = set()
        known: dict[str, list[Profile]] = {}
        for job in jobs.values():
            try:
                elements = known.get(job.profile)
                if elements is None:
                    elements = known[job.profile] = job_parts(job, profiles)
                    used.update(element.name for element in elements)
                check_size(job, elements)
            except ValueError as error:
                raise ValueError(f"job {job.id!r}: {error}") from None
        for name in profiles.keys() - used:
            check_known(parts(profiles[name], profiles))
        return used

    def _check_traces(self, profiles: Iterable[Profile], folder: Path) -> None:
        for profile in profiles:
            try:
                profile.check_files(folder)
            except ValueError as error:
                raise ValueError(f"profile {profile.name!r}: {error}") from None


def job_parts(job: JobDescription, profiles: dict[str, Profile]) -> list[Profile]:
    """Return a job's profile and all it is composed of. Raises ValueError for a missing one or one of no known type."""
    profile = profiles.get(job.profile)
    if profile is None:
        raise ValueError(f"profile: there is no profile {job.profile!r}")
    elements = parts(profile, profiles)
    check_known(elements)
    return elements


def check_known(profiles: Iterable[Profile]) -> None:
    """Raise ValueError for the first profile of no known type: Batsim takes it for a trace."""
    for element in profiles:
        try:
            element.check_known()
        except ValueError as error:
            raise ValueError(f"profile {element.name!r}: {error}") from None


def check_size(job: JobDescription, elements: list[Profile]) -> None:
    """Raise ValueError if the job asks for another number of hosts than its parallel profiles are made for."""
    for element in elements:
        if element.executors not in (None, job.res):
            raise ValueError(f"res: is {job.res}, but profile {element.name!r} is made for {element.executors}")
