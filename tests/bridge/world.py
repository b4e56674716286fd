"""A simulation in process whose scheduler is a few lines of a test: a real API server, the embedded simulator."""

import json
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import httpx

from batkube.batsim.external_events import AVAILABLE, UNAVAILABLE, ExternalEvent
from batkube.batsim.jobs import JobState
from batkube.batsim.machine_events import MachineEvents
from batkube.batsim.platform import read_platform
from batkube.batsim.workload import parse_workload
from batkube.bridge.controller_settings import Which
from batkube.bridge.decision_time import ZERO, DecisionTime
from batkube.bridge.drains import Drain
from batkube.bridge.hardware import NO_MORE_HOSTS
from batkube.bridge.quiescence import QuiescenceOnRealClock
from batkube.bridge.requeue_rule import read_requeue
from batkube.bridge.run_times import RunTimeRules
from batkube.bridge.simulation import Simulation
from batkube.bridge.speeds import Slowdown
from batkube.bridge.startup import Startup
from batkube.bridge.step_loop import StepLoop
from batkube.bridge.step_settings import StepSettings
from batkube.bridge.time import SimulatedTime
from batkube.clock.pace import Pace
from batkube.kube.server import ApiServer
from batkube.results.events import EventLog
from batkube.simulator.embedded import EmbeddedSimulator
from batkube.simulator.options.simulator_options import SimulatorOptions

JSON = dict[str, Any]
IMPATIENT = StepSettings(patience=0.01)


SPEEDS = "1Gf,0.5Gf,1f,0.1f,0.05f"
POWER = """<prop id="wattage_per_state" value="60:65:160,50:52:90,8:8:8,70:70:70,120:120:120"/>
    <prop id="wattage_off" value="8"/><prop id="sleep_pstates" value="2:3:4"/>"""
"""Falls asleep in 10 s, wakes up in 20 s."""


class World:
    """A simulation, and what its scheduler can do through the API."""

    def __init__(
        self,
        folder: Path,
        cores: list[int],
        workload: JSON,
        *,
        sharing: bool = False,
        decision_time: DecisionTime = ZERO,
        startup: Startup | None = None,
        external_events: Sequence[ExternalEvent] = (),
        machine_events: MachineEvents | None = None,
        drains: Sequence[Drain] = (),
        slowdowns: Sequence[Slowdown] = (),
        control_latency: float = 0.0,
        energy: bool = False,
        power_off_after: float | None = None,
        keep_finished: int | None = None,
        run_times: RunTimeRules | None = None,
        until: float = 0.0,
        requeue: str = "never",
        grows: bool = True,
        spare: Sequence[str] = (),
        controllers: Which = Which.NONE,
        objects: Sequence[JSON] = (),
        dynamic: bool = True,
        served: Sequence[str] | None = ("default-scheduler",),
        grace: float = 0.0,
    ) -> None:
        more = f'speed="{SPEEDS}">{POWER}</host>' if energy else 'speed="1Gf"/>'
        hosts = "".join(f'<host id="h{index}" core="{count}" {more}' for index, count in enumerate(cores))
        folder.mkdir(exist_ok=True)
        path = folder / "platform.xml"
        path.write_text(
            f'<platform version="4.1"><zone id="z" routing="Full">{hosts}'
            '<host id="master_host" speed="1Gf"/></zone></platform>'
        )
        platform = read_platform(path)
        self.time = SimulatedTime(0.0)
        self.server = ApiServer(now=self.time.unix)
        self.server.hold_workloads()
        self.server.provide([{"apiVersion": "v1", "kind": "Pod", **each} for each in objects])
        self.events = EventLog(folder / "events.jsonl")
        self.simulator = EmbeddedSimulator(
            platform,
            [parse_workload({"nb_res": 1, **workload})],
            SimulatorOptions(
                compute_sharing=sharing,
                external_events=external_events or None,
                machine_events=machine_events,
                control_latency=control_latency,
                energy=energy,
                dynamic_jobs=dynamic,
            ),
        )
        self.simulation = Simulation(
            self.server,
            self.time,
            self.events,
            scheduler_name="default-scheduler",
            served=served,
            platform=platform,
            decision_time=decision_time,
            startup=startup,
            control_latency=control_latency,
            outages=external_events,
            machine_events=machine_events,
            drains=drains,
            slowdowns=slowdowns,
            energy=energy,
            power_off_after=power_off_after,
            keep_finished=keep_finished,
            run_times=run_times,
            until=until,
            requeue=read_requeue(requeue),
            hardware=self.simulator if grows else NO_MORE_HOSTS,
            spare=spare,
            controllers=controllers,
            node_monitor_grace_period=grace,
        )
        self.client = httpx.AsyncClient(transport=httpx.ASGITransport(app=self.server.asgi), base_url="http://cluster")

    async def run(
        self,
        schedule: Callable[["World"], Awaitable[None]],
        settings: StepSettings = IMPATIENT,
        pace: Pace | None = None,
    ) -> None:
        """To the end, with ``schedule`` doing what it likes each time the scheduler may react.

        At a pace nobody waits for it: it is a task of the test then.
        """
        world = self

        class Scheduler(QuiescenceOnRealClock):
            async def start(self) -> None:
                """It is there already."""

            async def came_back(self) -> bool:
                """It never goes."""
                return False

            async def wait(self) -> float:
                await schedule(world)
                return time.monotonic()

        quiescence = Scheduler(self.server, settings, pid=None)
        try:
            await StepLoop(self.simulator, self.simulation, quiescence, settings, pace=pace).run()
        finally:
            quiescence.close()

    def waiting(self) -> list[JSON]:
        return [pod for pod in self.server.list("pods") if not pod["spec"].get("nodeName")]

    def nodes(self) -> list[JSON]:
        return self.server.list("nodes")

    async def bind(self, pod: str, node: str, namespace: str = "default") -> httpx.Response:
        binding = {"metadata": {"name": pod}, "target": {"kind": "Node", "name": node}}
        return await self.client.post(f"/api/v1/namespaces/{namespace}/pods/{pod}/binding", json=binding)

    def logged(self) -> list[JSON]:
        """Return the content of ``events.jsonl`` so far."""
        self.events.close()
        return [json.loads(line) for line in self.events.path.read_text().splitlines()]

    def states(self) -> dict[str, JobState]:
        return {job.name: job.life.state for job in self.simulation.control.jobs.values()}


def delays(*jobs: JSON, **profiles: float) -> JSON:
    return {
        "jobs": [{"subtime": 0, "res": 1, "profile": "p", **job} for job in jobs],
        "profiles": {name: {"type": "delay", "delay": delay} for name, delay in (profiles or {"p": 10}).items()},
    }


def outage(host: int, begin: float, end: float) -> list[ExternalEvent]:
    """A host that goes and comes back."""
    return [
        ExternalEvent(date, kind, (host,), {"type": kind, "timestamp": date, "resources": str(host)})
        for date, kind in ((begin, UNAVAILABLE), (end, AVAILABLE))
    ]


async def first_fit(world: World) -> None:
    """Bind what can be bound, asking the API alone."""
    for pod in world.waiting():
        for node in world.nodes():
            metadata = pod["metadata"]
            if (await world.bind(metadata["name"], node["metadata"]["name"], metadata["namespace"])).status_code == 201:
                break
