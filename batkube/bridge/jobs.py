"""A Batsim job during the simulation, and what its file says of its pods."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from batkube.batsim.errors import ProtocolError
from batkube.bridge.errors import InputError, InvariantBroken
from batkube.kube.quantity import Quantity, QuantityError

PUBLISHED_DEFAULT_SCHEDULER = "default"
"""What the published Batkube workloads call the scheduler under test, whatever its name."""


def _quantity(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError("expected a quantity such as 1, 0.5 or 500m")
    try:
        quantity = Quantity.parse(str(value))
    except QuantityError as error:
        raise ValueError(str(error)) from None
    if quantity < Quantity.parse("0"):
        raise ValueError("must not be negative")
    return str(quantity)


class SubmittedJob(BaseModel):
    """What Batsim says of a job when it submits it, as far as batkube needs it. Times are simulated seconds."""

    model_config = ConfigDict(extra="ignore")

    subtime: float
    res: int
    profile: str
    walltime: float | None = None

    @classmethod
    def read(cls, job_id: str, job: dict[str, Any]) -> "SubmittedJob":
        """The ``job`` of a JOB_SUBMITTED. Raises ProtocolError, naming job and member."""
        try:
            return cls.model_validate(job)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise ProtocolError(f"JOB_SUBMITTED of {job_id}: job.{where}: {first['msg']}: {job}") from None


RequestQuantity = Annotated[str, BeforeValidator(_quantity)]
LabelText = Annotated[str, BeforeValidator(lambda value: str(value) if isinstance(value, int | float) else value)]


class PodWishes(BaseModel):
    """The fields of a job, or of its profile, that say what its pods shall be; the job's own go first.

    All other fields are Batsim's, or mean nothing to batkube.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    cpu: RequestQuantity | None = None
    """Cores that each pod asks for."""
    memory: RequestQuantity | None = None
    gpu: RequestQuantity | None = None
    """``nvidia.com/gpu`` that each pod asks for."""
    scheduler: str | None = None
    priority: int | str | None = None
    """A number, or the name of a PriorityClass."""
    node_selector: dict[str, LabelText] = Field(default={}, alias="nodeSelector")
    labels: dict[str, LabelText] = {}
    pod: dict[str, Any] = {}
    """A fragment of a Pod, merged over ours last (strategic merge)."""

    @property
    def prioritized(self) -> bool:
        """Whether the pods have a priority of their own, so that one may preempt another."""
        return self.priority is not None or "priorityClassName" in (self.pod.get("spec") or {})

    @classmethod
    def read(cls, where: str, job: dict[str, Any], profile: dict[str, Any]) -> "PodWishes":
        """What ``job`` and its ``profile`` (as in the workload file) ask for.

        Raises InputError, which says ``where`` (file and job) and names the field.
        """
        wanted = {**profile, **job}
        for name in ("nodeSelector", "labels"):
            both = [fields.get(name) for fields in (profile, job)]
            if all(isinstance(value, dict) for value in both):
                wanted[name] = {**both[0], **both[1]}  # type: ignore[dict-item]
        known = {name: value for name, value in wanted.items() if name in cls._names() and value is not None}
        try:
            return cls.model_validate(known)
        except ValidationError as error:
            first = error.errors()[0]
            field_path = ".".join(str(part) for part in first["loc"])
            message = first["msg"].removeprefix("Value error, ")
            raise InputError(f"{where}: {field_path} is {first['input']!r}: {message}") from None

    @classmethod
    def _names(cls) -> set[str]:
        return {info.alias or name for name, info in cls.model_fields.items()}


class JobState(StrEnum):
    """Where a job stands. It only moves forward."""

    WAITING = "waiting"
    RUNNING = "running"
    ENDED = "ended"
    REJECTED = "rejected"


_NEXT = {
    JobState.WAITING: {JobState.RUNNING, JobState.REJECTED},
    JobState.RUNNING: {JobState.ENDED},
    JobState.ENDED: set[JobState](),
    JobState.REJECTED: set[JobState](),
}


@dataclass(slots=True)
class Job:
    """A submitted job. Times are simulated seconds."""

    id: str
    """``WORKLOAD!NAME``."""
    number: int
    """Counts the submissions: the order in which decisions on jobs are sent."""
    subtime: float
    """When it was to be submitted, by the workload file."""
    resources: int
    profile: str
    walltime: float | None
    wishes: PodWishes
    scheduler: str
    pods: list[str] = field(default_factory=list)
    """Names of its pods, in order."""
    uids: dict[str, str] = field(default_factory=dict)
    """Pod to the uid of its present incarnation."""
    nodes: dict[str, str] = field(default_factory=dict)
    """Pod to node, for those bound."""
    hosts: list[int] = field(default_factory=list)
    """Host number of each pod, in order, once it runs."""
    state: JobState = JobState.WAITING
    batsim_state: str = ""
    """Batsim's word for how it ended (``COMPLETED_SUCCESSFULLY`` ...)."""
    return_code: int = 0
    starting_time: float | None = None
    finish_time: float | None = None
    reason: str | None = None
    kill_asked: bool = False

    def move(self, state: JobState) -> None:
        """Go on to ``state``. Raises InvariantBroken where that is not a step forward."""
        if state not in _NEXT[self.state]:
            raise InvariantBroken(f"job {self.id} was {self.state} and cannot become {state}")
        self.state = state

    @property
    def workload(self) -> str:
        """The part of the id before the ``!``."""
        return self.id.partition("!")[0]

    @property
    def name(self) -> str:
        """The part of the id behind the ``!``."""
        return self.id.partition("!")[2]
