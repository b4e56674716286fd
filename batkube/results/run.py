"""``run.json``: the inputs and settings of a run, its end, and the fingerprint of its events."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field, computed_field

from batkube.named_file import open_named
from batkube.results.figures import Figures

IN_PROCESS = "in-process"
"""The clock of a scheduler that is a part of batkube: it needs none."""

Status = Literal["running", "finished", "failed", "interrupted"]


class InputFile(BaseModel):
    """A file that was read, with the hash of its bytes."""

    path: str
    sha256: str


class ImportedFile(InputFile):
    """A workload in another format than Batsim's, which was converted."""

    format: str
    """Its name, as ``--format`` has it."""
    jobs: int
    skipped: dict[str, int] = {}
    """The number of records that became no jobs, by reason."""


class Jobs(BaseModel):
    """The number of jobs by their end."""

    submitted: int = 0
    succeeded: int = 0
    failed: int = 0
    """Jobs that ended by themselves with an error."""
    walltime_reached: int = 0
    killed: int = 0
    stopped: int = 0
    """Pods that run for ever, and were deleted."""
    rejected: int = 0
    running: int = 0
    """Pods that run for ever, and ran until the end."""
    unfinished: int = 0


@dataclass(slots=True)
class QuiescenceCounts:
    """The number of times each means established that the scheduler had nothing left to do."""

    observed: int = 0
    """Seen: every thread asleep, nothing under way (exact)."""
    in_process: int = 0
    """A policy inside batkube has decided to its end (exact)."""
    metrics: int = 0
    """Told by kube-scheduler's metrics: nothing to do, and all that concerns it handled."""
    quiet_period: int = 0
    """Assumed after a while of silence, for a scheduler that cannot be observed."""
    not_established: int = 0
    lost: int = 0
    """The number of times the scheduler was gone, and another one, or the same, was waited for."""
    nudges: int = 0
    """The number of times its clock was moved on because it would not come to rest: that depends on real time."""


class DecisionTime(BaseModel):
    """The time that the scheduler's reactions were taken to last, in simulated seconds."""

    model: str = "zero"
    """``zero``; a number of seconds for each; ``real:FACTOR``: their real time times the factor; ``pace``: each action
    of the scheduler was dated when it happened."""
    reactions: int = 0
    """The number of reactions that took time."""
    total: float = 0.0
    longest: float = 0.0


class PaceKept(BaseModel):
    """The relation of simulated time to real time."""

    factor: float | None = None
    """Simulated seconds per real second, at the end; None: as fast as possible."""
    behind: float = 0.0
    """The most real seconds by which a message was told late."""


class Requeued(BaseModel):
    """The jobs that were submitted anew, and the core-seconds of the jobs of workloads that have run."""

    rule: str
    jobs: int
    causes: dict[str, int] = {}
    """The number for each cause: ``NodeLost``, or the reason of the condition DisruptionTarget of a pod."""
    work_run: float
    work_done: float
    """The part of it that need not be done again."""
    work_lost: float
    """The rest: work since the last checkpoint of jobs that were disrupted, and that of jobs that were killed."""


class Energy(BaseModel):
    """The energy of the hosts in joules, and their time without work in simulated seconds, over all hosts."""

    total: float | None = None
    """Batsim's ``consumed_joules``: of all hosts but the master, from the first submission to the last end of a job."""
    idle: float
    """The joules while a host was on and no pod was on it. Like the fields that follow, it counts from 0 to the end of
    the simulation."""
    off: float
    switching: float
    idle_seconds: float
    off_seconds: float
    switching_seconds: float


class Program(InputFile):
    """A program that was started."""

    version: str | None = None
    """The version as the scheduler tells it; None where nobody knows how to ask."""


class Scheduler(BaseModel):
    """The scheduler under test."""

    kind: str
    command: list[str] = []
    clock: str = "real"
    """``once`` and ``tree``: the simulated clock; ``real``; ``in-process``: a policy inside batkube, on no clock."""
    determinism: str = "none"
    """``strict`` or ``fast``: the scheduler is made to do the same each time."""
    names: list[str] = []
    log: str | None = None
    source: InputFile | None = None
    """The file of a policy of the user's own."""
    binary: Program | None = None
    """The program that was started, where it was started here."""
    configuration: InputFile | None = None
    """The KubeSchedulerConfiguration that was given."""


class ProgramRun(BaseModel):
    """A program beside the scheduler."""

    name: str
    command: list[str]
    clock: str
    """``once`` or ``tree``."""
    restart: str
    """The cases in which it was to be started again: ``never``, ``on-failure``, ``always``."""
    log: str
    files: list[str] = []
    """The files of its command, copied into the folder of results with placeholders filled in."""
    binary: Program | None = None
    starts: int = 1
    ends: list[str] = []
    """Its ends before the end of the run: how, and when."""


class SchedulerUse(BaseModel):
    """The scheduler's own use of real seconds and bytes, which differs each time."""

    cpu_seconds: float | None = None
    """User and system time of its process and of all that it started; None where it is none of ours."""
    peak_memory: int | None = None
    """The most bytes that were resident."""
    requests: dict[str, dict[str, int]] = {}
    """The requests that the API has got over HTTP, of all clients, by verb and resource."""
    attempts: int = 0
    """The attempts to place a pod of which it told what came of them."""
    simulated_seconds_per_second: float | None = None


class Run(BaseModel):
    """The whole file. It is written at the start (status ``running``) and again at the end."""

    batkube: str
    status: Status = "running"
    exit_code: int | None = None
    reason: str | None = None
    """The reason why the run did not finish, for a person."""
    scenario: InputFile | None = None
    """The file that named all the rest, where there was one."""
    platform: InputFile | None = None
    platform_sources: list[InputFile] = []
    """The files that the platform was made of, where it was no platform of SimGrid's."""
    workloads: list[ImportedFile | InputFile] = []
    startup: InputFile | None = None
    """The start-up model; without one pods start and end at once."""
    durations: InputFile | None = None
    """The rules for how long pods run that clients make."""
    schedule: InputFile | None = None
    """The dates at which manifests are created."""
    controllers: InputFile | None = None
    """The flags of the controllers that are built in."""
    objects: list[InputFile] = []
    """The definitions and other objects that the cluster had from its start."""
    scheduler: Scheduler
    programs: list[ProgramRun] = []
    """The programs beside it, in the order in which they were started."""
    simulator: str
    exact: bool = False
    """True if the built-in simulator has given Batsim's dates."""
    compute_sharing: bool | None = None
    batsim: dict[str, Any] = {}
    """Batsim's options that were given, whatever the simulator."""
    batsim_inputs: list[InputFile] = []
    """The files that they name: external events, workflows, a configuration of the decision process."""
    seed: int
    epoch: float
    """Unix seconds of simulated time 0."""
    simulated_seconds: float = 0.0
    makespan: float | None = None
    """The makespan of the figures, from which the next field is, too."""
    mean_waiting_time: float | None = None
    scheduler_use: SchedulerUse | None = None
    """The scheduler's own use; it depends on the machine, but for the attempts."""
    options: dict[str, Any] = {}
    """All options that were given, by the names of the settings."""
    figures: Figures | None = None
    """The figures of all jobs, when the run is over."""
    figures_by: dict[str, dict[str, Figures]] = {}
    """The figures by ``user``, ``queue``, ``priority`` and ``size`` class of jobs, then by name."""
    bounds: dict[str, Figures] = {}
    """The figures of the built-in policies on the same input (``--bounds``), by their names."""
    requeued: Requeued | None = None
    """The work of jobs, where those that the cluster disrupts are submitted anew (``--requeue``)."""
    energy: Energy | None = None
    """The energy, if it was simulated. That of each job is in ``jobs.csv``: of its hosts, as long as it ran."""
    jobs: Jobs = Field(default_factory=Jobs)
    rejected: dict[str, str] = {}
    """The reason by job id."""
    unserved: dict[str, list[str]] = {}
    """Scheduler names that pods ask for and no scheduler has, with their jobs."""
    quiescence: QuiescenceCounts = Field(default_factory=QuiescenceCounts)
    decision_time: DecisionTime = Field(default_factory=DecisionTime)
    pace: PaceKept = Field(default_factory=PaceKept)
    not_repeatable: list[str] = []
    """The reasons why the same run may give other bytes; empty if it gives the same, as far as batkube knows."""
    warnings: list[str] = []
    events: int = 0
    events_sha256: str | None = None
    jobs_sha256: str | None = None
    """The hash of ``jobs.csv``."""
    wall_seconds: float = 0.0
    settings: dict[str, Any] = {}

    @computed_field  # type: ignore[prop-decorator]
    @property
    def repeatable(self) -> bool:
        """True if the same run gives the same bytes."""
        return not self.not_repeatable

    @classmethod
    def read(cls, path: Path) -> "Run":
        """Read a file written before. Raises OSError, and pydantic's ValidationError."""
        return cls.model_validate_json(path.read_bytes())

    def write(self, path: Path) -> None:
        """Write the file in one step, so that a reader never sees half of it."""
        partial = path.with_name(path.name + ".part")
        try:
            partial.write_text(self.model_dump_json(indent=2) + "\n")
            partial.replace(path)
        except OSError as error:
            error.filename = str(path)
            raise

    def write_in_any_case(self, path: Path) -> None:
        """Write as much of the file as there is room for: all of it, else in place, else what must be known."""
        path.with_name(path.name + ".part").unlink(missing_ok=True)
        short = self.model_copy(update={"rejected": {}, "unserved": {}, "warnings": [], "objects": [], "settings": {}})
        attempts: list[Callable[[], object]] = [
            lambda: self.write(path),
            lambda: path.write_text(short.model_dump_json(exclude_defaults=True) + "\n"),
            lambda: path.unlink(missing_ok=True),  # no file is better than one that says the run goes on
        ]
        for attempt in attempts:
            try:
                attempt()
            except OSError:
                continue
            return


def input_file(path: Path) -> InputFile:
    """Return name and hash of an input. Raises OSError."""
    with open_named(path) as file:
        return InputFile(path=str(path), sha256=hashlib.file_digest(file, "sha256").hexdigest())
