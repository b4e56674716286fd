"""A Batsim job during the simulation, and its file's requirements for its pods."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from batkube.batsim.allocation import format_intervals
from batkube.batsim.job_id import split_job_id
from batkube.batsim.jobs import JobDescription, JobLife, JobState
from batkube.batsim.messages import LeafProgress, Progress
from batkube.batsim.outputs import JobRecord
from batkube.bridge.errors import InputError, InvariantBroken
from batkube.kube.apimachinery.quantity import Quantity, QuantityError
from batkube.results.pods import PodRecord
from batkube.startup.durations import RunTime

PUBLISHED_DEFAULT_SCHEDULER = "default"
"""The name of the scheduler under test in the published Batkube workloads, whatever its real name."""


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


RequestQuantity = Annotated[str, BeforeValidator(_quantity)]
LabelText = Annotated[str, BeforeValidator(lambda value: str(value) if isinstance(value, int | float) else value)]


OWN_FIELD = "batkube"
"""The member of a job or profile that holds nothing but fields for batkube."""
PUBLISHED_TYPES = ("delay", "DelayProfile")
"""Profile types whose own fields may be requirements for pods, as in the published Batkube workloads."""
_MAPS = ("nodeSelector", "labels", "storage")
_OWN_ONLY = ("storage", "user", "queue", "usage")
"""Fields that count inside ``batkube`` only: outside it they may be the user's own, for something else."""


class PodRequirements(BaseModel):
    """The fields of a job and of its profile that describe its pods.

    They stand in the job, in its ``batkube`` member, in the ``batkube`` member of its profile, or, for a delay, in the
    profile itself. The fields of Batsim's other profile types are Batsim's: their ``cpu`` counts flops. A field of the
    job goes before one of its profile, and a field in ``batkube`` before one beside it. All other fields are Batsim's,
    or mean nothing to batkube.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    cpu: RequestQuantity | None = None
    """Cores that each pod asks for."""
    memory: RequestQuantity | None = None
    gpu: RequestQuantity | None = None
    """``nvidia.com/gpu`` that each pod asks for."""
    scheduler: str | None = None
    user: LabelText | None = None
    """The name of whoever has submitted the job."""
    queue: LabelText | None = None
    """The name of the queue to which it was submitted."""
    priority: int | str | None = None
    """A number, or the name of a PriorityClass."""
    node_selector: dict[str, LabelText] = Field(default_factory=dict, alias="nodeSelector")
    labels: dict[str, LabelText] = Field(default_factory=dict)
    usage: str | None = None
    """The real use of each pod over time, as in the annotation ``batkube.io/usage``."""
    storage: dict[str, str] = Field(default_factory=dict)
    """The storage host (by name) for each storage label of the profile, Batsim's ``storage_mapping``."""
    pod: dict[str, Any] = Field(default_factory=dict)
    """A fragment of a Pod, merged over ours last (strategic merge)."""

    @property
    def prioritized(self) -> bool:
        """True if the pods have a priority of their own, so that one may preempt another."""
        return self.priority is not None or "priorityClassName" in (self.pod.get("spec") or {})

    @property
    def plain(self) -> bool:
        """True if nothing is asked for but cores and memory, which any API server takes."""
        return self == PodRequirements(cpu=self.cpu, memory=self.memory)

    @property
    def uses_grace(self) -> bool:
        """True if its process goes on after SIGTERM, as in a pod that names its ``terminationGracePeriodSeconds``."""
        return "terminationGracePeriodSeconds" in (self.pod.get("spec") or {})

    @classmethod
    def read(cls, where: str, job: dict[str, Any], profile: dict[str, Any]) -> "PodRequirements":
        """Read the fields of ``job`` and its ``profile`` (as in the workload file).

        Raises InputError, which says ``where`` (file and job) and names the field.
        """
        if _NAMING.isdisjoint(job) and _NAMING.isdisjoint(profile):
            return NO_REQUIREMENTS
        wanted: dict[str, Any] = {}
        for fields in _sources(where, job, profile):
            for name, value in fields.items():
                before = wanted.get(name)
                both = name in _MAPS and isinstance(value, dict) and isinstance(before, dict)
                wanted[name] = {**before, **value} if both and before else value
        known = {name: value for name, value in wanted.items() if name in OWN_FIELDS and value is not None}
        if not known:
            return NO_REQUIREMENTS
        try:
            # Many jobs ask for the same: they share what says so.
            if all(isinstance(value, str | int | float) for value in known.values()):
                return _of_scalars(tuple((name, type(value), value) for name, value in known.items()))
            return cls.model_validate(known)
        except ValidationError as error:
            first = error.errors()[0]
            field_path = ".".join(str(part) for part in first["loc"])
            message = first["msg"].removeprefix("Value error, ")
            raise InputError(f"{where}: {field_path} is {first['input']!r}: {message}") from None


@lru_cache(maxsize=4096)
def _of_scalars(fields: tuple[tuple[str, type, str | int | float], ...]) -> PodRequirements:
    return PodRequirements.model_validate({name: value for name, _, value in fields})


NO_REQUIREMENTS = PodRequirements()
"""The requirements of the many jobs that have none."""
OWN_FIELDS = frozenset(info.alias or name for name, info in PodRequirements.model_fields.items())
"""The names of the fields that describe pods."""
_NAMING = OWN_FIELDS | {OWN_FIELD}
"""The names without which no member of a job or a profile is for batkube."""


def _sources(where: str, job: dict[str, Any], profile: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the places where fields for batkube may stand; later ones go before earlier ones."""
    owned = []
    for what, holder in (("", job), ("profile: ", profile)):
        own = holder.get(OWN_FIELD, {})
        if not isinstance(own, dict):
            raise InputError(f"{where}: {what}{OWN_FIELD} is {own!r}: expected an object")
        owned.append(own)
    beside = [profile if profile.get("type") in PUBLISHED_TYPES else {}, job]
    outside = [{name: value for name, value in fields.items() if name not in _OWN_ONLY} for fields in beside]
    return [outside[0], owned[1], outside[1], owned[0]]


@dataclass(slots=True)
class ClientPod:
    """The pod of a job, if a client of the API has made it: Batsim is told of the job when its process starts."""

    pod: dict[str, Any]
    """The pod as it was when it came, or was bound."""
    run: int = 0
    """The number of its process, from 0: each run of it is a job."""
    refused: str | None = None
    """The reason for which its node does not take it (``Cluster.why_not``)."""
    profile: dict[str, Any] | None = None
    """The profile of its process; None until it is bound."""
    endless: bool = False
    """True if its process never ends by itself, or is started again whenever it does."""
    backoff: float = 0.0
    """The simulated seconds that its process waited before it was started the last time."""
    oom_kills: int = 0
    """The number of times it was killed for its memory, run after run."""
    initialized: bool = True
    """False if its init containers are still to run, which take time."""
    containers: Mapping[str, RunTime] = field(default_factory=dict)
    """The runs of its containers, by name, if they are known each."""
    termination: float = 0.0
    """The simulated seconds that its process takes to end after SIGTERM."""
    terminating: bool = False
    """True if it was deleted while its process ran, which is not started again."""
    rebooted: bool = False
    """True if its process is about to be started again, as its host is back that had failed."""
    deadline: float | None = None
    """The date after which the pod may not run (``activeDeadlineSeconds``); None for none."""


@dataclass(slots=True)
class Attempt:
    """A job, or what was left of one that was disrupted, where such jobs are submitted anew (``requeue.py``)."""

    number: int = 1
    profile: dict[str, Any] | None = None
    """Its profile, as far as it is known and needed."""
    before: float = 0.0
    """The seconds of work that earlier attempts have saved."""
    whole: float | None = None
    """The seconds of work of all attempts together, of a job that was disrupted and is a delay."""
    saved: float = 0.0
    """The seconds of this one's work that need not be done again."""
    again: bool = False
    """True if the rest is about to be submitted."""
    next: str = ""
    _shown: str = ""

    def note(self, *, ran: float, lost: float) -> None:
        """Note the seconds that it ran, and those that are lost, for ``jobs.csv``."""
        self._shown = f"done={ran - lost:.6f};lost={lost:.6f}"

    @property
    def metadata(self) -> str:
        """Return what ``jobs.csv`` says of it."""
        following = f";next={self.next}" if self.next else ""
        return f"attempt={self.number};{self._shown}{following}" if self._shown else ""


@dataclass(slots=True)
class Job:
    """A submitted job, or a run of a pod that a client has made."""

    id: str
    """``WORKLOAD!NAME``."""
    description: JobDescription
    number: int
    """The job's number in order of submission, in which decisions on jobs are sent."""
    requirements: PodRequirements
    scheduler: str
    served: bool = True
    """True if its scheduler is running, as far as that can be known."""
    storage_mapping: dict[str, int] | None = None
    """The storage host of each label of its profile, if Batsim must be told."""
    pods: list[str] = field(default_factory=list)
    """The names of its pods, in order."""
    replaced: list[PodRecord] = field(default_factory=list)
    """The pods that were taken away before it ran, and others made in their place."""
    uids: dict[str, str] = field(default_factory=dict)
    """The uid of the present pod of each name."""
    nodes: dict[str, str] = field(default_factory=dict)
    """The node of each pod that is bound."""
    hosts: list[int] = field(default_factory=list)
    """The host number of each pod, in order, once the job runs."""
    life: JobLife = field(default_factory=lambda: JobLife(JobState.SUBMITTED))
    reason: str | None = None
    kill_asked: bool = False
    end_number: int = -1
    """The job's number in order of completion and rejection: the order of the rows of jobs.csv."""
    pods_ended: int = 0
    progress: dict[str, Any] | None = None
    """The job's progress when it was killed, as Batsim's JOB_KILLED tells it."""
    client: ClientPod | None = None
    """None for a job of Batsim's."""
    held: dict[str, str] | None = None
    """The reasons that keep pods with nodes from ever starting, by container; None if there are none."""
    disruption: str | None = None
    """The reason why the cluster takes its pods away while it runs; empty if a client has deleted one for no reason
    of the cluster's, None if nobody has. What came first counts."""
    attempt: Attempt | None = None
    """The work over all attempts; None where no job is submitted anew."""

    def hold(self, container: str, why: str) -> None:
        """Note that a pod with a node never starts, as it looks now."""
        self.held = {**(self.held or {}), container: why}

    def hold_no_more(self, container: str) -> None:
        """Note that the container keeps its pod from starting no more."""
        self.held = {name: why for name, why in (self.held or {}).items() if name != container} or None

    def move(self, state: JobState) -> None:
        """Go on to ``state``. Raises InvariantBroken if that is not a step forward."""
        try:
            self.life.move(state)
        except ValueError as error:
            raise InvariantBroken(f"job {self.id} {error}") from None

    def disrupted(self, reason: str) -> None:
        """Note that a pod of it is taken away, and why, unless it is about to be killed already."""
        if self.disruption is None and not self.kill_asked:
            self.disruption = reason

    def complete(self, state: JobState, return_code: int, date: float) -> None:
        """End at ``date``. Raises InvariantBroken if the job does not run."""
        try:
            self.life.complete(state, return_code, date)
        except ValueError as error:
            raise InvariantBroken(f"job {self.id} {error}") from None

    @property
    def name(self) -> str:
        """The name without the workload."""
        return split_job_id(self.id)[1]

    def record(self) -> JobRecord:
        """Return the row of jobs.csv for a job that is over."""
        hosts = format_intervals(sorted(set(self.hosts))) if self.life.state.completed else ""
        metadata = self.attempt.metadata if self.attempt is not None else ""
        return JobRecord.of(self.id, self.description, self.life, hosts=hosts, metadata=metadata)


def told_progress(progress: Progress) -> dict[str, Any]:
    """Return the tree of a job's progress; shares have the six decimals that Batsim prints."""
    if isinstance(progress, LeafProgress):
        return {"profile_name": progress.profile_name, "progress": round(progress.progress, 6)}
    tree: dict[str, Any] = {"profile_name": progress.profile_name, "current_task_index": progress.current_task_index}
    if progress.current_task is not None:
        tree["current_task"] = told_progress(progress.current_task)
    return tree
