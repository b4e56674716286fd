"""``additional_io_job``: parallel work that EXECUTE_JOB adds to that of a job.

Batsim merges the two, host by host in order of the numbers, into one parallel task (``execute_parallel_task``): on a
host that both use there is one executor with the flops of both.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from batkube.batsim.allocation import parse_intervals
from batkube.batsim.profile_parts import parts
from batkube.batsim.profiles import Flow, Profile, Work, parse_profile
from batkube.simulator.books.hosts import Hosts
from batkube.simulator.books.jobs import SimulatedJob
from batkube.simulator.books.known_profiles import KnownProfiles


@dataclass(frozen=True, slots=True)
class AdditionalIo:
    """Work on hosts of its own: a parallel profile for all tasks of the job, or a sequence beside the job's."""

    hosts: tuple[int, ...]
    profile: Profile
    elements: Mapping[str, Profile]
    """The profile and all it is composed of, by name."""

    def element(self, sequence: Profile, index: int) -> Profile:
        """Return the profile that goes with an element of the job's sequence."""
        return self.elements[sequence.elements[index % len(sequence.elements)]]


def read_additional_io(
    job: SimulatedJob, raw: Mapping[str, Any], hosts: Hosts, profiles: KnownProfiles
) -> AdditionalIo:
    """Read the member of an EXECUTE_JOB. A profile that it brings is known from then on. Raises ValueError."""
    try:
        numbers = parse_intervals(str(raw.get("alloc")))
        hosts.check(numbers)
        name = raw.get("profile_name")
        if not isinstance(name, str):
            raise ValueError(f"profile_name: expected the name of a profile, not {name!r}")
        if "profile" in raw:
            profile = parse_profile(name, raw["profile"])
            _check(job.profile, profile, [profile], len(numbers))
            profiles.add(job.workload, profile)
        profiles.check_name(job.workload, name)
        profile = profiles.of(job.workload)[name]
        elements = parts(profile, profiles.of(job.workload))
        _check(job.profile, profile, elements, len(numbers))
    except ValueError as error:
        raise ValueError(f"additional_io_job: {error}") from None
    return AdditionalIo(numbers, profile, {element.name: element for element in elements})


def _check(beside: Profile, profile: Profile, elements: Sequence[Profile], hosts: int) -> None:
    ours, jobs = len(profile.elements), len(beside.elements)
    if bool(ours) is not bool(jobs):
        raise ValueError(f"profile: {profile.type!r} cannot be merged with the job's {beside.type!r}")
    if ours != jobs:
        raise ValueError(f"profile: a sequence of {ours} cannot be merged with one of {jobs}")
    for element in elements:
        if element.elements:
            continue
        if not element.merges:
            raise ValueError(f"profile: expected a parallel one, not {element.type!r}")
        if element.executors not in (None, hosts):
            raise ValueError(f"profile: is made for {element.executors} hosts, not {hosts}")


def merged_work(
    profile: Profile, allocation: tuple[int, ...], io: Profile, io_allocation: tuple[int, ...]
) -> tuple[tuple[int, ...], Work]:
    """Return the merged task's hosts by number, and its work.

    Raises ValueError for a task with a storage of its own.
    """
    if not profile.merges:
        raise ValueError(f"Batsim cannot merge an additional_io_job with a profile {profile.type!r}")
    numbers = tuple(sorted({*allocation, *io_allocation}))
    place = {number: index for index, number in enumerate(numbers)}
    flops = [0.0] * len(numbers)
    flows: dict[tuple[int, int], float] = {}
    for part, hosts in ((profile, allocation), (io, io_allocation)):
        amounts, pairs = part.work(len(hosts))
        for host, amount in zip(hosts, amounts, strict=True):
            flops[place[host]] += amount
        for source, destination, amount in pairs:
            pair = place[hosts[source]], place[hosts[destination]]
            flows[pair] = flows.get(pair, 0.0) + amount
    merged: list[Flow] = [(source, destination, amount) for (source, destination), amount in flows.items()]
    return numbers, (flops, merged)
