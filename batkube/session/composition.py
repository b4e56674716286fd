"""A run put together: server, simulator, scheduler and session, each closed in the reverse order."""

import shlex
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from batkube.batsim.farewell import CALLS_WITHIN, Conversation
from batkube.batsim.process import BatsimProcess
from batkube.batsim.recorded_batsim import RecordedBatsim
from batkube.batsim.recording import Recorder
from batkube.batsim.simulator import Simulator
from batkube.bridge.clock_quiescence import QuiescenceOnSimulatedClock, scheduler_clock
from batkube.bridge.controller_settings import controller_file
from batkube.bridge.decision_time import ZERO
from batkube.bridge.errors import InputError
from batkube.bridge.job_files import JobFiles
from batkube.bridge.policy_quiescence import PolicyQuiescence
from batkube.bridge.quiescence import Quiescence, QuiescenceOnRealClock
from batkube.bridge.requeue_rule import read_requeue
from batkube.bridge.step_settings import QuiescenceMeans
from batkube.bridge.time import SimulatedTime
from batkube.clock.launch import Mode
from batkube.clock.oracle import IdleOracle
from batkube.clock.pace import Pace
from batkube.clock.simulated import SimulatedClock
from batkube.kube.server import ApiServer
from batkube.schedulers.process import SchedulerProcess
from batkube.schedulers.programs import Programs
from batkube.schedulers.under_test import ApiAccess
from batkube.session.access import client_tls, write_access
from batkube.session.dated_objects import check_dated
from batkube.session.display import display
from batkube.session.inputs import Inputs
from batkube.session.process_use import process_use
from batkube.session.programs import place_among, programs_beside
from batkube.session.results_folder import clear, own_folder
from batkube.session.run_record import run_record
from batkube.session.scheduler_clock import clock_mode, launcher
from batkube.session.session import Session
from batkube.session.simulated_server import simulated_server
from batkube.session.simulators import (
    BATSIM,
    EMBEDDED,
    afterwards,
    command_by_hand,
    control_latency,
    hardware,
    outages,
    simulator_for,
)
from batkube.session.supervision import interruptible, until_dead, until_interrupted
from batkube.session.written_inputs import with_written_inputs
from batkube.settings import Clock, Determinism, RunSettings
from batkube.settings_rules import DATED_BY_PACE

if TYPE_CHECKING:
    from batkube.schedulers.extender_relay import Relay


@dataclass(frozen=True)
class Scheduler:
    """The scheduler under test as it runs: in a process of its own, inside this one, or somewhere else."""

    command: list[str]
    """Empty where it was not started here."""
    mode: Mode
    quiescence: Quiescence
    process: SchedulerProcess | None
    relay: "Relay | None"
    """Asks its extenders."""
    programs: Programs | None
    """The programs beside it."""


async def play(
    settings: RunSettings, inputs: Inputs, *, quiet: bool, recorded: RecordedBatsim | None = None
) -> Session:
    """Run a simulation to its end; its session, with what there is to say of it.

    ``recorded``: who simulates, in the place of what settings say. Raises the errors of inputs (``BAD_INPUTS``),
    SimulatorError and SchedulerError where it cannot begin.
    """
    if settings.clock is Clock.PACED:
        unobserved = settings.step.model_copy(update={"quiescence": QuiescenceMeans.QUIET})
        settings = settings.model_copy(update={"step": unobserved})
    console = Console(emoji=False, highlight=False, quiet=quiet)
    async with AsyncExitStack() as stack:
        stack.enter_context(own_folder(settings))
        clear(settings.out, keep=_inputs(settings), batsim=settings.simulator in (EMBEDDED, BATSIM))
        settings = settings.model_copy(update={"workloads": inputs.job_files})
        settings = with_written_inputs(settings, inputs)
        asked = stack.enter_context(interruptible())
        clock = SimulatedTime(settings.epoch)
        pace = Pace(settings.step.pace, paused=settings.step.paused)
        sessions: list[Session] = []
        server = simulated_server(settings, clock, pace, lambda: sessions[0].simulation if sessions else None)
        await server.start()
        stack.push_async_callback(server.stop)
        access = _access(settings, inputs, server)
        if server.token is not None:
            console.print(f"in a browser: {server.page_url}", soft_wrap=True, markup=False)
        simulator = await _simulator(settings, inputs, recorded, stack, console)
        scheduler = await _scheduler(settings, inputs, server, clock, access, stack)
        if not scheduler.command and not inputs.scheduler.policy:
            console.print(f"waiting for a scheduler:\n  export KUBECONFIG={access.kubeconfig}")
        session = Session(
            settings.out,
            run_record(settings, inputs, scheduler.command, scheduler.mode, scheduler.programs),
            server,
            clock,
            settings.step,
            quiescence=scheduler.quiescence,
            scheduler_name=inputs.scheduler.names[0],
            served=_served(scheduler, inputs),
            platform=inputs.platform,
            files=JobFiles(inputs.workloads),
            startup=inputs.startup,
            run_times=inputs.run_times,
            until=settings.run_times.until,
            node_monitor_grace_period=settings.run_times.node_monitor_grace_period,
            requeue=read_requeue(settings.run_times.requeue),
            hardware=hardware(settings, simulator),
            spare=settings.run_times.spare_hosts,
            controllers=inputs.controllers,
            pace=pace,
            control_latency=control_latency(settings, inputs.platform),
            outages=outages(settings, inputs.machines),
            machines=inputs.machines,
            energy=settings.batsim.energy,
            power_off_after=settings.power_off_after,
            seed=settings.seed,
            afterwards=afterwards(settings, simulator),
            parquet=settings.parquet,
            use_of=lambda: process_use(scheduler.process.pid) if scheduler.process else None,
            retries_on_events=inputs.scheduler.retries_on_events() and not inputs.preemption,
        )
        if scheduler.relay:
            scheduler.relay.on_failure = session.extender_failed
        if scheduler.programs:
            session.watch_programs(scheduler.programs)
        for text in check_dated(server, inputs.dated.objects):
            session.simulation.warn(text)
        session.simulation.arrivals.plan(inputs.dated.objects)
        sessions.append(session)
        for text in inputs.warnings:
            session.simulation.warn(text)
        total = sum(len(workload.jobs) for workload in inputs.workloads.values())
        shown = display(session.simulation, pace, total, quiet=quiet)
        pace.on_change.append(shown.update)
        watches = [until_interrupted(asked)]
        if scheduler.process:
            watches.append(until_dead(scheduler.process))
        if isinstance(simulator, BatsimProcess):
            watches.append(simulator.until_dead())
        try:
            await session.play(simulator, *watches, on_step=shown.update, given_up=asked)
        finally:
            shown.close()
    return session


def _served(scheduler: Scheduler, inputs: Inputs) -> tuple[str, ...] | None:
    """Return the names that running schedulers go by; None where they cannot be known: a program may be one, too."""
    known = (scheduler.process or inputs.scheduler.policy) and scheduler.programs is None
    return inputs.scheduler.names if known else None


def _inputs(settings: RunSettings) -> list[Path]:
    """Return the files that are read, which may lie in the folder of results."""
    named = (
        settings.scenario,
        *settings.platform,
        settings.startup,
        settings.run_times.durations,
        settings.schedule,
        controller_file(settings.controllers),
        settings.scheduler_config,
        settings.recording,
    )
    given = [*settings.workloads, *settings.api.definitions, *settings.api.objects, *settings.batsim.input_files]
    return [*given, *(path for path in named if path is not None)]


def _access(settings: RunSettings, inputs: Inputs, server: ApiServer) -> ApiAccess:
    """Return how the scheduler reaches the server, which listens."""
    kubeconfig = (settings.out / "kubeconfig").absolute()
    in_cluster = write_access(settings.access, server, kubeconfig)
    tls = client_tls(server) if inputs.scheduler.extenders else {}
    return ApiAccess(kubeconfig, server.url, server.port, in_cluster, tls)


async def _simulator(
    settings: RunSettings, inputs: Inputs, recorded: RecordedBatsim | None, stack: AsyncExitStack, console: Console
) -> Simulator:
    """Start it, or say how a user is to start it; ``stack`` closes it."""
    if recorded is not None:
        stack.push_async_callback(recorded.close)
        return recorded
    recorder = Recorder()
    stack.callback(recorder.end)
    assert inputs.platform is not None
    simulator = await simulator_for(settings, inputs.platform, inputs.workloads, recorder, inputs.machines)
    stack.push_async_callback(simulator.close)
    if isinstance(simulator, Conversation):
        stack.push_async_callback(_dismiss, simulator, console)
        by_hand = shlex.join(command_by_hand(settings, simulator.endpoint.address, inputs.machines))
        console.print(f"waiting for Batsim:\n  {by_hand}", soft_wrap=True, markup=False)
    return simulator


async def _dismiss(batsim: Conversation, console: Console) -> None:
    """Let a Batsim that was started by hand not wait for us for ever, and say how it ended."""
    if done := await batsim.dismiss(callers_within=CALLS_WITHIN):
        console.print(done.value, markup=False)


async def _scheduler(
    settings: RunSettings,
    inputs: Inputs,
    server: ApiServer,
    clock: SimulatedTime,
    access: ApiAccess,
    stack: AsyncExitStack,
) -> Scheduler:
    """Start the scheduler on its clock, where it is to be started here; ``stack`` ends it."""
    chosen, log = inputs.scheduler, settings.out / "scheduler.log"
    relay = None
    if chosen.extenders:
        from batkube.schedulers.extender_relay import Relay  # it takes a while to load

        relay = Relay(chosen.extenders)
        stack.push_async_callback(relay.close)
        server.routes.append(relay.router)
    deterministic = settings.determinism is not Determinism.NONE
    command = chosen.command(access, settings.out, repeatable_preemption=inputs.preemption and deterministic)
    beside = [inputs.programs[program.name] for program in settings.programs]
    mode = clock_mode(settings, command, beside)
    if mode == "real" and settings.step.pace and settings.step.decision_time != ZERO:
        raise InputError(DATED_BY_PACE)
    oracle = simulated = process = programs = None
    if mode != "real":
        oracle, simulated = _simulated_clock(settings, server, stack)
    if command:
        seed = settings.seed if deterministic else None
        launch = launcher(simulated, mode, seed, settings.scheduler_folder)
        process = await chosen.start(command, access, log, launch, seed=seed)
        stack.push_async_callback(process.stop)
    if oracle and simulated:
        if process:
            oracle.add(process.pid)
        if settings.programs:
            programs = programs_beside(settings, inputs, access, oracle, simulated, mode)
            stack.push_async_callback(programs.stop)
            if deterministic:
                server.turns.place_of = place_among(oracle, programs)
    quiescence: Quiescence
    if chosen.policy:
        policy = PolicyQuiescence(server, clock, chosen.policy, names=chosen.names, seed=settings.seed, log=log)
        quiescence = policy
        if simulated and programs:
            from batkube.bridge.policy_and_programs import QuiescenceOfPolicyAndPrograms  # most have none

            quiescence = QuiescenceOfPolicyAndPrograms(
                policy, QuiescenceOnSimulatedClock(server, settings.step, simulated, programs, alone=True)
            )
    elif simulated and process:
        quiescence = QuiescenceOnSimulatedClock(server, settings.step, simulated, programs)
    else:
        quiescence = QuiescenceOnRealClock(server, settings.step, process.pid if process else None, chosen.names)
    return Scheduler(command, mode, quiescence, process, relay, programs)


def _simulated_clock(
    settings: RunSettings, server: ApiServer, stack: AsyncExitStack
) -> tuple[IdleOracle, SimulatedClock]:
    """Return the clock for the scheduler, and the oracle that sees it at rest; the server takes turns by it."""
    oracle = IdleOracle(server)
    stack.callback(oracle.close)
    if settings.determinism is not Determinism.NONE:
        server.turns.place_of = oracle.place_of
        server.turns.draw_by(settings.seed)
        server.turns.at_once = settings.determinism is Determinism.FAST
    simulated = scheduler_clock(settings.epoch, oracle)
    stack.callback(simulated.close)
    return oracle, simulated
