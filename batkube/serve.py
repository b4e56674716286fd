"""``batkube serve``: the API stays up while one simulation after another uses it."""

import logging
import sys
import time
from contextlib import AsyncExitStack, suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from batkube import __version__, event_loop
from batkube.access import api_server, check_access, given_files, write_access
from batkube.batsim.errors import SimulatorError
from batkube.kube.server import ApiServer
from batkube.settings import ServeSettings
from batkube.supervision import Interrupted, interruptible, supervised, until_interrupted

if TYPE_CHECKING:
    from batkube.batsim.endpoint import Endpoint
    from batkube.bridge.time import SimulatedTime
    from batkube.clock.pace import Pace
    from batkube.session import Session


def main(settings: ServeSettings) -> int:
    """Serve until Ctrl-C or SIGTERM; the exit code."""
    logging.basicConfig(level=logging.WARNING, format="batkube: %(message)s")
    try:
        check_access(settings.access, settings.host)
        event_loop.run(_api_only(settings) if settings.api_only else _beside_batsim(settings))
    except (OSError, ValueError, SimulatorError) as error:
        print(f"batkube: {error}", file=sys.stderr)
        return 2
    return 0


async def _api_only(settings: ServeSettings) -> None:
    """Kubernetes objects and the real clock; nobody plays kubelet."""
    async with AsyncExitStack() as stack:
        asked = stack.enter_context(interruptible())
        api = api_server(settings.access, settings.api, now=time.time, seed=settings.seed)
        server, path = await _start_api(settings, api, stack)
        print(f"batkube: the Kubernetes API is at {server.url}\n  export KUBECONFIG={path}", flush=True)
        await asked.wait()


async def _start_api(settings: ServeSettings, server: ApiServer, stack: AsyncExitStack) -> tuple[ApiServer, Path]:
    await server.start(settings.host, settings.port)
    stack.push_async_callback(server.stop)
    path = settings.kubeconfig or settings.out / "kubeconfig"
    write_access(settings.access, server, path)
    return server, path.absolute()


async def _beside_batsim(settings: ServeSettings) -> None:
    """Play cluster for whichever Batsim calls."""
    # Only here: the API alone starts without them.
    from batkube.batsim.endpoint import Endpoint
    from batkube.bridge.time import SimulatedTime
    from batkube.clock.pace import Pace
    from batkube.simulated_server import simulated_server

    clock = SimulatedTime(settings.epoch)
    pace = Pace(settings.step.pace, paused=settings.step.paused)
    current: list[Session] = []
    async with AsyncExitStack() as stack:
        asked = stack.enter_context(interruptible())
        endpoint = Endpoint(settings.batsim)
        stack.push_async_callback(endpoint.close)
        api = simulated_server(settings, clock, pace, lambda: current[-1].simulation if current else None)
        server, path = await _start_api(settings, api, stack)
        print(
            f"batkube: the Kubernetes API is at {server.url}, results go to {settings.out}\n"
            f"  scheduler:  export KUBECONFIG={path}\n"
            f"  Batsim:     batsim -p PLATFORM -w WORKLOAD -s {endpoint.address}",
            flush=True,
        )
        try:
            await supervised(_simulations(settings, server, endpoint, clock, pace, current), until_interrupted(asked))
        except Interrupted:
            return


async def _simulations(
    settings: ServeSettings,
    server: ApiServer,
    endpoint: "Endpoint",
    clock: "SimulatedTime",
    pace: "Pace",
    current: list["Session"],
) -> None:
    """One after another, each with a fresh cluster and a folder of its own."""
    from batkube.batsim.errors import ProtocolError, SimulatorDied
    from batkube.batsim.messages import Message, SimulationBegins
    from batkube.batsim.platform import read_platform
    from batkube.bridge.rest import RestOnRealClock
    from batkube.bridge.startup import Startup
    from batkube.results.manifest import Run, Scheduler, input_file
    from batkube.session import Session
    from batkube.startup.model import read_startup

    platform = read_platform(settings.platform) if settings.platform else None
    startup = Startup(read_startup(settings.startup), settings.seed) if settings.startup else None
    while True:
        try:
            message = await endpoint.receive()
        except SimulatorDied:
            continue
        except ProtocolError as error:
            print(f"batkube: {error}", file=sys.stderr, flush=True)
            continue
        if not any(isinstance(event, SimulationBegins) for event in message.events):
            # The rest of a simulation that failed: let Batsim come to its own end.
            await endpoint.send(Message(now=message.now, events=[]))
            continue
        if current:
            server.reset()
            clock.restart()
        out = _next_folder(settings.out)
        session = Session(
            out,
            Run(
                batkube=__version__,
                scheduler=Scheduler(kind="none", names=[settings.scheduler_name]),
                simulator=settings.batsim,
                startup=input_file(settings.startup) if settings.startup else None,
                objects=[input_file(file) for file in given_files(settings.api)],
                seed=settings.seed,
                epoch=settings.epoch,
                not_repeatable=["the scheduler lives on the real clock"],
                settings=settings.step.model_dump(mode="json"),
            ),
            server,
            clock,
            settings.step,
            rest=RestOnRealClock(server, settings.step, None, (settings.scheduler_name,)),
            scheduler_name=settings.scheduler_name,
            served=None,
            platform=platform,
            startup=startup,
            pace=pace,
        )
        current[:] = [session]
        print(f"batkube: a simulation begins; results go to {out}", flush=True)
        exit_code = await session.play(endpoint, first=message)
        run = session.run
        print(f"batkube: {run.status}: {run.jobs.submitted} jobs, {run.simulated_seconds:.3f} s", flush=True)
        if exit_code:
            print(f"batkube: {run.reason}", file=sys.stderr, flush=True)
            # A Batsim that gets no decision and has nothing to tell finds out for itself, and ends.
            with suppress(SimulatorError):
                await endpoint.send(Message(now=run.simulated_seconds, events=[]))


def _next_folder(out: Path) -> Path:
    return next(path for number in count(1) if not (path := out / f"simulation-{number}").exists())
