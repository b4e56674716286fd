"""Checks of the jobs of a run before anything starts: faults are errors, slips are warnings.

Of a job that comes in a message alone (no file at hand, registered on the way) the same faults are reasons to reject
it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from batkube.batsim.extra_data import FIELD as EXTRA_DATA
from batkube.batsim.extra_data import with_extra_data
from batkube.batsim.jobs import JobDescription
from batkube.batsim.messages import Resource
from batkube.batsim.options import read_roles
from batkube.batsim.platform import DEFAULT_MASTER, Platform, Resources
from batkube.batsim.profiles import Profile
from batkube.batsim.workload import Workload
from batkube.bridge.errors import InputError
from batkube.bridge.hosts import NODE_PROPERTY
from batkube.bridge.job_files import JobFiles
from batkube.bridge.jobs import NO_REQUIREMENTS, OWN_FIELD, OWN_FIELDS, PUBLISHED_TYPES, PodRequirements
from batkube.bridge.storages import Storages
from batkube.bridge.time import SimulatedTime
from batkube.kube.apimachinery.quantity import Quantity
from batkube.session.pod_check import PodCheck
from batkube.settings import RunSettings

CLOSE = 0.75
"""The likeness (``difflib``) of two names of which one is taken for a slip of the other."""
PROPERTIES = (
    *("role", "core", "memory", "pods", "speed", "wattage_per_state", "wattage_off", "sleep_pstates"),
    *("watt_per_state", "watt_off", NODE_PROPERTY),
)
"""The properties of hosts that mean something; others become labels."""


def near_miss(name: str, known: Iterable[str]) -> str | None:
    """Return the known name of which an unknown one looks like a slip."""
    by_small = {each.lower(): each for each in known}
    found = get_close_matches(name.lower(), by_small, n=1, cutoff=CLOSE)
    return by_small[found[0]] if found else None


@dataclass
class Slips:
    """Fields that nothing reads and that look like others, and how often they are there."""

    _found: dict[tuple[str, str], tuple[str, int]] = field(default_factory=dict)

    def note(self, where: str, name: str, meant: str) -> None:
        """Note one more."""
        first, count = self._found.get((name, meant), (where, 0))
        self._found[name, meant] = first, count + 1

    def warnings(self) -> list[str]:
        """Return a line for each name."""
        return [
            f"{where}{f' and {count - 1} more' if count > 1 else ''}: {name} means nothing here; did you mean {meant}?"
            for (name, meant), (where, count) in self._found.items()
        ]


def job_slips(path: Path, workload: Workload) -> list[str]:
    """Return the fields of jobs and profiles that look like slips of known ones."""
    slips = Slips()
    of_jobs = {*JobDescription.model_fields, *OWN_FIELDS, OWN_FIELD, EXTRA_DATA}
    for job in workload.jobs.values():
        if job.extra:
            _note(slips, f"{path}: job {job.id}", job.extra, of_jobs)
    for name, profile in workload.profiles.items():
        if profile.extra:
            _note(slips, f"{path}: profile {name}", profile.extra, _fields_of(profile))
    return slips.warnings()


def _fields_of(profile: Profile) -> set[str]:
    beside = OWN_FIELDS if profile.type in PUBLISHED_TYPES else ()
    return {*type(profile).model_fields, *beside, OWN_FIELD, EXTRA_DATA}


def _note(slips: Slips, where: str, fields: Mapping[str, object], known: set[str]) -> None:
    for name, value in fields.items():
        if name == OWN_FIELD and isinstance(value, dict):
            _note(slips, f"{where}: {OWN_FIELD}", value, set(OWN_FIELDS))
        elif name not in known and (meant := near_miss(name, known)):
            slips.note(where, name, meant)


def platform_slips(platform: Platform) -> list[str]:
    """Return the properties of hosts that look like slips of known ones."""
    slips = Slips()
    for host in platform.hosts:
        for name in host.properties:
            if name not in PROPERTIES and (meant := near_miss(name, PROPERTIES)):
                slips.note(f"{platform.path}: host {host.name}: prop", name, meant)
    return slips.warnings()


def hosts_by_role(settings: RunSettings, platform: Platform) -> Resources:
    """Return the hosts of the platform. Raises PlatformError, and InputError where none computes."""
    options = settings.batsim
    roles = read_roles(options.roles)
    found = platform.resources(master=options.master_host or DEFAULT_MASTER, roles=roles, needs_master=False)
    if not found.compute:
        raise InputError(f"{platform.path}: no host computes: each is the master or for storage")
    return found


class JobChecks:
    """Checks the jobs of all workloads of a run on these hosts; None where they are not known."""

    def __init__(self, settings: RunSettings, hosts: Resources | None) -> None:
        self.preemption = False
        """True if a pod has a priority, so that one may take another's place."""
        self._time = SimulatedTime(settings.epoch)
        cores = {host.properties.get("core", str(host.cores)) for host in hosts.compute} if hosts else set()
        exclusive = not settings.batsim.compute_sharing
        self._pods = PodCheck(settings.api, whole_host=min(cores) if exclusive and len(cores) == 1 else None)
        self._whole_host = min(map(Quantity.parse, cores), default=None) if exclusive else None
        self._storages = None
        if hosts is not None:
            numbered = enumerate(hosts.storage, len(hosts.compute))
            self._storages = Storages([Resource(id=number, name=host.name) for number, host in numbered])

    def check(self, path: Path, workload: Workload) -> list[str]:
        """Check the jobs of a file; what to warn of. Raises InputError, which names file, job and field."""
        warnings = job_slips(path, workload)
        files = JobFiles({workload.name: workload})
        small: list[str] = []
        for job in workload.jobs.values():
            where = f"{path}: job {job.id}"
            self._time.check(job.subtime, f"{where}: subtime")
            if job.subtime < 0:
                raise InputError(f"{where}: subtime is {job.subtime:g}: must not be negative")
            raw, profile = with_extra_data(job.raw), with_extra_data(workload.profiles[job.profile].raw)
            wanted = PodRequirements.read(where, raw, profile)
            self._check_storages(where, files, f"{workload.name}!{job.id}", job.profile, wanted)
            if wanted is NO_REQUIREMENTS and not self._pods.objects_given:
                continue
            self.preemption = self.preemption or wanted.prioritized
            warnings += self._pods.check(where, job, wanted)
            if wanted.cpu and self._whole_host is not None and Quantity.parse(wanted.cpu) < self._whole_host:
                small.append(f"job {job.id} asks for cpu {wanted.cpu}")
        if small:
            others = f" ({len(small) - 1} others ask for less than a host, too)" if len(small) > 1 else ""
            warnings.append(
                f"{path}: {small[0]}, and gets a whole host{others}: hosts are exclusive without "
                "--enable-compute-sharing"
            )
        return warnings

    def _check_storages(self, where: str, files: JobFiles, job_id: str, profile: str, wanted: PodRequirements) -> None:
        needs = files.storage_needs(job_id, profile)
        if self._storages is None or not needs.labels:
            return
        try:
            self._storages.mapping(needs, wanted.storage)
        except ValueError as error:
            raise InputError(f"{where}: {error}") from None
