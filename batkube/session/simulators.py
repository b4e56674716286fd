"""The simulator of a run: the embedded simulator, a Batsim that is started here, or one that was started by hand."""

import logging
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from batkube.batsim.afterwards import Afterwards, Leaves
from batkube.batsim.command_line import BatsimInputs, arguments, batsim_version, find_batsim
from batkube.batsim.control_latency import largest_control_latency
from batkube.batsim.endpoint import Endpoint
from batkube.batsim.external_events import ExternalEvent, ExternalEventError
from batkube.batsim.farewell import Conversation
from batkube.batsim.options import BatsimOptions, read_roles
from batkube.batsim.platform import DEFAULT_MASTER, Platform
from batkube.batsim.process import BatsimProcess
from batkube.batsim.recording import RecordedSimulator, Recorder
from batkube.batsim.result_files import ResultFiles
from batkube.batsim.routing import Router
from batkube.batsim.simulator import Simulator, SimulatorError
from batkube.batsim.workflow import WorkflowError
from batkube.batsim.workload import Workload
from batkube.bridge.decisions import UNKNOWN_CONTROL_LATENCY
from batkube.bridge.errors import InputError
from batkube.bridge.hardware import Hardware
from batkube.session.machines import WRITTEN, Machines
from batkube.settings import RunSettings
from batkube.simulator.embedded import EmbeddedSimulator
from batkube.simulator.options.translation import ONLY_BATSIM, WITHOUT_MEANING, external_events, simulator_options
from batkube.simulator.outputs.afterwards import EmbeddedAfterwards

log = logging.getLogger(__name__)

EMBEDDED, BATSIM = "embedded", "batsim"
NUMBERED_BY_NAME = 4
"""The major version of Batsim that numbers hosts as the embedded simulator does."""


def check_simulator(settings: RunSettings) -> None:
    """Refuse a simulator that there is not, and files of its options that are not there. Raises InputError."""
    if settings.simulator not in (EMBEDDED, BATSIM) and "://" not in settings.simulator:
        raise InputError(
            f"--simulator {settings.simulator}: expected embedded, batsim, or an endpoint such as tcp://127.0.0.1:28000"
        )
    for path in settings.batsim.input_files:
        if not path.is_file():
            raise InputError(f"{path}: there is no such file")
    if settings.simulator == BATSIM:
        try:
            find_batsim(settings.batsim_binary)
        except SimulatorError as error:
            raise InputError(str(error)) from None


async def simulator_for(
    settings: RunSettings,
    platform: Platform,
    workloads: Mapping[str, Workload],
    recorder: Recorder,
    machines: Machines | None,
) -> Simulator:
    """Start it, or begin to listen for it. Raises InputError, PlatformError, WorkloadError and SimulatorError."""
    simulator = await _simulator(settings, platform, workloads, machines)
    if settings.record is None:
        return simulator
    recorder.begin(settings.record)
    match simulator:
        case BatsimProcess() | Conversation():
            simulator.endpoint.on_exchange = recorder.note
            return simulator
        case _:
            return RecordedSimulator(simulator, recorder)


async def _simulator(
    settings: RunSettings, platform: Platform, workloads: Mapping[str, Workload], machines: Machines | None
) -> Simulator:
    match settings.simulator:
        case "embedded":
            return _embedded(settings, platform, workloads, machines)
        case "batsim":
            return await _batsim(settings, machines)
        case address:
            if machines is not None:
                machines.write(settings.out / WRITTEN)
            if given := [spelling.names[0] for _, spelling, _ in settings.batsim.given()]:
                log.warning("the Batsim that you start must be given by you: %s", ", ".join(given))
            return Conversation(Endpoint(address))


def afterwards(settings: RunSettings, simulator: Simulator) -> Leaves | None:
    """Tell how to come by the simulator's own results; None where nobody says where they are."""
    now = time.time()
    if isinstance(simulator, RecordedSimulator):
        simulator = simulator.simulator
    if isinstance(simulator, EmbeddedSimulator):
        return EmbeddedAfterwards(simulator, dates=settings.batsim.energy or settings.exact)
    if isinstance(simulator, BatsimProcess):
        return Afterwards(ResultFiles(settings.out / "batsim", since=now), simulator)
    if settings.batsim_out is not None:
        return Afterwards(ResultFiles(settings.batsim_out, since=now))
    return None


def control_latency(settings: RunSettings, platform: Platform | None) -> float:
    """Tell what each decision costs Batsim in simulated time, at most. Raises PlatformError.

    The embedded simulator takes none, unless it is exact, but refuses what comes too late for Batsim.
    """
    if platform is None:
        return UNKNOWN_CONTROL_LATENCY
    options = settings.batsim
    master = options.master_host or DEFAULT_MASTER
    needs_master = settings.exact or settings.recording is not None or settings.simulator != EMBEDDED
    resources = platform.resources(master=master, roles=read_roles(options.roles), needs_master=needs_master)
    return largest_control_latency(Router(platform), resources)


def outages(settings: RunSettings, machines: Machines | None) -> list[ExternalEvent]:
    """Return the external events to come, in order of date, but for those that are planned.

    What a Batsim of another process makes of unknown types is its own business. Raises InputError.
    """
    if machines is not None:
        return []
    try:
        events = external_events(settings.batsim, keep_unknown=settings.simulator != EMBEDDED or None) or []
    except ExternalEventError as error:
        raise InputError(str(error)) from None
    return sorted(events, key=lambda event: event.timestamp)


def hardware(settings: RunSettings, simulator: Simulator) -> Hardware | str:
    """Return what takes in hosts that the platform does not have, and slows them down; else why nothing can."""
    if settings.simulator != EMBEDDED or settings.recording is not None:
        return "Batsim takes in no more while it runs (--spare-hosts)"
    if settings.batsim.energy:
        return "with --energy there are no more, as nothing is known of their watts (--spare-hosts)"
    if not isinstance(simulator, EmbeddedSimulator):
        return "with --record there are no more, as a recording has no place for them (--spare-hosts)"
    return simulator


def batsim_inputs(settings: RunSettings, export_prefix: Path) -> BatsimInputs:
    """Return the files of a run that Batsim reads, and those it writes."""
    (platform,) = settings.platform
    return BatsimInputs(platform, settings.workloads, export_prefix)


def batsim_options(settings: RunSettings, machines: Machines | None) -> BatsimOptions:
    """Return the options that the simulator gets: jobs are registered for the pods that clients of the API make."""
    events = settings.batsim.external_events if machines is None else (settings.out / WRITTEN,)
    return settings.batsim.model_copy(update={"dynamic_jobs": True, "external_events": events})


def command_by_hand(settings: RunSettings, address: str, machines: Machines | None) -> list[str]:
    """Return the command with which a user starts the Batsim that a run waits for at ``address``."""
    return ["batsim", *arguments(batsim_inputs(settings, Path("out")), batsim_options(settings, machines), address)]


def _embedded(
    settings: RunSettings, platform: Platform, workloads: Mapping[str, Workload], machines: Machines | None
) -> Simulator:
    given = {name: spelling.names[0] for name, spelling, _ in settings.batsim.given()}
    if refused := [option for name, option in given.items() if name in ONLY_BATSIM]:
        raise InputError(f"{', '.join(refused)}: only Batsim can do that (--simulator batsim)")
    try:
        taken = batsim_options(settings, None)
        if machines is not None:
            taken = taken.model_copy(update={"external_events": ()})
        options = simulator_options(taken, workloads.values(), exact=settings.exact, needs_master=settings.exact)
        if machines is not None:
            machines.number(NUMBERED_BY_NAME)  # a Batsim 5 may have had others (--bounds)
            options = replace(options, machine_events=machines.events, external_events=machines.plan.others or None)
        if ignored := [option for name, option in given.items() if name in WITHOUT_MEANING]:
            log.warning("%s: only Batsim itself has a use for that", ", ".join(ignored))
        return EmbeddedSimulator(platform, workloads.values(), options)
    except (ExternalEventError, WorkflowError) as error:
        raise InputError(str(error)) from None


async def _batsim(settings: RunSettings, machines: Machines | None) -> Simulator:
    binary = find_batsim(settings.batsim_binary)
    version = await batsim_version([binary])
    if machines is not None:
        machines.number(version.major or 4)
        machines.write(settings.out / WRITTEN)
    return await BatsimProcess.start(
        batsim_inputs(settings, settings.out / "batsim"),
        batsim_options(settings, machines),
        command=[binary],
        version=version,
        log=settings.out / "batsim.log",
    )
