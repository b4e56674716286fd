"""Messages of Batsim's protocol 4.x (3.x is the same but for a few missing members).

A message is ``{"now": date, "events": [{"timestamp": date, "type": NAME, "data": {...}}, ...]}``, dates in simulated
seconds. The same classes serve both ways; what Batsim sends is called an event, what it is sent a decision.
https://batsim.readthedocs.io/en/latest/protocol.html, corrected by what Batsim 3.1, 4.1 and 4.2 really send.

Unknown members are kept in ``data`` (a later Batsim may add some) and ignored elsewhere, as Batsim does.
"""

from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from batkube.batsim.job_id import split_job_id

JSON = dict[str, Any]
Date = Annotated[float, Field(allow_inf_nan=False)]
"""Simulated seconds."""


def _full(text: str) -> str:
    split_job_id(text)
    return text


FullJobId = Annotated[str, AfterValidator(_full)]
"""``WORKLOAD!NAME``."""
IntervalSet = str
"""Host numbers such as ``0-1 3``; see batkube.batsim.allocation."""

CompletedState = Literal["COMPLETED_SUCCESSFULLY", "COMPLETED_FAILED", "COMPLETED_WALLTIME_REACHED", "COMPLETED_KILLED"]
JobState = CompletedState | Literal["NOT_SUBMITTED", "SUBMITTED", "RUNNING", "REJECTED"]


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")


class Data(BaseModel):
    """The ``data`` of an event. Members that batkube does not know are in ``model_extra``."""

    model_config = ConfigDict(strict=True, extra="allow")


class _Event(_Part):
    timestamp: Date


# What SIMULATION_BEGINS tells


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
    """A host. Batsim tells neither its speed nor its cores."""

    id: int
    """The number used in allocations."""
    name: str
    state: str = "idle"
    properties: dict[str, str] = {}
    """The host's own; ``role`` is always there, empty for a compute host."""
    zone_properties: dict[str, str] | None = None
    """Those of its zones, the innermost wins; absent in 3.x."""


ComputeResource = Resource
StorageResource = Resource


class SimulationBeginsData(Data):
    nb_resources: int
    nb_compute_resources: int
    nb_storage_resources: int
    allow_compute_sharing: bool = False
    allow_storage_sharing: bool = True
    config: Config
    compute_resources: list[Resource]
    storage_resources: list[Resource] = []
    workloads: dict[str, str] = {}
    """Name to the absolute path of its file."""
    profiles: dict[str, dict[str, JSON]] = {}
    """Workload, name, profile; only those that a static job uses."""


class SimulationBegins(_Event):
    """The first message, alone."""

    type: Literal["SIMULATION_BEGINS"] = "SIMULATION_BEGINS"
    data: SimulationBeginsData


class NoData(Data):
    """Nothing to say beyond the type."""


class SimulationEnds(_Event):
    """The last message, alone; wants a reply without events."""

    type: Literal["SIMULATION_ENDS"] = "SIMULATION_ENDS"
    data: NoData = NoData()


# Events on jobs and hosts


class JobSubmittedData(Data):
    job_id: FullJobId
    job: JSON
    """The job as in its file, with all fields of the user's; ``id`` is rewritten to the full one."""
    profile: JSON | None = None
    """Only where Batsim forwards profiles on submission."""


class JobSubmitted(_Event):
    """A static job at its submission date, or the acknowledgement of a dynamic one."""

    type: Literal["JOB_SUBMITTED"] = "JOB_SUBMITTED"
    data: JobSubmittedData


class JobCompletedData(Data):
    job_id: FullJobId
    job_state: CompletedState
    return_code: int
    """0, or the profile's ``ret``; -1 or -2 for killed jobs and those beyond their walltime."""
    alloc: IntervalSet


class JobCompleted(_Event):
    """A job that was started has ended, however it ended."""

    type: Literal["JOB_COMPLETED"] = "JOB_COMPLETED"
    data: JobCompletedData


class LeafProgress(Data):
    """How much was done of a delay or parallel task, from 0 to 1."""

    profile_name: str
    progress: float


class SequenceProgress(Data):
    """Which element of a sequence was running; the index counts over all repetitions."""

    profile_name: str
    current_task_index: int
    current_task: "Progress"


Progress = SequenceProgress | LeafProgress


class JobKilledData(Data):
    job_ids: list[FullJobId]
    job_progress: dict[str, Progress]
    """No entry for a job that ended by itself before the kill."""


class JobKilled(_Event):
    """A KILL_JOB is done. Follows the JOB_COMPLETED of the jobs it killed."""

    type: Literal["JOB_KILLED"] = "JOB_KILLED"
    data: JobKilledData


class RequestedCall(_Event):
    """The date of a CALL_ME_LATER has come."""

    type: Literal["REQUESTED_CALL"] = "REQUESTED_CALL"
    data: NoData = NoData()


class ResourceStateData(Data):
    resources: IntervalSet
    state: str
    """Number of a pstate."""


class ResourceStateChanged(_Event):
    """All hosts of a SET_RESOURCE_STATE have switched."""

    type: Literal["RESOURCE_STATE_CHANGED"] = "RESOURCE_STATE_CHANGED"
    data: ResourceStateData


class NotifyData(Data):
    type: str
    """From Batsim ``no_more_static_job_to_submit``, ``no_more_external_event_to_occur``, ``event_machine_unavailable``,
    ``event_machine_available`` or an external event of the user's; to it ``registration_finished``,
    ``continue_registration``."""
    resources: IntervalSet | None = None


class Notify(_Event):
    """Something to know. Both ways."""

    type: Literal["NOTIFY"] = "NOTIFY"
    data: NotifyData


class QueryData(Data):
    requests: dict[str, JSON]


class Query(_Event):
    """A question, ``consumed_energy`` in practice. Both ways."""

    type: Literal["QUERY"] = "QUERY"
    data: QueryData


class AnswerData(Data):
    consumed_energy: float | None = None
    """Joules since date 0."""


class Answer(_Event):
    """The answer to a question. Both ways."""

    type: Literal["ANSWER"] = "ANSWER"
    data: AnswerData


class FromJobMsgData(Data):
    job_id: FullJobId
    msg: Any


class FromJobMsg(_Event):
    """A ``send`` profile speaks to the decision process."""

    type: Literal["FROM_JOB_MSG"] = "FROM_JOB_MSG"
    data: FromJobMsgData


# Decisions


def _position(value: object) -> object:
    return int(value) if isinstance(value, str) and value.isdecimal() else value


class ExecuteJobData(Data):
    job_id: FullJobId
    alloc: IntervalSet
    mapping: dict[str, Annotated[int, BeforeValidator(_position)]] | None = None
    """Executor to the position, inside ``alloc``, of its host."""
    storage_mapping: dict[str, int] | None = None
    additional_io_job: JSON | None = None


class ExecuteJob(_Event):
    """Start a job on these hosts. At most one of the optional members, or Batsim aborts."""

    type: Literal["EXECUTE_JOB"] = "EXECUTE_JOB"
    data: ExecuteJobData


class RejectJobData(Data):
    job_id: FullJobId


class RejectJob(_Event):
    """The job will never run."""

    type: Literal["REJECT_JOB"] = "REJECT_JOB"
    data: RejectJobData


class KillJobData(Data):
    job_ids: Annotated[list[FullJobId], Field(min_length=1)]


class KillJob(_Event):
    """Stop jobs that run. Naming one whose completion Batsim has told aborts it."""

    type: Literal["KILL_JOB"] = "KILL_JOB"
    data: KillJobData


class CallMeLaterData(Data):
    timestamp: Date


class CallMeLater(_Event):
    """Ask for a REQUESTED_CALL at a date in the future."""

    type: Literal["CALL_ME_LATER"] = "CALL_ME_LATER"
    data: CallMeLaterData


class RegisterProfileData(Data):
    workload_name: Annotated[str, Field(pattern=r"^[^!]+$")]
    profile_name: str
    profile: JSON


class RegisterProfile(_Event):
    """Add a profile; makes the workload if it is new."""

    type: Literal["REGISTER_PROFILE"] = "REGISTER_PROFILE"
    data: RegisterProfileData


class RegisterJobData(Data):
    job_id: FullJobId
    job: JSON
    """At least ``id``, ``subtime``, ``res`` and ``profile``."""


class RegisterJob(_Event):
    """Add a job at run time."""

    type: Literal["REGISTER_JOB"] = "REGISTER_JOB"
    data: RegisterJobData


class SetResourceState(_Event):
    """Switch hosts to a pstate. Needs Batsim's energy option."""

    type: Literal["SET_RESOURCE_STATE"] = "SET_RESOURCE_STATE"
    data: ResourceStateData


def _no_quote(text: str) -> str:
    if '"' in text:
        raise ValueError("must have no double quote, it goes into a CSV file as it is")
    return text


class SetJobMetadataData(Data):
    job_id: FullJobId
    metadata: Annotated[str, AfterValidator(_no_quote)]


class SetJobMetadata(_Event):
    """Text for the last column of jobs.csv."""

    type: Literal["SET_JOB_METADATA"] = "SET_JOB_METADATA"
    data: SetJobMetadataData


class ToJobMsgData(Data):
    job_id: FullJobId
    msg: str


class ToJobMsg(_Event):
    """Speak to a ``recv`` profile."""

    type: Literal["TO_JOB_MSG"] = "TO_JOB_MSG"
    data: ToJobMsgData


class ChangeJobStateData(Data):
    job_id: FullJobId
    job_state: JobState


class ChangeJobState(_Event):
    """Drive a job by hand. Works in Batsim 3.1; aborts 4.x."""

    type: Literal["CHANGE_JOB_STATE"] = "CHANGE_JOB_STATE"
    data: ChangeJobStateData


# The message

Decision = (
    ExecuteJob
    | RejectJob
    | KillJob
    | CallMeLater
    | RegisterProfile
    | RegisterJob
    | Notify
    | SetResourceState
    | SetJobMetadata
    | Query
    | Answer
    | ToJobMsg
    | ChangeJobState
)
"""What a decision process may say."""

KnownEvent = (
    Decision
    | SimulationBegins
    | SimulationEnds
    | JobSubmitted
    | JobCompleted
    | JobKilled
    | RequestedCall
    | ResourceStateChanged
    | FromJobMsg
)
KNOWN_TYPES = frozenset(event.model_fields["type"].default for event in get_args(KnownEvent))


def _unknown(text: str) -> str:
    if text in KNOWN_TYPES:
        raise ValueError("is a known type")
    return text


class UnknownEvent(_Event):
    """An event of a type that batkube does not know, from a Batsim newer than these lines."""

    type: Annotated[str, AfterValidator(_unknown)]
    data: Any = None


Event = Annotated[Annotated[KnownEvent, Field(discriminator="type")] | UnknownEvent, Field(union_mode="left_to_right")]


class Message(_Part):
    """A message of either side."""

    now: Date
    events: list[Event]
