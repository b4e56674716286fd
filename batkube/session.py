"""One simulation with its folder of results: whatever happens, what was recorded is written."""

import logging
import time
import traceback
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, NoReturn

from batkube.batsim.messages import Message
from batkube.batsim.outputs import JobRecord, write_jobs_csv, write_schedule_csv
from batkube.batsim.platform import Platform
from batkube.batsim.simulator import Simulator, SimulatorError
from batkube.bridge.errors import InputError, RunFailed
from batkube.bridge.job_files import JobFiles
from batkube.bridge.job_records import job_records
from batkube.bridge.jobs import JobState
from batkube.bridge.rest import Rest
from batkube.bridge.simulation import Simulation
from batkube.bridge.startup import Startup
from batkube.bridge.step_loop import StepLoop
from batkube.bridge.time import SimulatedTime
from batkube.clock.pace import Pace
from batkube.kube.server import ApiServer
from batkube.results.comparison import file_sha256
from batkube.results.events import EventLog
from batkube.results.manifest import DecisionTime, PaceKept, Run, Status
from batkube.results.pods import write_pods_csv
from batkube.settings import BAD_INPUT, FAILED, FINISHED, INTERRUPTED, StepSettings
from batkube.supervision import Interrupted, supervised

log = logging.getLogger(__name__)

ERROR_DETAILS = "error.txt"
"""Written only where a fault of batkube's own ended the run."""


EXTENDER_TIMED_OUT = "an extender did not answer in time, which depends on real time"


class Session:
    """Plays one simulation on ``server`` and writes into the folder ``out``.

    ``rest``: knows when the schedulers have nothing left to do; closed at the end.
    ``served``: the names that running schedulers go by, where they are known.
    ``pace``: how simulated time goes on, for whoever controls it; by default as ``settings`` say.
    """

    def __init__(
        self,
        out: Path,
        run: Run,
        server: ApiServer,
        clock: SimulatedTime,
        settings: StepSettings,
        *,
        rest: Rest,
        scheduler_name: str,
        served: tuple[str, ...] | None,
        platform: Platform | None = None,
        files: JobFiles | None = None,
        startup: Startup | None = None,
        pace: Pace | None = None,
    ) -> None:
        out.mkdir(parents=True, exist_ok=True)
        (out / ERROR_DETAILS).unlink(missing_ok=True)
        self.out = out
        self.run = run
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
        )
        self._has_stages = startup is not None
        self._rest = rest
        self._pace = pace or Pace(settings.pace, paused=settings.paused)
        run.write(out / "run.json")

    def extender_failed(self, why: str, timed_out: bool) -> None:
        """An extender that the scheduler asked gave no answer: the user is told, once."""
        self.simulation.warn(f"extender: {why}")
        if timed_out and EXTENDER_TIMED_OUT not in self.run.not_repeatable:
            self.run.not_repeatable.append(EXTENDER_TIMED_OUT)

    async def play(
        self,
        simulator: Simulator,
        *watches: Coroutine[Any, Any, NoReturn],
        first: Message | None = None,
        on_step: Callable[[], None] = lambda: None,
    ) -> int:
        """Run the simulation to its end, or until one of ``watches`` raises; the exit code.

        All results are written then.
        """
        loop = StepLoop(simulator, self.simulation, self._rest, self._settings, on_step, self._pace)
        try:
            await supervised(loop.run(first), *watches)
        except Interrupted:
            return self._finish("interrupted", INTERRUPTED, "interrupted by the user")
        except InputError as error:
            return self._finish("failed", BAD_INPUT, str(error))
        except (RunFailed, SimulatorError) as error:
            return self._finish("failed", FAILED, str(error))
        except Exception as error:
            path = self.out / ERROR_DETAILS
            path.write_text(traceback.format_exc())
            return self._finish("failed", FAILED, f"a fault of batkube's: {error!r}; {path} has the details")
        return self._finish("finished", FINISHED, None)

    def _finish(self, status: Status, exit_code: int, reason: str | None) -> int:
        run, simulation = self.run, self.simulation
        simulation.close()
        self._rest.close()
        self._events.close()
        records = job_records(simulation.control.ended)
        run.status, run.exit_code, run.reason = status, exit_code, reason
        run.simulated_seconds = simulation.time.now
        run.unserved = simulation.unserved
        run.warnings = simulation.warnings
        run.rest = self._rest.counts
        for count, how in ((run.rest.metrics, "told by metrics"), (run.rest.quiet_period, "assumed after silence")):
            if count:
                run.not_repeatable.append(f"rest was {how} {count} times")
        if run.rest.nudges:
            run.not_repeatable.append(f"the scheduler's clock had to be nudged on {run.rest.nudges} times")
        reactions = simulation.reactions
        run.decision_time = DecisionTime(
            model=reactions.model,
            reactions=reactions.count,
            total=round(reactions.total, 6),
            longest=round(reactions.longest, 6),
        )
        run.pace = PaceKept(factor=self._pace.factor, behind=round(self._pace.most_behind, 3))
        run.events, run.events_sha256 = self._events.count, self._events.sha256
        run.wall_seconds = round(time.monotonic() - self._began, 3)
        self._count_jobs(records)
        write_jobs_csv(self.out / "jobs.csv", records)
        write_schedule_csv(self.out / "schedule.csv", records, nb_machines=len(simulation.cluster.hosts))
        write_pods_csv(self.out / "pods.csv", simulation.control.pods.values(), stages=self._has_stages)
        run.jobs_sha256 = file_sha256(self.out / "jobs.csv")
        run.write(self.out / "run.json")
        return exit_code

    def _count_jobs(self, records: list[JobRecord]) -> None:
        jobs, control = self.run.jobs, self.simulation.control
        jobs.submitted = len(control.jobs)
        for job in control.jobs.values():
            match job.state, job.batsim_state:
                case JobState.REJECTED, _:
                    jobs.rejected += 1
                    self.run.rejected[job.id] = job.reason or ""
                case JobState.ENDED, "COMPLETED_SUCCESSFULLY":
                    jobs.succeeded += 1
                case JobState.ENDED, "COMPLETED_WALLTIME_REACHED":
                    jobs.walltime_reached += 1
                case JobState.ENDED, "COMPLETED_KILLED":
                    jobs.killed += 1
                case JobState.ENDED, _:
                    jobs.failed += 1
                case _:
                    jobs.unfinished += 1
        ran = [job for job in control.ended if job.finish_time is not None and job.starting_time is not None]
        if ran:
            self.run.makespan = round(max(job.finish_time or 0.0 for job in ran), 6)
            waited = sum((job.starting_time or 0.0) - job.subtime for job in ran)
            self.run.mean_waiting_time = round(waited / len(ran), 6)
