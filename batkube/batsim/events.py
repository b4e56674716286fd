"""The events that Batsim sends, and the parts that all messages are made of.

https://batsim.readthedocs.io/en/latest/protocol.html#events
"""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from batkube.batsim.job_id import split_job_id
from batkube.batsim.jobs import CompletedState

JSON = dict[str, Any]
Date = Annotated[float, Field(allow_inf_nan=False)]
"""A date in simulated seconds."""


def _full(text: str) -> str:
    split_job_id(text)
    return text


FullJobId = Annotated[str, AfterValidator(_full)]
"""``WORKLOAD!NAME``."""
IntervalSet = str
"""Host numbers such as ``0-1 3``; see batkube.batsim.allocation."""


class Data(BaseModel):
    """The ``data`` of an event. Members that batkube does not know are in ``model_extra``."""

    model_config = ConfigDict(strict=True, extra="allow", defer_build=True)


class BaseEvent(BaseModel):
    """The members that all events have; each also has a ``type`` and its ``data``. Further members mean nothing."""

    model_config = ConfigDict(strict=True, extra="ignore", defer_build=True)

    timestamp: Date


# The content of SIMULATION_BEGINS


class Config(Data):
    """Batsim's options, as far as it tells them. The last four came with 4.x."""

    model_config = ConfigDict(alias_generator=lambda name: name.replace("_", "-"), populate_by_name=True)

    redis_enabled: bool = False
    redis_hostname: str = "127.0.0.1"
    redis_port: int = 6379
    redis_prefix: str = "default"
    profiles_forwarded_on_submission: bool = False
    dynamic_jobs_enabled: bool = False
    dynamic_jobs_acknowledged: bool = False
    profile_reuse_enabled: bool | None = None
    sched_config: str | None = None
    forward_unknown_events: bool | None = None


class Resource(Data):
    """A host. Batsim 3 and 4 tell neither its speed nor its cores: messages of these versions never contain them."""

    id: int
    """The number used in allocations."""
    name: str
    state: str = "idle"
    properties: dict[str, str] = {}
    """The host's own properties; ``role`` is always there, empty for a compute host."""
    zone_properties: dict[str, str] | None = None
    """The properties of its zones, of which the innermost wins; absent in 3.x."""
    cores: Annotated[int | None, Field(exclude=True)] = None
    speeds: Annotated[list[float] | None, Field(exclude=True)] = None
    """The flops per second of a core in each power state."""
    pstate: Annotated[int | None, Field(exclude=True)] = None
    """The power state that it is in."""


ComputeResource = Resource
StorageResource = Resource


class SimulationBeginsData(Data):
    nb_resources: int
    nb_compute_resources: int
    nb_storage_resources: int
    allow_compute_sharing: bool = False
    allow_storage_sharing: bool = True
    names_storages: Annotated[bool, Field(exclude=True)] = False
    """True if EXECUTE_JOB must name the host of each storage, and may do so beside a mapping, as Batsim 5 wants it."""
    config: Config
    compute_resources: list[Resource]
    storage_resources: list[Resource] = []
    workloads: dict[str, str] = {}
    """The absolute path of each workload's file, by name."""
    profiles: dict[str, dict[str, JSON]] = {}
    """The profiles by workload and name; only those that a static job uses."""


class SimulationBegins(BaseEvent):
    """The first message, alone."""

    type: Literal["SIMULATION_BEGINS"] = "SIMULATION_BEGINS"
    data: SimulationBeginsData


class NoData(Data):
    """The data of an event that has only a type."""


class SimulationEnds(BaseEvent):
    """The last message, alone; it wants a reply without events."""

    type: Literal["SIMULATION_ENDS"] = "SIMULATION_ENDS"
    data: NoData = NoData()


# Events on jobs and hosts


class JobSubmittedData(Data):
    job_id: FullJobId
    job: JSON
    """The job as in its file, with all fields of the user's; ``id`` is replaced by the full one."""
    profile: JSON | None = None
    """The profile, only if Batsim forwards profiles on submission."""


class JobSubmitted(BaseEvent):
    """A static job at its submission date, or the acknowledgement of a dynamic one."""

    type: Literal["JOB_SUBMITTED"] = "JOB_SUBMITTED"
    data: JobSubmittedData


class JobCompletedData(Data):
    job_id: FullJobId
    job_state: CompletedState
    return_code: int
    """0, or the profile's ``ret``; -1 or -2 for killed jobs and those beyond their walltime."""
    alloc: IntervalSet


class JobCompleted(BaseEvent):
    """The end of a job that was started, whatever the reason."""

    type: Literal["JOB_COMPLETED"] = "JOB_COMPLETED"
    data: JobCompletedData


class LeafProgress(Data):
    """The part of a delay or parallel task that was done, from 0 to 1."""

    profile_name: str
    progress: float


class SequenceProgress(Data):
    """The element of a sequence that was running; the index counts over all repetitions.

    If Batsim knows no progress (``send``, ``usage_trace``, ``smpi``), the index is -1 and there is no element.
    """

    profile_name: str
    current_task_index: int
    current_task: "Progress | None" = None


Progress = SequenceProgress | LeafProgress


class JobKilledData(Data):
    job_ids: list[FullJobId]
    job_progress: dict[str, Progress]
    """The progress of each job that did not end by itself before the kill."""


class JobKilled(BaseEvent):
    """The end of a KILL_JOB. It follows the JOB_COMPLETED of the jobs that it killed."""

    type: Literal["JOB_KILLED"] = "JOB_KILLED"
    data: JobKilledData


class RequestedCall(BaseEvent):
    """The event at the date of a CALL_ME_LATER."""

    type: Literal["REQUESTED_CALL"] = "REQUESTED_CALL"
    data: NoData = NoData()


class ResourceStateData(Data):
    resources: IntervalSet
    state: str
    """The number of a pstate."""


class ResourceStateChanged(BaseEvent):
    """The event when all hosts of a SET_RESOURCE_STATE have switched."""

    type: Literal["RESOURCE_STATE_CHANGED"] = "RESOURCE_STATE_CHANGED"
    data: ResourceStateData


class NotifyData(Data):
    type: str
    """The type. From Batsim it is ``no_more_static_job_to_submit``, ``no_more_external_event_to_occur``,
    ``event_machine_unavailable``, ``event_machine_available`` or an external event of the user's; to Batsim
    ``registration_finished`` or ``continue_registration``."""
    resources: IntervalSet | None = None


class Notify(BaseEvent):
    """A notice, in both directions."""

    type: Literal["NOTIFY"] = "NOTIFY"
    data: NotifyData


class QueryData(Data):
    requests: dict[str, JSON]


class Query(BaseEvent):
    """A question, in practice ``consumed_energy``, in both directions."""

    type: Literal["QUERY"] = "QUERY"
    data: QueryData


class AnswerData(Data):
    consumed_energy: float | None = None
    """Joules since date 0."""


class Answer(BaseEvent):
    """The answer to a question, in both directions."""

    type: Literal["ANSWER"] = "ANSWER"
    data: AnswerData


class FromJobMsgData(Data):
    job_id: FullJobId
    msg: Any


class FromJobMsg(BaseEvent):
    """A message of a ``send`` profile to the decision process."""

    type: Literal["FROM_JOB_MSG"] = "FROM_JOB_MSG"
    data: FromJobMsgData
