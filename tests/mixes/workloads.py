"""Random workloads: jobs that come alone and in crowds, large and small, some that no host can take."""

from dataclasses import dataclass, replace
from random import Random
from typing import Any

from tests.mixes.platforms import Site
from tests.mixes.profiles import SECONDS_OF_WORK, Profiles, random_profiles

JSON = dict[str, Any]

LARGEST = 16
"""Executors of a job."""


@dataclass(frozen=True)
class Load:
    """A workload: the jobs of a file, and its profiles."""

    jobs: tuple[JSON, ...]
    profiles: Profiles
    nb_res: int

    @property
    def content(self) -> JSON:
        """The file's."""
        return {"nb_res": self.nb_res, "jobs": list(self.jobs), "profiles": self.profiles.content}

    def only(self, ids: set[str]) -> "Load":
        """The same with fewer jobs."""
        return replace(self, jobs=tuple(job for job in self.jobs if str(job["id"]) in ids))


def random_load(random: Random, site: Site, number: int, jobs: int, *, sharing: bool, priorities: bool) -> Load:
    """``jobs`` jobs for ``site``. ``number``: of the workload, so that names differ between two."""
    profiles = random_profiles(random, most=min(LARGEST, len(site.machines)), storages=site.storages)
    dates = _dates(random, jobs)
    spelling = random.choice(("{}", "job-{}", "J{}", "big_{}.x"))
    made = []
    for index, date in enumerate(dates):
        name = spelling.format(index + 100 * number)
        job: JSON = {"id": int(name) if name.isdecimal() else name, "subtime": date}
        job |= _size_and_length(random, site, profiles)
        job |= _wishes(random, site, sharing=sharing, priorities=priorities)
        made.append(job)
    random.shuffle(made)  # Batsim sorts them
    return Load(tuple(made), profiles, len(site.machines))


def _dates(random: Random, count: int) -> list[float]:
    """Dates of submission: crowds at one date, and some between."""
    step = random.choice((0.5, 1, 5, 10))
    crowds = [step * index for index in range(random.randint(1, 12))]
    return [
        random.choice(crowds) if random.random() < 0.8 else round(random.uniform(0, 100), random.choice((0, 1, 6)))
        for _ in range(count)
    ]


def _size_and_length(random: Random, site: Site, profiles: Profiles) -> JSON:
    profile = random.choice(list(profiles.content))
    most = min(LARGEST, len(site.machines))
    size = profiles.sizes.get(profile)
    if size is None:
        size = random.choice((1, 1, 1, 1, 1, 1, 2, 2, 3, random.randint(1, most)))
        if random.random() < 0.03:
            size = random.choice((0, LARGEST, 8 * len(site.machines) + 1))
    job: JSON = {"res": min(size, most) if size and size <= LARGEST else size, "profile": profile}
    length = profiles.lengths.get(profile, SECONDS_OF_WORK)
    chance = random.random()
    if chance < 0.25:
        job["walltime"] = length
    elif chance < 0.5:
        job["walltime"] = round(length * random.choice((0.3, 0.9, 1.1, 3)), 6)
    elif chance < 0.6:
        job["walltime"] = -1
    return job


def _wishes(random: Random, site: Site, *, sharing: bool, priorities: bool) -> JSON:
    """Tell what its pods ask for, and what means nothing to Batsim."""
    requirements: JSON = {}
    cores = [machine.cores for machine in site.machines]
    if random.random() < (0.6 if sharing else 0.2):
        requirements["cpu"] = random.choice((1, 2, "500m", "0.25", max(cores), min(cores)))
    if random.random() < 0.2:
        requirements["memory"] = random.choice(("100Mi", "1Gi", "4Gi"))
    if random.random() < 0.02:
        requirements["cpu"] = max(cores) + 1
    if priorities and random.random() < 0.5:
        requirements["priority"] = random.choice((-10, 1, 1000))
    job: JSON = {"batkube": requirements} if requirements else {}
    if random.random() < 0.1:
        job["comment"] = {"user": "ana", "factor": 0.5, "tags": ["a b", 1]}
    return job
