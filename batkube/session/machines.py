"""The plan for the machines of a run, with the numbers that its simulator has for them."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from batkube.batsim.machine_events import MachineEvents
from batkube.batsim.options import host_limit, read_roles
from batkube.batsim.platform import DEFAULT_MASTER, Platform, Resources
from batkube.batsim.profiles import DelayProfile
from batkube.batsim.workload import Workload
from batkube.bridge.errors import InputError
from batkube.settings import RunSettings
from batkube.settings_rules import EMBEDDED

if TYPE_CHECKING:
    from batkube.machines.plan import MachinePlan

WRITTEN = "machine-events.txt"
"""The file in the folder of results that a real Batsim reads."""
GENERIC_SINCE = 5
"""The major version of Batsim that knows generic events alone, and numbers hosts as people do."""


class Machines:
    """The plan of a run on its platform."""

    def __init__(self, plan: "MachinePlan", settings: RunSettings, platform: Platform, limit: int | None) -> None:
        self.plan = plan
        self._settings = settings
        self._platform = platform
        self._limit = limit
        self._generic = False
        self.events: MachineEvents = plan.events(_hosts(settings, platform, limit))
        """The external events."""

    def without_effect(self, workloads: Iterable[Workload]) -> list[str]:
        """Return what to warn of: delays take as long on any host."""
        if not self.plan.slowdowns:
            return []
        delays = [
            one for one in workloads if any(isinstance(each, DelayProfile) for each in one.used_profiles.values())
        ]
        return [
            f"--events: slow: jobs of {workload.path or workload.name} are delays, which take as long on slow nodes "
            "(docs/machines.md)"
            for workload in delays
        ]

    def number(self, major: int) -> None:
        """Take the numbers that a Batsim of this version has."""
        self._generic = major >= GENERIC_SINCE
        hosts = _hosts(self._settings, self._platform, self._limit, numeric_order=self._generic)
        self.events = self.plan.events(hosts)

    def write(self, path: Path) -> None:
        """Write the file that Batsim reads. Raises OSError."""
        self.events.write(path, self.plan.others, generic=self._generic)


def read_machines(settings: RunSettings, platform: Platform, workloads: Iterable[Workload]) -> Machines | None:
    """Read what is said of machines; None for nothing, or what Batsim's own files say. Raises InputError."""
    files = settings.batsim.external_events
    if not files and not settings.machines.failures:
        return None
    from batkube.machines.event_file import Scene  # most runs say nothing of machines
    from batkube.machines.places import Places
    from batkube.machines.plan import is_planned, read_plan

    failures = settings.machines.read
    if not is_planned(files, failures):
        return None
    batsim = settings.batsim
    limit = host_limit(batsim.mmax, (one.nb_res for one in workloads) if batsim.mmax_workload else None)
    scene = Scene(Places.of(_hosts(settings, platform, limit)), settings.epoch)
    real = settings.simulator != EMBEDDED
    keep_unknown = batsim.forward_unknown_events or real
    plan = read_plan(files, failures, scene, seed=settings.seed, keep_unknown=keep_unknown)
    if plan.endless and real:
        raise InputError("--failures: say for how long (for=30d): a real Batsim goes on to the last of them")
    if plan.slowdowns and (why := _keeps_speeds(settings)):
        raise InputError(f"--events: slow: {why}")
    return Machines(plan, settings, platform, limit)


def _keeps_speeds(settings: RunSettings) -> str:
    """Return why no host can be slow for a while; empty where one can."""
    if settings.simulator != EMBEDDED:
        return "a real Batsim cannot change the speed of its hosts while it runs (--simulator embedded can)"
    if settings.recording is not None:
        return "the hosts of a recorded Batsim have kept their speed"
    given = {"--exact": settings.exact, "--energy": settings.batsim.energy, "--record": settings.record is not None}
    return next((f"not with {option}: Batsim's hosts keep their speed" for option, on in given.items() if on), "")


def _hosts(settings: RunSettings, platform: Platform, limit: int | None, *, numeric_order: bool = False) -> Resources:
    options = settings.batsim
    return platform.resources(
        master=options.master_host or DEFAULT_MASTER,
        roles=read_roles(options.roles),
        limit=limit,
        needs_master=False,
        numeric_order=numeric_order,
    )
