"""``batkube run``: API server, simulator, scheduler under test and results in one command."""

import logging
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from rich.console import Console

from batkube import __version__, event_loop
from batkube.access import client_tls, given_files, write_access
from batkube.batsim.endpoint import Endpoint
from batkube.batsim.platform import Platform, PlatformError, read_platform
from batkube.batsim.process import BatsimOptions, BatsimProcess, find_batsim
from batkube.batsim.simulator import Simulator, SimulatorError
from batkube.batsim.workload import Workload, WorkloadError, read_workload
from batkube.bridge.clock_rest import RestOnSimulatedClock, scheduler_clock
from batkube.bridge.decision_time import ZERO
from batkube.bridge.errors import InputError
from batkube.bridge.job_files import JobFiles
from batkube.bridge.jobs import PodWishes
from batkube.bridge.rest import Rest, RestOnRealClock
from batkube.bridge.startup import Startup
from batkube.bridge.time import SimulatedTime
from batkube.clock.launch import Mode, launch
from batkube.clock.launch import choose as choose_mode
from batkube.clock.oracle import IdleOracle
from batkube.clock.pace import Pace
from batkube.clock.probe import means_for
from batkube.clock.simulated import SimulatedClock
from batkube.display import display, summary
from batkube.kube.admission import AdmissionError
from batkube.manifests import ManifestError
from batkube.results.manifest import DecisionTime, Run, Scheduler, input_file
from batkube.schedulers.extenders import ExtenderError
from batkube.schedulers.kube_scheduler import ConfigError
from batkube.schedulers.process import Launch, Process, SchedulerError
from batkube.schedulers.under_test import Access, SchedulerChoiceError, SchedulerUnderTest, choose
from batkube.session import Session
from batkube.settings import BAD_INPUT, DATED_BY_PACE, FAILED, Clock, RestMeans, RunSettings
from batkube.simulated_server import simulated_server
from batkube.simulator.embedded import EmbeddedSimulator
from batkube.startup.errors import StartupError
from batkube.startup.model import read_startup
from batkube.supervision import interruptible, until_dead, until_interrupted

log = logging.getLogger(__name__)

MODES: dict[Clock, Mode] = {
    Clock.AUTO: "auto",
    Clock.ONCE: "once",
    Clock.TREE: "tree",
    Clock.REAL: "real",
    Clock.PACED: "real",
}

_BAD_INPUTS = (
    InputError,
    WorkloadError,
    PlatformError,
    ConfigError,
    ExtenderError,
    SchedulerChoiceError,
    AdmissionError,
    ManifestError,
    OSError,
)


@dataclass(frozen=True)
class Inputs:
    """All that a run reads, checked."""

    platform: Platform
    workloads: dict[str, Workload]
    scheduler: SchedulerUnderTest
    batsim: Path | None
    """The program to start, where it is Batsim that simulates."""
    startup: Startup | None
    preemption: bool
    """Whether pods have priorities, so that one may take another's place."""


def main(settings: RunSettings, *, verbosity: int = 0, summarize: bool = True) -> int:
    """Run; the exit code. ``verbosity``: -1 quiet, 0, 1 verbose."""
    errors = Console(stderr=True, highlight=False, soft_wrap=True)
    logging.basicConfig(
        level={-1: logging.ERROR, 0: logging.WARNING, 1: logging.INFO}[verbosity],
        format="batkube: %(message)s",
    )
    try:
        inputs = read_inputs(settings)
        return event_loop.run(_run(settings, inputs, quiet=verbosity < 0, summarize=summarize))
    except _BAD_INPUTS as error:
        errors.print(f"batkube: {error}", markup=False)
        return BAD_INPUT
    except (SimulatorError, SchedulerError) as error:
        errors.print(f"batkube: {error}", markup=False)
        return FAILED


def read_inputs(settings: RunSettings) -> Inputs:
    """Read and check everything before anything starts. Raises the errors of each kind of input."""
    scheduler = choose(
        settings.scheduler,
        name=settings.scheduler_name,
        command=settings.scheduler_command,
        binary=settings.scheduler_binary,
        config=settings.scheduler_config,
    )
    if settings.simulator not in ("embedded", "batsim") and "://" not in settings.simulator:
        raise InputError(
            f"--simulator {settings.simulator}: expected embedded, batsim, or an endpoint such as tcp://127.0.0.1:28000"
        )
    platform = read_platform(settings.platform)
    workloads = {}
    preemption = False
    for index, path in enumerate(settings.workloads):
        workload = read_workload(path, f"w{index}")
        for job in workload.jobs.values():
            wishes = PodWishes.read(f"{path}: job {job.id}", job.raw, workload.profiles[job.profile].raw)
            preemption = preemption or wishes.prioritized
        workloads[workload.name] = workload
    try:
        batsim = find_batsim(settings.batsim_binary) if settings.simulator == "batsim" else None
    except SimulatorError as error:
        raise InputError(str(error)) from None
    try:
        startup = Startup(read_startup(settings.startup), settings.seed) if settings.startup else None
    except StartupError as error:
        raise InputError(str(error)) from None
    return Inputs(platform, workloads, scheduler, batsim, startup, preemption)


async def _run(settings: RunSettings, inputs: Inputs, *, quiet: bool, summarize: bool) -> int:
    if settings.clock is Clock.PACED:
        unobserved = settings.step.model_copy(update={"rest": RestMeans.QUIET})
        settings = settings.model_copy(update={"step": unobserved})
    out = settings.out
    out.mkdir(parents=True, exist_ok=True)
    clock = SimulatedTime(settings.epoch)
    console = Console(highlight=False, quiet=quiet)
    async with AsyncExitStack() as stack:
        asked = stack.enter_context(interruptible())
        pace = Pace(settings.step.pace, paused=settings.step.paused)
        sessions: list[Session] = []
        server = simulated_server(settings, clock, pace, lambda: sessions[0].simulation if sessions else None)
        await server.start()
        stack.push_async_callback(server.stop)
        kubeconfig = (out / "kubeconfig").absolute()
        in_cluster = write_access(settings.access, server, kubeconfig)
        tls = client_tls(server) if inputs.scheduler.extenders else {}
        access = Access(kubeconfig, server.url, server.port, in_cluster, tls)
        simulator = await _simulator(settings, inputs)
        stack.push_async_callback(simulator.close)
        if isinstance(simulator, Endpoint):
            console.print(f"waiting for Batsim:\n  batsim ... -s {simulator.address}")
        scheduler = inputs.scheduler
        relay = None
        if scheduler.extenders:
            from batkube.schedulers.extender_relay import Relay  # it takes a while to load

            relay = Relay(scheduler.extenders)
            stack.push_async_callback(relay.close)
            server.routes.append(relay.router)
        command = scheduler.command(access, out, exact_times=inputs.preemption and settings.determinism)
        mode = clock_mode(settings, command)
        if mode == "real" and settings.step.pace and settings.step.decision_time != ZERO:
            raise InputError(DATED_BY_PACE)
        oracle = simulated = None
        if mode != "real":
            oracle = IdleOracle(server)
            stack.callback(oracle.close)
            simulated = scheduler_clock(settings.epoch, oracle)
            stack.callback(simulated.close)
        process = None
        rest: Rest
        if command:
            log = out / "scheduler.log"
            start = launcher(simulated, mode)
            process = await scheduler.start(command, access, log, start, determinism=settings.determinism)
            stack.push_async_callback(process.stop)
        else:
            console.print(f"waiting for a scheduler:\n  export KUBECONFIG={access.kubeconfig}")
        if oracle and simulated and process:
            oracle.add(process.pid)
            rest = RestOnSimulatedClock(server, settings.step, simulated)
        else:
            rest = RestOnRealClock(server, settings.step, process.pid if process else None, scheduler.names)
        session = Session(
            out,
            _manifest(settings, inputs, command, mode),
            server,
            clock,
            settings.step,
            rest=rest,
            scheduler_name=scheduler.names[0],
            served=scheduler.names if process else None,
            platform=inputs.platform,
            files=JobFiles(inputs.workloads),
            startup=inputs.startup,
            pace=pace,
        )
        if relay:
            relay.on_failure = session.extender_failed
        sessions.append(session)
        total = sum(len(w.jobs) for w in inputs.workloads.values())
        shown = display(session.simulation, pace, total, quiet=quiet)
        pace.on_change.append(shown.update)
        watches = [until_interrupted(asked)]
        if process:
            watches.append(until_dead(process))
        if isinstance(simulator, BatsimProcess):
            watches.append(simulator.until_dead())
        try:
            exit_code = await session.play(simulator, *watches, on_step=shown.update)
        finally:
            shown.close()
    if summarize:
        summary(session.run, session.simulation, console)
    if session.run.reason:
        Console(stderr=True, highlight=False, soft_wrap=True).print(f"batkube: {session.run.reason}", markup=False)
    return exit_code


def clock_mode(settings: RunSettings, command: Sequence[str]) -> Mode:
    """On which clock the scheduler shall live. Raises InputError where it cannot live on the one that was asked for."""
    clock, rest = settings.clock, settings.step.rest
    if rest is not RestMeans.AUTO:
        if clock in (Clock.ONCE, Clock.TREE):
            raise InputError(
                f"--rest {rest.value} leaves the scheduler on the real clock: not with --clock {clock.value}"
            )
        return "real"
    if not command or MODES[clock] == "real":
        return "real"
    mode = choose_mode(command[0], MODES[clock])
    means = means_for("tree" if mode == "real" else mode)
    if mode != "real" and means.works:
        return mode
    if clock is not Clock.AUTO:
        raise InputError(f"--clock {clock.value}: {means.reason}")
    log.warning("the scheduler keeps the real clock: %s", means.reason)
    return "real"


def launcher(clock: SimulatedClock | None, mode: Mode) -> Launch:
    """Starts programs on ``clock``."""

    async def start(command: Sequence[str], env: Mapping[str, str], output: IO[bytes]) -> Process:
        return await launch(command, env=env, stdout=output, clock=clock, mode=mode)

    return start


async def _simulator(settings: RunSettings, inputs: Inputs) -> Simulator:
    match settings.simulator:
        case "embedded":
            return EmbeddedSimulator(
                inputs.platform, inputs.workloads.values(), compute_sharing=settings.compute_sharing
            )
        case "batsim":
            options = BatsimOptions(
                platform=settings.platform,
                workloads=settings.workloads,
                export_prefix=settings.out / "batsim",
                compute_sharing=settings.compute_sharing,
            )
            assert inputs.batsim is not None
            return await BatsimProcess.start(options, command=[inputs.batsim])
        case endpoint:
            return Endpoint(endpoint)


def _manifest(settings: RunSettings, inputs: Inputs, command: list[str], mode: Mode) -> Run:
    return Run(
        batkube=__version__,
        platform=input_file(settings.platform),
        workloads=[input_file(path) for path in settings.workloads],
        startup=input_file(settings.startup) if settings.startup else None,
        objects=[input_file(file) for file in given_files(settings.api)],
        scheduler=Scheduler(
            kind=inputs.scheduler.kind,
            command=command,
            clock=mode,
            determinism=settings.determinism and bool(command),
            names=list(inputs.scheduler.names),
            log="scheduler.log" if command else None,
        ),
        decision_time=DecisionTime(model=str(settings.step.decision_time)),
        not_repeatable=_not_repeatable(mode, settings, inputs),
        simulator=settings.simulator,
        compute_sharing=settings.compute_sharing,
        seed=settings.seed,
        epoch=settings.epoch,
        settings=settings.step.model_dump(mode="json"),
    )


def _not_repeatable(mode: Mode, settings: RunSettings, inputs: Inputs) -> list[str]:
    """Why runs in this mode may differ. Else they gave the same bytes each time when it was tried (docs/time.md)."""
    why = "; `batkube doctor` says why" if settings.clock is Clock.AUTO and settings.step.rest is RestMeans.AUTO else ""
    reasons = [
        (mode == "real", f"the scheduler lives on the real clock{why if inputs.scheduler.kind != 'none' else ''}"),
        (not settings.determinism, "its environment is not a deterministic one (--no-determinism)"),
        (settings.step.decision_time.model == "real", "decisions take real time"),
    ]
    return [reason for holds, reason in reasons if holds]
