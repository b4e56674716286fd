"""The place of a job: what EXECUTE_JOB says besides the job."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from batkube.batsim.allocation import parse_intervals
from batkube.batsim.messages import ExecuteJobData
from batkube.batsim.profiles import Profile
from batkube.batsim.topology import Host
from batkube.simulator.books.hosts import Hosts
from batkube.simulator.books.jobs import SimulatedJob
from batkube.simulator.books.known_profiles import KnownProfiles
from batkube.simulator.work.additional_io import AdditionalIo, read_additional_io


@dataclass(slots=True)
class Placement:
    """The place of a job."""

    host: Host
    """The first host of the allocation, on which the job's actor lives."""
    executors: Sequence[Host]
    """The host of each executor."""
    storages: Mapping[str, Host] = field(default_factory=dict)
    """The storage hosts by the names that profiles give them."""
    numbers: tuple[int, ...] = ()
    """The numbers of the hosts of the allocation."""
    io: AdditionalIo | None = None
    """Work that is part of the job's parallel tasks."""


@dataclass(slots=True)
class Alloc:
    """The same as it was read, in numbers that need not exist."""

    hosts: tuple[int, ...]
    mapping: list[int] | None
    """The position in ``hosts`` of each executor."""
    storages: Mapping[str, int]
    io: AdditionalIo | None

    def placement(self, job: SimulatedJob, hosts: Hosts, only_storage: Sequence[Host]) -> Placement:
        """Return the hosts themselves. Raises ValueError if there is none of that number, or not of that kind."""
        places = [hosts.all[number].host for number in self.hosts]
        executors = places if self.mapping is None else [places[position] for position in self.mapping]
        given = {}
        for profile in job.elements.values():
            for name in profile.storages:
                given[name] = self._storage(name, profile, hosts, only_storage)
        return Placement(places[0], executors, given, self.hosts, self.io)

    def _storage(self, name: str, profile: Profile, hosts: Hosts, only_storage: Sequence[Host]) -> Host:
        if name in self.storages:
            number = self.storages[name]
            hosts.check((number,))
            if not hosts.all[number].storage:
                raise ValueError(f"storage_mapping: {name!r} is host {number}, which is no storage host")
            return hosts.all[number].host
        if self.storages or profile.stages or len(only_storage) != 1:
            raise ValueError(
                f"storage_mapping: says nothing of {name!r}, and there are {len(only_storage)} storage hosts"
            )
        return only_storage[0]


def read_alloc(job: SimulatedJob, data: ExecuteJobData, known: Hosts, profiles: KnownProfiles) -> Alloc:
    """Read an EXECUTE_JOB. Raises ValueError where Batsim refuses it when it reads it."""
    try:
        hosts = parse_intervals(data.alloc)
    except ValueError as error:
        raise ValueError(f"alloc: {error}") from None
    if not hosts:
        raise ValueError("alloc: names no host")
    mapping = None if data.mapping is None else _mapping(job, data.mapping, len(hosts))
    if data.storage_mapping is not None and not data.storage_mapping:
        raise ValueError("storage_mapping: must not be empty")
    io = None if data.additional_io_job is None else read_additional_io(job, data.additional_io_job, known, profiles)
    return Alloc(hosts, mapping, data.storage_mapping or {}, io)


def _mapping(job: SimulatedJob, given: dict[str, int], hosts: int) -> list[int]:
    if len(given) != job.description.res and not _any_size(job):
        raise ValueError(f"mapping: expected {job.description.res} executors, not {len(given)}")
    executors = []
    for executor in range(len(given) or 1):
        position = given.get(str(executor))
        if position is None:
            raise ValueError(f"mapping: executor {executor} is missing")
        if not 0 <= position < hosts:
            raise ValueError(f"mapping: executor {executor}: there is no position {position} in alloc")
        executors.append(position)
    return executors


def check_size(job: SimulatedJob, alloc: Alloc) -> None:
    """Refuse a number of hosts other than the job asks for, when the server handles the decision."""
    if alloc.mapping is None and len(alloc.hosts) != job.description.res and not _any_size(job):
        raise ValueError(f"alloc: expected {job.description.res} hosts or a mapping, not {len(alloc.hosts)}")


def _any_size(job: SimulatedJob) -> bool:
    """Tell whether the job may run on any number of hosts: its amounts are totals, which any number may share."""
    parts = [job.elements[name] for name in job.profile.elements] or [job.profile]
    return all(part.total for part in parts)
