"""Play a mix in this process: the bridge, its API server and the policy of fifo, with whichever simulator."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from batkube.batsim.command_line import BatsimInputs
from batkube.batsim.control_latency import largest_control_latency
from batkube.batsim.external_events import read_external_events
from batkube.batsim.machine_events import MachineEvents
from batkube.batsim.options import BatsimOptions, Verbosity
from batkube.batsim.outputs import write_jobs_csv
from batkube.batsim.platform import read_platform
from batkube.batsim.process import BatsimProcess
from batkube.batsim.routing import Router
from batkube.batsim.simulator import Simulator
from batkube.batsim.workload import read_workload
from batkube.bridge.cluster import ADMISSION_WITHOUT
from batkube.bridge.controller_settings import Which
from batkube.bridge.decision_time import DecisionTime
from batkube.bridge.drains import Drain
from batkube.bridge.job_files import JobFiles
from batkube.bridge.jobs import Job
from batkube.bridge.requeue_rule import read_requeue
from batkube.bridge.run_times import RunTimeRules
from batkube.bridge.simulation import Simulation
from batkube.bridge.startup import Startup
from batkube.bridge.step_loop import StepLoop
from batkube.bridge.step_settings import OnDeadlock, StepSettings
from batkube.bridge.time import SimulatedTime
from batkube.kube.server import ApiServer
from batkube.machines.event_file import Scene
from batkube.machines.failures import read_failures
from batkube.machines.places import Places
from batkube.machines.plan import read_plan
from batkube.results.events import EventLog
from batkube.simulator.embedded import EmbeddedSimulator
from batkube.simulator.options.simulator_options import SimulatorOptions
from batkube.startup.model import read_startup
from tests.mixes.dialogue import Listening
from tests.mixes.life import HORIZON, Life
from tests.mixes.mix import Files, Mix
from tests.mixes.outcome import REJECTED, End, Outcome, read_jobs_csv
from tests.mixes.processes import ENDLESS, is_computing
from tests.mixes.users import FifoWithUsers


def embedded(mix: Mix, files: Files, *, exact: bool) -> EmbeddedSimulator:
    """The built-in simulator with the mix. Raises ValueError for a mix that it does not take."""
    planned, _ = machines(mix, files)
    return EmbeddedSimulator(
        read_platform(files.platform),
        [read_workload(path, f"w{index}") for index, path in enumerate(files.workloads)],
        SimulatorOptions(
            compute_sharing=mix.sharing,
            external_events=read_external_events(files.events) if files.events and planned is None else None,
            machine_events=planned,
            dynamic_jobs=mix.life is not None,
            energy=mix.energy,
            exact=exact,
        ),
    )


def machines(mix: Mix, files: Files) -> tuple[MachineEvents | None, Sequence[Drain]]:
    """Return the outages and drains where a life says more of machines than Batsim's own file; else None and none."""
    if mix.life is None or not (mix.life.machines or mix.life.failures):
        return None, ()
    resources = read_platform(files.platform).resources(master="master_host")
    failures = [read_failures(text) for text in mix.life.failures]
    paths = [path for path in (files.events, files.machines) if path]
    plan = read_plan(paths, failures, Scene(Places.of(resources), 0.0), seed=mix.seed, keep_unknown=False)
    return plan.events(resources), plan.drains


async def batsim(mix: Mix, files: Files, program: Path, prefix: Path) -> BatsimProcess:
    """A real Batsim with the mix; its results have names that begin with ``prefix``."""
    inputs = BatsimInputs(files.platform, files.workloads, prefix)
    events = files.events
    planned, _ = machines(mix, files)
    if planned is not None:
        events = prefix.with_name("machine-events.txt")
        planned.write(events)
    options = BatsimOptions(
        external_events=(events,) if events else (),
        dynamic_jobs=mix.life is not None,
        compute_sharing=mix.sharing,
        energy=mix.energy,
        verbosity=Verbosity.QUIET,
    )
    return await BatsimProcess.start(inputs, options, command=[program])


def play_in_process(mix: Mix, files: Files, out: Path, *, exact: bool) -> Outcome:
    """The outcome with the built-in simulator. ``out``: a folder that exists."""
    return asyncio.run(play_within(mix, files, out, None, exact=exact, timeout=600))


async def play_within(
    mix: Mix, files: Files, out: Path, program: Path | None, *, exact: bool, timeout: float
) -> Outcome:
    """The outcome with the Batsim that is ``program``, or with the built-in simulator; an error after ``timeout``.

    ``out``: a folder that exists.
    """
    simulator: Simulator
    try:
        simulator = await batsim(mix, files, program, out / "batsim") if program else embedded(mix, files, exact=exact)
    except ValueError as error:
        return Outcome(error=str(error))
    listening = Listening(simulator)
    playing = asyncio.ensure_future(play(mix, files, listening, out, latency=bool(program) or exact))
    done, _ = await asyncio.wait([playing], timeout=timeout)
    if done:
        outcome = playing.result()
    else:
        endless = isinstance(simulator, BatsimProcess) and is_computing(simulator.pid)
        outcome = Outcome(error=ENDLESS if endless else f"no end within {timeout:g} s")
        playing.cancel()
        await asyncio.wait([playing])
    outcome.said = listening.said
    own = out / "batsim_jobs.csv"
    if isinstance(simulator, EmbeddedSimulator):
        write_jobs_csv(own, simulator.records)
    outcome.own = read_jobs_csv(own)
    return outcome


async def play(mix: Mix, files: Files, simulator: Simulator, out: Path, *, latency: bool) -> Outcome:
    """Run the simulation to its end. ``simulator`` is closed then.

    ``out``: a folder that exists. ``latency``: whether the simulator's own messages take simulated time.
    """
    platform = read_platform(files.platform)
    now = SimulatedTime(0.0)
    server = ApiServer(now=now.unix, disable_admission_plugins=ADMISSION_WITHOUT)
    life, (planned, drains) = mix.life or Life(), machines(mix, files)
    if mix.life:
        server.hold_workloads()
        server.provide(life.objects)
    events = EventLog(out / "events.jsonl")
    simulation = Simulation(
        server,
        now,
        events,
        scheduler_name="default-scheduler",
        served=("default-scheduler",),
        platform=platform,
        files=JobFiles({f"w{index}": read_workload(path, f"w{index}") for index, path in enumerate(files.workloads)}),
        decision_time=DecisionTime.parse(str(mix.decision_time) if mix.decision_time else "zero"),
        startup=Startup(read_startup(files.startup), seed=0) if files.startup else None,
        control_latency=largest_control_latency(Router(platform), platform.resources()) if latency else 0.0,
        outages=read_external_events(files.events) if files.events and planned is None else (),
        machine_events=planned,
        drains=drains,
        run_times=RunTimeRules(default=10.0, oom_killer=life.oom_killer),
        until=HORIZON if mix.life else 0.0,
        requeue=read_requeue(life.requeue),
        spare=life.spare,
        controllers=Which.AUTO if life.controllers else Which.NONE,
    )
    # Servers may take what jobs wait for, for ever: such jobs are rejected.
    settings = StepSettings(on_deadlock=OnDeadlock.REJECT) if mix.life else StepSettings()
    quiescence = FifoWithUsers(server, now, out / "scheduler.log", life.deeds)
    outcome = Outcome()
    try:
        await StepLoop(simulator, simulation, quiescence, settings).run()
    except Exception as error:  # whatever it is, it belongs into the report of the mix
        outcome.error = f"{type(error).__name__}: {error}"
    finally:
        quiescence.close()
        simulation.close()
        events.close()
        await simulator.close()
    outcome.pods = list(simulation.finished.pods())
    outcome.events = events.path
    for job in simulation.control.ended:
        outcome.ends.setdefault(job.id, []).append(_end(job))
    return outcome


def _end(job: Job) -> End:
    if job.life.starting_time is None:
        return End(REJECTED)
    return End(job.life.state, job.life.starting_time, job.life.finish_time, tuple(sorted(set(job.hosts))))
