"""``run.json``: what was run with what, how it ended, and the fingerprint of what happened."""

import hashlib
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field, computed_field

Status = Literal["running", "finished", "failed", "interrupted"]


class InputFile(BaseModel):
    """A file that was read, with the hash of its bytes."""

    path: str
    sha256: str


class Jobs(BaseModel):
    """How many jobs came to which end."""

    submitted: int = 0
    succeeded: int = 0
    failed: int = 0
    """Ended by themselves with an error."""
    walltime_reached: int = 0
    killed: int = 0
    rejected: int = 0
    unfinished: int = 0


class Rest(BaseModel):
    """How it was known that the scheduler had nothing left to do: how often by each means."""

    observed: int = 0
    """Seen: every thread asleep, nothing under way (exact)."""
    metrics: int = 0
    """Told by kube-scheduler's metrics: nothing to do, and all that concerns it taken note of."""
    quiet_period: int = 0
    """Assumed after a while of silence, for a scheduler out of sight."""
    not_established: int = 0
    nudges: int = 0
    """How often its clock was moved on because it would not come to rest: that depends on real time."""


class DecisionTime(BaseModel):
    """How long the scheduler's reactions were taken to last. Simulated seconds."""

    model: str = "zero"
    """``zero``; a number of seconds for each; ``real:FACTOR``: their real time times the factor; ``pace``: what the
    scheduler did was dated when it did it."""
    reactions: int = 0
    """How many took time."""
    total: float = 0.0
    longest: float = 0.0


class PaceKept(BaseModel):
    """How simulated time followed real time."""

    factor: float | None = None
    """Simulated seconds a real one, at the end; None: as fast as it went."""
    behind: float = 0.0
    """By how many real seconds a message was told late at most."""


class Scheduler(BaseModel):
    """The scheduler under test."""

    kind: str
    command: list[str] = []
    clock: str = "real"
    """``once`` and ``tree``: the simulated one; ``real``."""
    determinism: bool = False
    """Whether its environment makes it do the same each time."""
    names: list[str] = []
    log: str | None = None


class Run(BaseModel):
    """The whole file. It is written at the start (status ``running``) and again at the end."""

    batkube: str
    status: Status = "running"
    exit_code: int | None = None
    reason: str | None = None
    """Why the run did not finish; for a person."""
    platform: InputFile | None = None
    workloads: list[InputFile] = []
    startup: InputFile | None = None
    """The start-up model; without one pods start and end at once."""
    objects: list[InputFile] = []
    """The definitions and other objects that the cluster had from its start."""
    scheduler: Scheduler
    simulator: str
    compute_sharing: bool | None = None
    seed: int
    epoch: float
    """Unix seconds of simulated time 0."""
    simulated_seconds: float = 0.0
    makespan: float | None = None
    mean_waiting_time: float | None = None
    jobs: Jobs = Field(default_factory=Jobs)
    rejected: dict[str, str] = {}
    """Job id to the reason."""
    unserved: dict[str, list[str]] = {}
    """Scheduler names that pods ask for and nobody answers to, with their jobs."""
    rest: Rest = Field(default_factory=Rest)
    decision_time: DecisionTime = Field(default_factory=DecisionTime)
    pace: PaceKept = Field(default_factory=PaceKept)
    not_repeatable: list[str] = []
    """Why the same run may give other bytes; empty where it gives the same, as far as batkube knows."""
    warnings: list[str] = []
    events: int = 0
    events_sha256: str | None = None
    jobs_sha256: str | None = None
    """Of ``jobs.csv``."""
    wall_seconds: float = 0.0
    settings: dict[str, Any] = {}

    @computed_field  # type: ignore[prop-decorator]
    @property
    def repeatable(self) -> bool:
        """Whether the same run gives the same bytes."""
        return not self.not_repeatable

    @classmethod
    def read(cls, path: Path) -> "Run":
        """A file written before. Raises OSError, and pydantic's ValidationError."""
        return cls.model_validate_json(path.read_bytes())

    def write(self, path: Path) -> None:
        """Write it in one step, so that a reader never sees half of it."""
        partial = path.with_name(path.name + ".part")
        partial.write_text(self.model_dump_json(indent=2) + "\n")
        partial.replace(path)


def input_file(path: Path) -> InputFile:
    """Name and hash of an input. Raises OSError."""
    return InputFile(path=str(path), sha256=hashlib.sha256(path.read_bytes()).hexdigest())
