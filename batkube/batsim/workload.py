"""Workload files (JSON): jobs, and the profiles that say what they do.

https://batsim.readthedocs.io/en/latest/input-workload.html. A file is refused where Batsim 4 would abort on it.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError

from batkube.batsim.input_file import FileObject, explain, parse_json, quote, read_text
from batkube.batsim.profiles import PROFILE_TYPES, ParallelProfile, Profile, UnknownProfile, parse_profile, parts

JSON = dict[str, Any]

MAX_DATE = 1e18
"""Seconds. A date or length beyond (30 billion years) is taken for a slip."""
MAX_RESOURCES = 10_000_000


class WorkloadError(ValueError):
    """A workload that cannot be used. The text, one line, names file, job or profile, and member."""


def _name(value: object) -> object:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value


def _not_empty(name: str) -> str:
    if not name:
        raise ValueError("must not be empty")
    return name


def _no_walltime(value: object) -> object:
    return None if value == -1 and not isinstance(value, bool) else value


class Job(FileObject):
    """A job of a workload. Times are simulated seconds; members that Batsim does not know are in ``extra``."""

    id: Annotated[str, BeforeValidator(_name), AfterValidator(_not_empty)]
    """The name alone, without the workload; a number in the file becomes its digits."""
    subtime: Annotated[float, Field(ge=-MAX_DATE, le=MAX_DATE, allow_inf_nan=False)]
    """The date of submission. Batsim submits a job with a negative one at 0."""
    res: Annotated[int, Field(ge=0, le=MAX_RESOURCES)]
    """Number of hosts; a job with 0 loads and can never run."""
    profile: str
    walltime: Annotated[
        Annotated[float, Field(gt=0, le=MAX_DATE, allow_inf_nan=False)] | None, BeforeValidator(_no_walltime)
    ] = None
    """The job is stopped after so long; None (-1 in the file, or nothing) for never."""


@dataclass(frozen=True)
class Workload:
    """The jobs and profiles of a file, under the name that Batsim gives it (``w0`` for the first file)."""

    name: str
    jobs: dict[str, Job]
    """By name, in the order of the file."""
    profiles: dict[str, Profile]
    """By name, in the order of the file, those included that no job uses."""
    nb_res: int | None = None
    """Number of hosts the workload was made for."""
    path: Path | None = None
    used_profiles: dict[str, Profile] = field(default_factory=dict)
    """The profiles that a job uses, directly or through a sequence, by name in the order of the file."""


def read_workload(path: Path, name: str = "w0") -> Workload:
    """The workload in the file ``path``, to be called ``name``. Raises WorkloadError."""
    path = Path(path)
    try:
        content = parse_json(read_text(path))
    except ValueError as error:
        raise WorkloadError(f"{path}: {error}") from None
    return parse_workload(content, name, source=str(path), path=path.absolute())


def parse_workload(
    content: object, name: str = "w0", *, source: str = "workload", path: Path | None = None
) -> Workload:
    """The workload that ``content``, the value of a JSON text, describes; ``source`` is what errors call it.

    Raises WorkloadError.
    """
    try:
        return _Reader(name).read(content, path)
    except ValueError as error:
        raise WorkloadError(f"{source}: {error}") from None


class _Reader:
    """Reads one workload; its methods raise ValueErrors that the file's name is put before."""

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

    def _jobs(self, content: object) -> dict[str, Job]:
        if not isinstance(content, list):
            raise ValueError(f"jobs: expected an array, not {quote(content)}")
        jobs: dict[str, Job] = {}
        for index, raw in enumerate(content):
            job = self._job(index, raw)
            if job.id in jobs:
                raise ValueError(f"job {job.id!r}: id: used twice")
            jobs[job.id] = job
        return jobs

    def _job(self, index: int, raw: object) -> Job:
        if not isinstance(raw, dict):
            raise ValueError(f"job number {index}: expected an object, not {quote(raw)}")
        who = f"job {_name(raw['id'])!r}" if "id" in raw else f"job number {index}"
        try:
            job = parse_job(raw)
            if "!" in job.id:
                raise ValueError("id: must have no '!', which stands between workload and job")
            if self.name in job.id:
                raise ValueError(
                    f"id: must not contain {self.name!r}, its workload's name: Batsim takes it for a full identifier"
                )
        except ValueError as error:
            raise ValueError(f"{who}: {error}") from None
        return job

    def _check_profiles(self, jobs: dict[str, Job], profiles: dict[str, Profile]) -> set[str]:
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
        return used


def parse_job(raw: JSON) -> Job:
    """The job that ``raw``, a JSON object with the bare id, describes. Raises ValueError, naming the member."""
    try:
        job = Job.model_validate(raw)
    except ValidationError as error:
        raise ValueError(explain(error)) from None
    job._raw = raw
    return job


def job_parts(job: Job, profiles: dict[str, Profile]) -> list[Profile]:
    """The profile of a job and all it is composed of. Raises ValueError for one that is missing or of no known type."""
    profile = profiles.get(job.profile)
    if profile is None:
        raise ValueError(f"profile: there is no profile {job.profile!r}")
    elements = parts(profile, profiles)
    for element in elements:
        if isinstance(element, UnknownProfile):
            raise ValueError(
                f"profile {element.name!r}: type: {element.type!r} is no profile type; known are "
                + ", ".join(kind for kind in PROFILE_TYPES if kind.islower())
            )
    return elements


def check_size(job: Job, elements: list[Profile]) -> None:
    """A parallel profile is made for one number of hosts. Raises ValueError where the job asks for another."""
    for element in elements:
        if isinstance(element, ParallelProfile) and element.executors != job.res:
            raise ValueError(f"res: is {job.res}, but profile {element.name!r} is made for {element.executors}")
