"""``/batkube/v1``: the state of the simulation, for people and dashboards.

Typed; its OpenAPI page is ``/batkube/v1/docs``.
"""

from collections.abc import Callable
from typing import Literal

from fastapi import APIRouter, HTTPException
from pydantic import BaseModel

from batkube import __version__
from batkube.bridge.jobs import Job, JobState
from batkube.bridge.simulation import Simulation
from batkube.kube.server import ApiServer

Current = Callable[[], Simulation | None]
"""The simulation that goes on at the moment."""


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
    """Now, as Kubernetes objects are dated."""


class JobCounts(BaseModel):
    """Jobs by where they stand."""

    waiting: int = 0
    running: int = 0
    ended: int = 0
    rejected: int = 0


class State(BaseModel):
    """Where the simulation stands."""

    state: Literal["waiting for a simulation", "running", "over"]
    time: Time | None = None
    nodes: int = 0
    compute_sharing: bool | None = None
    jobs: JobCounts = JobCounts()
    unserved_schedulers: list[str] = []
    warnings: list[str] = []


class Counters(BaseModel):
    """What the API server has done."""

    revision: int
    requests: dict[str, int]
    """``verb resource`` to how often it was asked for."""
    connections: int


class JobView(BaseModel):
    """A job, as the bridge knows it."""

    id: str
    state: JobState
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


class Results(BaseModel):
    """The figures so far, over the jobs that have ended."""

    jobs_ended: int
    makespan: float | None
    """Date of the last completion."""
    mean_waiting_time: float | None
    mean_turnaround_time: float | None


def router(server: ApiServer, current: Current) -> APIRouter:
    """The routes, to be included in the server's FastAPI application."""
    routes = APIRouter(prefix="/batkube/v1", tags=["simulation"])

    def simulation() -> Simulation:
        found = current()
        if found is None:
            raise HTTPException(404, "no simulation has begun")
        return found

    @routes.get("/health")
    async def health() -> Health:
        """Whether the server answers."""
        return Health()

    @routes.get("/state")
    async def state() -> State:
        """Where the simulation stands."""
        found = current()
        if found is None or not found.began:
            return State(state="waiting for a simulation")
        counts = dict.fromkeys(JobState, 0)
        for job in found.control.jobs.values():
            counts[job.state] += 1
        return State(
            state="over" if found.over else "running",
            time=_time(found),
            nodes=len(found.cluster.hosts),
            compute_sharing=not found.cluster.exclusive,
            jobs=JobCounts(**{kind.value: count for kind, count in counts.items()}),
            unserved_schedulers=list(found.unserved),
            warnings=found.warnings,
        )

    @routes.get("/time")
    async def time() -> Time:
        """The simulated clock."""
        return _time(simulation())

    @routes.get("/counters")
    async def counters() -> Counters:
        """Requests and revisions of the API server."""
        return Counters(
            revision=server.store.revision,
            requests={" ".join(key): count for key, count in sorted(server.requests.items())},
            connections=len(server.connections()),
        )

    @routes.get("/jobs")
    async def jobs(state: JobState | None = None, limit: int = 1000, offset: int = 0) -> list[JobView]:
        """The jobs in order of submission, of one state or all."""
        found = [job for job in simulation().control.jobs.values() if state is None or job.state == state]
        return [_job(job) for job in found[offset : offset + limit]]

    @routes.get("/jobs/{job_id}")
    async def job(job_id: str) -> JobView:
        """One job, by Batsim's id (``w0!12``)."""
        found = simulation().control.jobs.get(job_id)
        if found is None:
            raise HTTPException(404, f"no job {job_id} has been submitted")
        return _job(found)

    @routes.get("/results")
    async def results() -> Results:
        """The figures so far."""
        ended = [job for job in simulation().control.ended if job.finish_time is not None]
        waits = [(job.starting_time or 0.0) - job.subtime for job in ended]
        turnarounds = [(job.finish_time or 0.0) - job.subtime for job in ended]
        return Results(
            jobs_ended=len(ended),
            makespan=max((job.finish_time or 0.0 for job in ended), default=None),
            mean_waiting_time=sum(waits) / len(waits) if waits else None,
            mean_turnaround_time=sum(turnarounds) / len(turnarounds) if turnarounds else None,
        )

    return routes


def _time(simulation: Simulation) -> Time:
    clock = simulation.time
    return Time(now=clock.now, epoch=clock.epoch, rfc3339=clock.rfc3339())


def _job(job: Job) -> JobView:
    return JobView(
        id=job.id,
        state=job.state,
        resources=job.resources,
        profile=job.profile,
        walltime=job.walltime,
        scheduler=job.scheduler,
        pods=job.pods,
        nodes=job.nodes,
        submission_time=job.subtime,
        starting_time=job.starting_time,
        finish_time=job.finish_time,
        final_state=job.batsim_state,
        reason=job.reason,
    )
