"""One simulation after another on one server: those of the Batsims that call."""

import logging
import sys
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from batkube.batsim.afterwards import Afterwards
from batkube.batsim.control_latency import largest_control_latency
from batkube.batsim.endpoint import Endpoint
from batkube.batsim.errors import ProtocolError, SimulatorDied
from batkube.batsim.farewell import Conversation
from batkube.batsim.messages import Message, SimulationBegins
from batkube.batsim.platform import Platform
from batkube.batsim.recording import Recorder
from batkube.batsim.result_files import ResultFiles
from batkube.batsim.routing import Router
from batkube.bridge.controller_settings import Which, read_controllers
from batkube.bridge.decisions import UNKNOWN_CONTROL_LATENCY
from batkube.bridge.quiescence import QuiescenceOnRealClock
from batkube.bridge.requeue_rule import read_requeue
from batkube.bridge.run_times import RunTimeRules
from batkube.bridge.startup import Startup
from batkube.bridge.time import SimulatedTime
from batkube.clock.pace import Pace
from batkube.controllers.flags import Flags
from batkube.kube.server import ApiServer
from batkube.platforms.given import read_given_platform
from batkube.session.api_server import start_api
from batkube.session.inputs import read_run_times
from batkube.session.results_folder import SERVED, own_folder
from batkube.session.run_record import served_run_record
from batkube.session.session import Session
from batkube.session.simulated_server import simulated_server
from batkube.session.supervision import Asked, Interrupted, interruptible, supervised, until_interrupted
from batkube.session.written_inputs import IMPORTED_PLATFORM
from batkube.settings import FINISHED, ServeSettings
from batkube.startup.model import read_startup

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Given:
    """The files that all simulations have in common."""

    platform: Platform | None
    platform_file: Path | None
    """The file of it that Batsim takes, too."""
    control_latency: float
    startup: Startup | None
    run_times: RunTimeRules
    controllers: Which | Flags


def _read(settings: ServeSettings) -> _Given:
    """Read them, and write the platform that was made of other things. Raises OSError, and ValueError."""
    made = read_given_platform(settings.platform, settings.add_nodes) if settings.platform else None
    platform = made.platform if made is not None else None
    for text in made.warnings if made is not None else ():
        log.warning("%s", text)
    file = settings.platform[0] if made is not None else None
    if made is not None and made.text is not None:
        file = settings.out / IMPORTED_PLATFORM
        file.write_text(made.text, encoding="utf-8")
    latency = UNKNOWN_CONTROL_LATENCY
    if platform:
        latency = largest_control_latency(Router(platform), platform.resources())
    startup = Startup(read_startup(settings.startup), settings.seed) if settings.startup else None
    controllers = read_controllers(settings.controllers)
    return _Given(platform, file, latency, startup, read_run_times(settings), controllers)


async def serve_beside_batsim(settings: ServeSettings) -> int:
    """Play cluster for whichever Batsim calls; the exit code: that of a simulation which a signal has cut short."""
    clock = SimulatedTime(settings.epoch)
    pace = Pace(settings.step.pace, paused=settings.step.paused)
    current: list[Session] = []
    async with AsyncExitStack() as stack:
        stack.enter_context(own_folder(settings))
        asked = stack.enter_context(interruptible())
        endpoint = Endpoint(settings.batsim)
        batsim = Conversation(endpoint)
        stack.push_async_callback(batsim.close)
        stack.push_async_callback(_dismiss, batsim)
        given = _read(settings)  # a Batsim that waits is dismissed where they are refused
        api = simulated_server(settings, clock, pace, lambda: current[-1].simulation if current else None)
        server, path = await start_api(settings, api, stack)
        print(
            f"batkube: the Kubernetes API is at {server.url}, results go to {settings.out}\n"
            f"  scheduler:  export KUBECONFIG={path}\n"
            f"  Batsim:     batsim -p {given.platform_file or 'PLATFORM'} -w WORKLOAD -s {endpoint.address}\n"
            f"  in a browser: {server.page_url}",
            flush=True,
        )
        try:
            return await _simulations(settings, given, server, batsim, clock, pace, current, asked)
        except Interrupted:
            return FINISHED


async def _simulations(
    settings: ServeSettings,
    given: _Given,
    server: ApiServer,
    batsim: Conversation,
    clock: SimulatedTime,
    pace: Pace,
    current: list[Session],
    asked: Asked,
) -> int:
    """Play simulations one after another, each with a fresh cluster and a folder of its own.

    Returns the exit code of one that is cut short. Raises Interrupted where none goes on.
    """
    recorder = Recorder()
    if settings.record is not None:
        batsim.endpoint.on_exchange = recorder.note
    while True:
        try:
            message = await _next_message(batsim, asked)
        except SimulatorDied:
            continue
        except ProtocolError as error:
            print(f"batkube: {error}", file=sys.stderr, flush=True)
            await _dismiss(batsim)
            continue
        if not any(isinstance(event, SimulationBegins) for event in message.events):
            print("batkube: Batsim began a simulation without SIMULATION_BEGINS", file=sys.stderr, flush=True)
            await _dismiss(batsim)
            continue
        if current:
            server.reset()
            clock.restart()
        out = _next_folder(settings.out)
        session = Session(
            out,
            served_run_record(settings),
            server,
            clock,
            settings.step,
            quiescence=QuiescenceOnRealClock(server, settings.step, None, settings.scheduler_names),
            scheduler_name=settings.scheduler_names[0],
            served=None,
            platform=given.platform,
            startup=given.startup,
            run_times=given.run_times,
            until=settings.run_times.until,
            node_monitor_grace_period=settings.run_times.node_monitor_grace_period,
            requeue=read_requeue(settings.run_times.requeue),
            spare=settings.run_times.spare_hosts,
            controllers=given.controllers,
            pace=pace,
            control_latency=given.control_latency,
            energy=settings.energy,
            power_off_after=settings.power_off_after,
            parquet=settings.parquet,
            afterwards=Afterwards(ResultFiles(settings.batsim_out, since=time.time())) if settings.batsim_out else None,
        )
        current[:] = [session]
        if settings.record is not None:
            recorder.begin(out / settings.record)
        print(f"batkube: a simulation begins; results go to {out}", flush=True)
        exit_code = await session.play(batsim, until_interrupted(asked), first=message, given_up=asked)
        run = session.run
        print(f"batkube: {run.status}: {run.jobs.submitted} jobs, {run.simulated_seconds:.3f} s", flush=True)
        if exit_code:
            print(f"batkube: {run.reason}", file=sys.stderr, flush=True)
            await _dismiss(batsim)
        recorder.end()
        if asked.is_set():
            return exit_code


async def _next_message(batsim: Conversation, asked: Asked) -> Message:
    """Tell what a Batsim that calls says first. Raises Interrupted."""
    messages: list[Message] = []

    async def receive() -> None:
        messages.append(await batsim.receive())

    await supervised(receive(), until_interrupted(asked))
    return messages[0]


async def _dismiss(batsim: Conversation) -> None:
    """Let Batsim not wait for us for ever, and say how it ended."""
    if done := await batsim.dismiss():
        print(f"batkube: {done.value}", file=sys.stderr, flush=True)


def _next_folder(out: Path) -> Path:
    return next(path for number in count(1) if not (path := out / f"{SERVED}{number}").exists())
