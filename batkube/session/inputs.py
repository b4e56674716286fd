"""The inputs of a run: its scheduler, platform, workloads and start-up model, checked before anything starts."""

from dataclasses import dataclass
from pathlib import Path

from batkube.batsim.errors import EndpointError
from batkube.batsim.platform import Platform, PlatformError
from batkube.batsim.workload import Workload, WorkloadError
from batkube.bridge.controller_settings import Which, read_controllers
from batkube.bridge.errors import InputError
from batkube.bridge.run_times import RunTimeRules
from batkube.bridge.spare_hosts import spare_hosts
from batkube.bridge.startup import Startup
from batkube.controllers.flags import Flags
from batkube.kube.admission.plugins import AdmissionError
from batkube.kube.schema.gates import GateError
from batkube.kube.schema.runtime_config import RuntimeConfigError
from batkube.platforms.given import GivenPlatform, read_given_platform
from batkube.results.frames import NotInstalled, import_or_say
from batkube.schedulers.command_line import words_of
from batkube.schedulers.extenders import ExtenderError
from batkube.schedulers.kube_scheduler import ConfigError
from batkube.schedulers.under_test import SchedulerChoiceError, SchedulerUnderTest, choose
from batkube.session.dated_objects import DatedObjects, read_dated, reader_of
from batkube.session.imported import Imported, read_given
from batkube.session.jitter import jittered
from batkube.session.job_checks import JobChecks, hosts_by_role, platform_slips
from batkube.session.machines import Machines, read_machines
from batkube.session.manifests import ManifestError
from batkube.session.simulators import check_simulator
from batkube.settings import RunSettings, SimulationSettings
from batkube.startup.durations import read_durations
from batkube.startup.errors import StartupError
from batkube.startup.model import read_startup

BAD_INPUTS = (
    InputError,
    WorkloadError,
    PlatformError,
    ConfigError,
    ExtenderError,
    SchedulerChoiceError,
    AdmissionError,
    GateError,
    RuntimeConfigError,
    ManifestError,
    NotInstalled,
    EndpointError,
    OSError,
)


@dataclass(frozen=True)
class Inputs:
    """All that a run reads, checked."""

    platform: Platform | None
    """None where a recorded Batsim is played without."""
    given_platform: GivenPlatform | None
    """The same, and what it was made of."""
    workloads: dict[str, Workload]
    scheduler: SchedulerUnderTest
    programs: dict[str, list[str]]
    """The words of the commands of the programs beside it, with placeholders."""
    job_files: tuple[Path, ...]
    """The workloads of jobs."""
    dated: DatedObjects
    """The objects that are created at their dates."""
    startup: Startup | None
    run_times: RunTimeRules
    controllers: Which | Flags
    preemption: bool
    """Return whether pods have priorities, so that one may take another's place."""
    imported: dict[str, Imported]
    """The workloads that were converted from other formats than Batsim's, by the name of the workload."""
    machines: Machines | None
    """The plan for machines; None for nothing, or what Batsim's own files say."""
    warnings: list[str]
    """The warnings for the user: slips, and requests without effect."""


def read_inputs(settings: RunSettings) -> Inputs:
    """Read and check everything before anything starts. Raises the errors of each kind of input."""
    scheduler = choose(
        settings.scheduler,
        names=settings.scheduler_names,
        command=settings.scheduler_command,
        binary=settings.scheduler_binary,
        config=settings.scheduler_config,
        folder=settings.scheduler_folder,
    )
    programs = _programs(settings)
    check_simulator(settings)
    if settings.parquet:
        import_or_say("pyarrow")
    given = read_given_platform(settings.platform, settings.add_nodes) if settings.platform else None
    platform = given.platform if given is not None else None
    hosts = hosts_by_role(settings, platform) if platform is not None else None
    warnings = [*given.warnings, *platform_slips(given.platform)] if given is not None else []
    if hosts is not None:
        spare_hosts(hosts.compute, settings.run_times.spare_hosts)
    checks = JobChecks(settings, hosts)
    workloads: dict[str, Workload] = {}
    imported: dict[str, Imported] = {}
    readers = [(path, reader_of(path, settings.reading.format)) for path in settings.workloads]
    of_jobs = [(path, reader) for path, reader in readers if reader is not None]
    try:
        dated = read_dated([path for path, reader in readers if reader is None], settings.schedule, settings.epoch)
    except StartupError as error:
        raise InputError(str(error)) from None
    warnings += dated.warnings
    for index, (path, reader) in enumerate(of_jobs):
        workload, conversion = read_given(path, reader, f"w{index}", settings, hosts.compute if hosts else ())
        if conversion is not None:
            imported[workload.name] = conversion
            warnings += conversion.warnings
        if settings.jitter:
            workload = jittered(workload, path, seed=settings.seed, most=settings.jitter)
        warnings += checks.check(path, workload)
        workloads[workload.name] = workload
    try:
        startup = Startup(read_startup(settings.startup), settings.seed) if settings.startup else None
    except StartupError as error:
        raise InputError(str(error)) from None
    machines = read_machines(settings, platform, workloads.values()) if platform is not None else None
    if machines is not None:
        warnings += machines.without_effect(workloads.values())
    return Inputs(
        platform,
        given,
        workloads,
        scheduler,
        programs,
        tuple(path for path, _ in of_jobs),
        dated,
        startup,
        read_run_times(settings),
        read_controllers(settings.controllers),
        checks.preemption,
        imported,
        machines,
        warnings,
    )


def read_run_times(settings: SimulationSettings) -> RunTimeRules:
    """Read what is said of the run times of pods that clients make. Raises InputError."""
    try:
        durations = read_durations(settings.run_times.durations) if settings.run_times.durations else None
    except StartupError as error:
        raise InputError(str(error)) from None
    return RunTimeRules(durations, settings.run_times.default_duration, settings.run_times.oom_killer)


def _programs(settings: RunSettings) -> dict[str, list[str]]:
    """Return the words of the commands of programs by their names. Raises InputError."""
    found = {}
    for program in settings.programs:
        try:
            found[program.name] = words_of(program.command, program.folder)
        except ValueError as error:
            raise InputError(f"--program {program.name}: {error}") from None
    return found
