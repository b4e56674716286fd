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
from batkube.batsim.options import read_roles
from batkube.batsim.platform import DEFAULT_MASTER, Host, Platform
from batkube.batsim.profiles import Profile
from batkube.batsim.workload import Workload
from batkube.bridge import jobs, pods
from batkube.bridge.cluster import DEFAULT_CPU
from batkube.bridge.errors import InputError
from batkube.bridge.jobs import NO_REQUIREMENTS, OWN_FIELD, OWN_FIELDS, PUBLISHED_TYPES, PodRequirements
from batkube.bridge.time import SimulatedTime
from batkube.kube.apimachinery.quantity import Quantity
from batkube.kube.apimachinery.status import ApiError
from batkube.kube.schema.gates import read_gates
from batkube.kube.server import ApiServer
from batkube.settings import RunSettings

CLOSE = 0.75
"""The likeness (``difflib``) of two names of which one is taken for a slip of the other."""
PROPERTIES = (
    *("role", "core", "memory", "pods", "speed", "wattage_per_state", "wattage_off", "sleep_pstates"),
    *("watt_per_state", "watt_off"),
)
"""The properties of hosts that mean something; others become labels."""


def near_miss(name: str, known: Iterable[str]) -> str | None:
    """Return the known name of which an unknown one looks like a slip."""
    by_small = {each.lower(): each for each in known}
    found = get_close_matches(name.lower(), by_small, n=1, cutoff=CLOSE)
    return by_small[found[0]] if found else None


class PodCheck:
    """Asks an API server of its own whether it would take the pods of jobs, once for all jobs that ask for the same."""

    def __init__(self, feature_gates: Iterable[str]) -> None:
        self._gates = tuple(feature_gates)
        self._asked: set[str] = set()
        self._server: ApiServer | None = None

    def check(self, where: str, job: JobDescription, wanted: PodRequirements) -> list[str]:
        """Return what to warn of. Raises InputError, which says ``where`` and names the field."""
        if wanted.plain or (key := wanted.model_dump_json()) in self._asked:
            return []
        self._asked.add(key)
        if self._server is None:
            self._server = ApiServer(now=lambda: 0.0, feature_gates=read_gates(self._gates))
        server, warnings = self._server, []
        requests = {"cpu": wanted.cpu or DEFAULT_CPU}
        requests |= {"memory": wanted.memory} if wanted.memory else {}
        requests |= {pods.GPU: wanted.gpu} if wanted.gpu else {}
        asked = job.model_copy(update={"walltime": None})
        shape = jobs.Job(f"w0!{job.id}", asked, 0, wanted, "default-scheduler", pods=["pod"])
        try:
            if isinstance(wanted.priority, int):
                given = {"metadata": {"name": "batkube"}, "value": wanted.priority}
                server.check("priorityclasses.scheduling.k8s.io", given)
            named = wanted.priority if isinstance(wanted.priority, str) else None
            made = pods.pods_of(shape, server.registry.named("pods"), requests=requests, priority_class=named)
            warnings = server.check("pods", made[0], pods.NAMESPACE)
        except (InputError, ApiError) as error:
            text = error.message if isinstance(error, ApiError) else str(error)
            fields = text.removeprefix('Pod "pod" is invalid: ').removeprefix(f"job {shape.id}: ")
            if fields.startswith("Pod in version"):
                fields = f"pod: {fields}"
            if fields.startswith("PriorityClass"):
                fields = f"priority is {wanted.priority}: {fields}"
            raise InputError(f"{where}: {fields}") from None
        return [f"{where}: pod: {warning}" for warning in warnings]


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


def compute_hosts(settings: RunSettings, platform: Platform) -> tuple[Host, ...]:
    """Return the hosts that compute. Raises PlatformError, and InputError where there is none."""
    options = settings.batsim
    roles = read_roles(options.roles)
    found = platform.resources(master=options.master_host or DEFAULT_MASTER, roles=roles, needs_master=False).compute
    if not found:
        raise InputError(f"{platform.path}: no host computes: each is the master or for storage")
    return found


class JobChecks:
    """Checks the jobs of all workloads of a run on these hosts."""

    def __init__(self, settings: RunSettings, hosts: Iterable[Host]) -> None:
        self.preemption = False
        """True if a pod has a priority, so that one may take another's place."""
        self._time = SimulatedTime(settings.epoch)
        self._pods = PodCheck(settings.api.feature_gates)
        cores = [Quantity.parse(host.properties.get("core", str(host.cores))) for host in hosts]
        self._whole_host = None if settings.batsim.compute_sharing else min(cores, default=None)

    def check(self, path: Path, workload: Workload) -> list[str]:
        """Check the jobs of a file; what to warn of. Raises InputError, which names file, job and field."""
        warnings = job_slips(path, workload)
        small: list[str] = []
        for job in workload.jobs.values():
            where = f"{path}: job {job.id}"
            self._time.check(job.subtime, f"{where}: subtime")
            if job.subtime < 0:
                raise InputError(f"{where}: subtime is {job.subtime:g}: must not be negative")
            raw, profile = with_extra_data(job.raw), with_extra_data(workload.profiles[job.profile].raw)
            wanted = PodRequirements.read(where, raw, profile)
            if wanted is NO_REQUIREMENTS:
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
