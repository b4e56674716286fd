"""A scenario with the controllers that are built in, in this process."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import httpx

from batkube.batsim.external_events import read_external_events
from batkube.batsim.platform import read_platform
from batkube.bridge.cluster import ADMISSION_WITHOUT
from batkube.bridge.controller_settings import Which
from batkube.bridge.quiescence import QuiescenceOnRealClock
from batkube.bridge.simulation import Simulation
from batkube.bridge.step_loop import StepLoop
from batkube.bridge.step_settings import StepSettings
from batkube.bridge.subscription import Subscription
from batkube.bridge.time import SimulatedTime
from batkube.kube.server import ApiServer
from batkube.kube.storage.store import Change
from batkube.results.events import EventLog
from batkube.simulator.embedded import EmbeddedSimulator
from batkube.simulator.options.simulator_options import SimulatorOptions

from .director import Director
from .program import EPOCH, WATCHED
from .scenario import Scenario, machine_events, platform, read

JSON = dict[str, Any]

SETTINGS = StepSettings(patience=0.01)


class AllSeen(Exception):
    """The last look is over: a simulation of a CronJob has no other end."""


class Stage(QuiescenceOnRealClock):
    """The director in the place of a scheduler: it decides to its end whenever it is waited for."""

    knows_timers = True
    keeps_appointments = True

    def __init__(self, server: ApiServer, clock: SimulatedTime, director: Director) -> None:
        super().__init__(server, SETTINGS, pid=None)
        self._server = server
        self._clock = clock
        self._director = director
        self._changes = Subscription(server, self._on_change, WATCHED)

    async def start(self) -> None:
        """Listen from now on."""
        for resource in WATCHED:
            for found in self._server.list(resource):
                self._director.told(resource, "ADDED", found)
        self._changes.start()

    async def came_back(self) -> bool:
        """It never goes."""
        return False

    async def wait(self) -> float:
        """Let it place pods, and do what is due."""
        await self._director.place()
        await self._director.act(self._clock.now)
        if self._director.next_date() is None:
            raise AllSeen
        await self._director.place()
        return time.monotonic()

    def next_appointment(self) -> float | None:
        """Return when it wants to act by itself."""
        return self._director.next_date()

    def close(self) -> None:
        """Listen no more."""
        self._changes.stop()
        super().close()

    def _on_change(self, change: Change) -> None:
        self._director.told(change.resource.storage, change.type, change.version.obj)


async def play(name: str, folder: Path) -> list[JSON]:
    """Play the scenario; return the notes."""
    scenario = read(name)
    clock = SimulatedTime(EPOCH)
    server = ApiServer(now=clock.unix, disable_admission_plugins=ADMISSION_WITHOUT)
    server.hold_workloads()
    server.provide(scenario.objects)
    transport = httpx.ASGITransport(app=server.asgi)
    async with httpx.AsyncClient(transport=transport, base_url="http://cluster") as client:
        director = Director(scenario, client, EPOCH)
        simulator, simulation = _simulation(scenario, server, clock, folder)
        stage = Stage(server, clock, director)
        try:
            await StepLoop(simulator, simulation, stage, SETTINGS).run()
        except AllSeen:
            pass
        finally:
            stage.close()
            simulation.close()
    return director.looks.notes()


def _simulation(
    scenario: Scenario, server: ApiServer, clock: SimulatedTime, folder: Path
) -> tuple[EmbeddedSimulator, Simulation]:
    path = folder / "platform.xml"
    path.write_text(platform(scenario))
    hosts = read_platform(path)
    failures = folder / "events.txt"
    failures.write_text(machine_events(scenario))
    outages = read_external_events(failures)
    options = SimulatorOptions(compute_sharing=True, dynamic_jobs=True, external_events=outages or None)
    simulator = EmbeddedSimulator(hosts, [], options)
    simulation = Simulation(
        server,
        clock,
        EventLog(folder / "events.jsonl"),
        scheduler_name="default-scheduler",
        served=("default-scheduler",),
        platform=hosts,
        until=scenario.end,
        controllers=Which.BUILTIN,
        hardware=simulator,
        outages=outages,
        node_monitor_grace_period=scenario.grace,
    )
    return simulator, simulation
