"""``/batkube/v1``: the state of the simulation, for people and dashboards.

Typed; its OpenAPI page is ``/batkube/v1/docs``.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Any, Literal

from fastapi import APIRouter, HTTPException
from pydantic import BaseModel

from batkube import __version__
from batkube.batsim.jobs import JobState
from batkube.bridge.jobs import Job
from batkube.bridge.simulation import Simulation
from batkube.kube.server import ApiServer
from batkube.results.figures import Figures
from batkube.results.metrics import complete_pod

Current = Callable[[], Simulation | None]
"""A function that returns the current simulation, if there is one."""


class Health(BaseModel):
    """The server answers."""

    status: Literal["ok"] = "ok"
    version: str = __version__


class Time(BaseModel):
    """The simulated clock."""

    now: float
    """Simulated seconds since the simulation began."""
    epoch: float
    """Unix seconds of simulated time 0."""
    rfc3339: str
    """The present, as Kubernetes objects are dated."""


class JobPhase(StrEnum):
    """The states of jobs that are told apart here."""

    WAITING = "waiting"
    RUNNING = "running"
    ENDED = "ended"
    REJECTED = "rejected"


_PHASES = {
    JobState.SUBMITTED: JobPhase.WAITING,
    JobState.RUNNING: JobPhase.RUNNING,
    JobState.REJECTED: JobPhase.REJECTED,
}
"""The phases of jobs that have not ended."""


class JobCounts(BaseModel):
    """The number of jobs in each state."""

    waiting: int = 0
    running: int = 0
    ended: int = 0
    rejected: int = 0


class State(BaseModel):
    """The state of the simulation."""

    state: Literal["waiting for a simulation", "running", "over"]
    time: Time | None = None
    nodes: int = 0
    compute_sharing: bool | None = None
    jobs: JobCounts = JobCounts()
    unserved_schedulers: list[str] = []
    warnings: list[str] = []


class Counters(BaseModel):
    """Counters of the API server."""

    revision: int
    requests: dict[str, int]
    """The number of requests for each ``verb resource``."""
    connections: int


class JobView(BaseModel):
    """A job, as the bridge knows it. Times are simulated seconds."""

    id: str
    state: JobPhase
    resources: int
    profile: str
    walltime: float | None
    scheduler: str
    pods: list[str]
    nodes: dict[str, str]
    submission_time: float
    starting_time: float | None
    finish_time: float | None
    final_state: str
    reason: str | None
    progress: dict[str, Any] | None
    """The progress of a job that was killed."""


def router(server: ApiServer, current: Current) -> APIRouter:
    """Return the routes, to be included in the server's FastAPI application."""
    routes = APIRouter(prefix="/batkube/v1", tags=["simulation"])

    def simulation() -> Simulation:
        found = current()
        if found is None:
            raise HTTPException(404, "no simulation has begun")
        return found

    @routes.get("/health")
    async def health() -> Health:
        """Say that the server answers."""
        return Health()

    @routes.get("/state")
    async def state() -> State:
        """Return the state of the simulation."""
        found = current()
        if found is None or not found.began:
            return State(state="waiting for a simulation")
        control = found.control
        rejected = len(control.rejections)
        counts = {
            JobPhase.WAITING: control.submitted - control.running - control.over,
            JobPhase.RUNNING: control.running,
            JobPhase.ENDED: control.over - rejected,
            JobPhase.REJECTED: rejected,
        }
        return State(
            state="over" if found.over else "running",
            time=_time(found),
            nodes=len(found.cluster.hosts),
            compute_sharing=not found.cluster.exclusive,
            jobs=JobCounts(**{kind.value: count for kind, count in counts.items()}),
            unserved_schedulers=list(found.submissions.unserved),
            warnings=found.warnings,
        )

    @routes.get("/time")
    async def time() -> Time:
        """Return the simulated time."""
        return _time(simulation())

    @routes.get("/counters")
    async def counters() -> Counters:
        """Return the counters of the API server: requests and revision."""
        return Counters(
            revision=server.store.revision,
            requests={" ".join(key): count for key, count in sorted(server.requests.items())},
            connections=len(server.connections()),
        )

    @routes.get("/jobs")
    async def jobs(state: JobPhase | None = None, limit: int = 1000, offset: int = 0) -> list[JobView]:
        """Return the jobs in order of submission, of one state or all, without those whose pods are kept no longer."""
        found = [job for job in simulation().control.jobs.values() if state is None or _phase(job) == state]
        return [_job(job) for job in found[offset : offset + limit]]

    @routes.get("/jobs/{job_id}")
    async def job(job_id: str) -> JobView:
        """Return one job, by Batsim's id (``w0!12``)."""
        found = simulation().control.jobs.get(job_id)
        if found is None:
            raise HTTPException(404, f"no job {job_id} has been submitted")
        return _job(found)

    @routes.get("/results")
    async def results() -> Figures:
        """Return the figures so far."""
        found = simulation()
        accounts = found.accounts()
        for job in found.finished.records():
            accounts.add_job(job)
        for pod in found.finished.pods():
            complete_pod(pod, accounts.end)
            accounts.add_pod(pod)
        return accounts.figures()

    return routes


def _time(simulation: Simulation) -> Time:
    clock = simulation.time
    return Time(now=clock.now, epoch=clock.epoch, rfc3339=clock.rfc3339())


def _phase(job: Job) -> JobPhase:
    return JobPhase.ENDED if job.life.state.completed else _PHASES[job.life.state]


def _job(job: Job) -> JobView:
    return JobView(
        id=job.id,
        state=_phase(job),
        resources=job.description.res,
        profile=job.description.profile,
        walltime=job.description.walltime,
        scheduler=job.scheduler,
        pods=job.pods,
        nodes=job.nodes,
        submission_time=job.description.subtime,
        starting_time=job.life.starting_time,
        finish_time=job.life.finish_time,
        final_state=job.life.state.value if job.life.state.completed else "",
        reason=job.reason,
        progress=job.progress,
    )
