"""One simulation with its folder of results: whatever happens, what was recorded is written."""

import asyncio
import logging
import signal
import time
import traceback
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, NoReturn

from batkube.batsim.afterwards import Leaves
from batkube.batsim.external_events import ExternalEvent
from batkube.batsim.messages import Message
from batkube.batsim.outputs import MachineTotals
from batkube.batsim.own_results import Contradiction, JobKey, OwnJob, dated_by
from batkube.batsim.platform import Platform
from batkube.batsim.simulator import Simulator, SimulatorError
from batkube.bridge.controller_settings import Which
from batkube.bridge.errors import InputError, InvariantBroken, RunFailed
from batkube.bridge.hardware import NO_MORE_HOSTS, Hardware
from batkube.bridge.job_files import JobFiles
from batkube.bridge.quiescence import Quiescence
from batkube.bridge.requeue_rule import RequeueRule
from batkube.bridge.run_times import RunTimeRules
from batkube.bridge.simulation import Simulation
from batkube.bridge.startup import Startup
from batkube.bridge.step_loop import StepLoop
from batkube.bridge.step_settings import StepSettings
from batkube.bridge.time import SimulatedTime
from batkube.clock.pace import Pace
from batkube.controllers.flags import Flags
from batkube.kube.server import ApiServer
from batkube.results.events import EventLog
from batkube.results.metrics import job_counts
from batkube.results.run import Run, Status
from batkube.schedulers.programs import Ended, Programs
from batkube.session.conclusion import conclude, consumed
from batkube.session.machines import Machines
from batkube.session.process_use import ProcessUse
from batkube.session.result_files import EndedSession, write_results
from batkube.session.supervision import Interrupted, supervised
from batkube.settings import BAD_INPUT, FAILED, FINISHED

log = logging.getLogger(__name__)

ERROR_DETAILS = "error.txt"
"""Written only where a fault of batkube's own ended the run."""


EXTENDER_TIMED_OUT = "an extender did not answer in time, which depends on real time"


def _unwritten(error: OSError) -> str:
    """Return what a file that cannot be written means, by its name."""
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{error.strerror or error}; the results are not complete"


class Session:
    """Plays one simulation on ``server`` and writes into the folder ``out``.

    ``quiescence``: knows when the schedulers have nothing left to do; closed at the end.
    ``served``: the names that running schedulers go by, where they are known.
    ``pace``: how simulated time goes on, for whoever controls it; by default as ``settings`` say.
    ``retries_on_events``: see StepLoop.
    ``run_times``, ``until``, ``node_monitor_grace_period``, ``requeue``, ``hardware``, ``spare``, ``controllers``,
    ``control_latency``, ``outages``, ``energy``, ``power_off_after``, ``seed``: see Simulation.
    ``machines``: what is planned for them.
    ``parquet``: write the tables as Apache Parquet, too.
    ``use_of``: tells what the scheduler's process has used so far.
    ``afterwards``: the simulator's own results, whose dates replace those of its messages at the end.
    """

    def __init__(
        self,
        out: Path,
        run: Run,
        server: ApiServer,
        clock: SimulatedTime,
        settings: StepSettings,
        *,
        quiescence: Quiescence,
        scheduler_name: str,
        served: tuple[str, ...] | None,
        platform: Platform | None = None,
        files: JobFiles | None = None,
        startup: Startup | None = None,
        run_times: RunTimeRules | None = None,
        until: float = 0.0,
        node_monitor_grace_period: float = 0.0,
        requeue: RequeueRule | None = None,
        hardware: Hardware | str = NO_MORE_HOSTS,
        spare: Sequence[str] = (),
        controllers: Which | Flags = Which.NONE,
        pace: Pace | None = None,
        control_latency: float = 0.0,
        outages: Sequence[ExternalEvent] = (),
        machines: Machines | None = None,
        energy: bool = False,
        power_off_after: float | None = None,
        seed: int = 0,
        afterwards: Leaves | None = None,
        retries_on_events: bool = False,
        parquet: bool = False,
        use_of: Callable[[], ProcessUse | None] = lambda: None,
    ) -> None:
        out.mkdir(parents=True, exist_ok=True)
        (out / ERROR_DETAILS).unlink(missing_ok=True)
        self.out = out
        self.run = run
        self.exit_code = FAILED
        """The exit code of the simulation, once it has been played."""
        self._began = time.monotonic()
        self._events = EventLog(out / "events.jsonl")
        self._settings = settings
        self.simulation = Simulation(
            server,
            clock,
            self._events,
            scheduler_name=scheduler_name,
            served=served,
            platform=platform,
            files=files,
            decision_time=settings.decision_time,
            startup=startup,
            run_times=run_times,
            until=until,
            node_monitor_grace_period=node_monitor_grace_period,
            requeue=requeue,
            hardware=hardware,
            spare=spare,
            controllers=controllers,
            control_latency=control_latency,
            outages=outages,
            machine_events=machines.events if machines is not None else None,
            drains=machines.plan.drains if machines is not None else (),
            slowdowns=machines.plan.slowdowns if machines is not None else (),
            energy=energy,
            power_off_after=power_off_after,
            keep_finished=settings.keep_finished,
            seed=seed,
            backs_off=not quiescence.keeps_appointments,
        )
        self._afterwards = afterwards
        self._retries_on_events = retries_on_events
        self._own_jobs: dict[JobKey, OwnJob] | None = None
        """The jobs as the simulator's own file has them."""
        self._totals: MachineTotals | None = None
        """The totals of machines in that file."""
        self._server = server
        self._use_of = use_of
        self._parquet = parquet
        self._has_stages = startup is not None
        self._quiescence = quiescence
        self._pace = pace or Pace(settings.pace, paused=settings.paused)
        run.write(out / "run.json")

    def extender_failed(self, why: str, timed_out: bool) -> None:
        """Tell the user, once, that an extender which the scheduler asked gave no answer."""
        self.simulation.warn(f"extender: {why}")
        if timed_out and EXTENDER_TIMED_OUT not in self.run.not_repeatable:
            self.run.not_repeatable.append(EXTENDER_TIMED_OUT)

    def watch_programs(self, programs: Programs) -> None:
        """Write down when programs beside the scheduler end, and when they are started again."""
        records = {record.name: record for record in self.run.programs}

        def ended(end: Ended) -> None:
            now = self.simulation.time.now
            records[end.name].ends.append(f"at {now:g} s: {end.how}")
            details = {} if end.again_in is None else {"again_in": end.again_in}
            self._events.write(now, "program_ended", name=end.name, exit_code=end.exit_code, **details)
            if end.exit_code and end.again_in is not None:
                self.simulation.warn(f"the program {end.name} {end.how}; it was started again")

        def started(name: str, number: int) -> None:
            records[name].starts = number
            self._events.write(self.simulation.time.now, "program_started", name=name, start=number)

        programs.on_end, programs.on_start = ended, started

    async def play(
        self,
        simulator: Simulator,
        *watches: Coroutine[Any, Any, NoReturn],
        first: Message | None = None,
        on_step: Callable[[], None] = lambda: None,
        given_up: asyncio.Event | None = None,
    ) -> int:
        """Run the simulation to its end, or until one of ``watches`` raises; the exit code.

        All results are written then. ``given_up``: the user does not want to wait for Batsim's own any more.
        """
        loop = StepLoop(
            simulator,
            self.simulation,
            self._quiescence,
            self._settings,
            on_step,
            self._pace,
            retries_on_events=self._retries_on_events,
        )
        try:
            await supervised(loop.run(first), *watches)
            await self._take_own_results(given_up)
        except Interrupted as error:
            self.simulation.deeds.interrupted()
            why = "interrupted by the user" if error.number == signal.SIGINT else f"ended by {error}"
            return self._finish("interrupted", 128 + error.number, why)
        except InputError as error:
            return self._finish("failed", BAD_INPUT, str(error))
        except (RunFailed, SimulatorError) as error:
            return self._finish("failed", FAILED, str(error))
        except OSError as error:
            return self._finish("failed", FAILED, _unwritten(error))
        except Exception as error:
            path = self.out / ERROR_DETAILS
            path.write_text(traceback.format_exc())
            return self._finish("failed", FAILED, f"a fault of batkube's: {error!r}; {path} has the details")
        return self._finish("finished", FINISHED, None)

    async def _take_own_results(self, given_up: asyncio.Event | None) -> None:
        """Take the results of a real Batsim. Raises InvariantBroken where its file contradicts its messages."""
        if self._afterwards is None:
            return
        taken = await self._afterwards.take(self.out, given_up)
        for text in taken.warnings:
            self.simulation.warn(text)
        self._totals = taken.totals
        if taken.jobs is not None:
            stopped = self.simulation.control.clients.stopped
            own = {key: job for key, job in taken.jobs.items() if "!".join(key) not in stopped}
            try:
                dated_by(self.simulation.finished.records(), own)
            except Contradiction as error:
                raise InvariantBroken(str(error)) from None
            self._own_jobs = own

    def _finish(self, status: Status, exit_code: int, reason: str | None) -> int:
        run, simulation = self.run, self.simulation
        self._quiescence.close()
        unwritten = self._closed()
        if unwritten is not None and status == "finished":
            status, exit_code, reason = "failed", FAILED, unwritten
        records = list(simulation.finished.records())
        if self._own_jobs is not None:
            records = dated_by(records, self._own_jobs)
        run.status, run.exit_code, run.reason = status, exit_code, reason
        self.exit_code = exit_code
        conclude(run, simulation, self._quiescence, self._server, self._pace, self._began)
        run.events, run.events_sha256 = self._events.count, self._events.sha256
        control = simulation.control
        run.jobs = job_counts(
            records,
            submitted=control.submitted,
            over=control.over,
            running=len(control.clients.stopped),
            stopped=control.clients.deleted,
        )
        run.energy = simulation.power.meter.energy(simulation.time.now, consumed(self._totals))
        ended = EndedSession(
            run,
            simulation,
            records,
            self._totals,
            self._has_stages,
            simulation.accounts(),
            self._server.requests,
            self._use_of(),
        )
        try:
            write_results(self.out, ended, parquet=self._parquet)
        except OSError as error:
            self.exit_code = exit_code = run.exit_code = FAILED
            run.status, run.reason = "failed", f"{run.reason}; {_unwritten(error)}" if run.reason else _unwritten(error)
            run.write_in_any_case(self.out / "run.json")
        simulation.finished.close()
        return exit_code

    def _closed(self) -> str | None:
        """Close the files that were written while it went on; why that failed."""
        why = None
        for close in (self._events.close, self.simulation.close):
            try:
                close()
            except OSError as error:
                why = why or _unwritten(error)
        return why
