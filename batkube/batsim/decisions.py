"""What a decision process says to Batsim, besides NOTIFY, QUERY and ANSWER, which go both ways (events).

https://batsim.readthedocs.io/en/latest/protocol.html#decisions
"""

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from batkube.batsim.events import (
    JSON,
    BaseEvent,
    Data,
    Date,
    FullJobId,
    IntervalSet,
    JobState,
    ResourceStateData,
)


def _position(value: object) -> object:
    return int(value) if isinstance(value, str) and value.isdecimal() else value


class ExecuteJobData(Data):
    job_id: FullJobId
    alloc: IntervalSet
    mapping: dict[str, Annotated[int, BeforeValidator(_position)]] | None = None
    """Executor to the position, inside ``alloc``, of its host."""
    storage_mapping: dict[str, int] | None = None
    additional_io_job: JSON | None = None


class ExecuteJob(BaseEvent):
    """Start a job on these hosts. At most one of the optional members, or Batsim aborts."""

    type: Literal["EXECUTE_JOB"] = "EXECUTE_JOB"
    data: ExecuteJobData


class RejectJobData(Data):
    job_id: FullJobId


class RejectJob(BaseEvent):
    """The job will never run."""

    type: Literal["REJECT_JOB"] = "REJECT_JOB"
    data: RejectJobData


class KillJobData(Data):
    job_ids: Annotated[list[FullJobId], Field(min_length=1)]


class KillJob(BaseEvent):
    """Stop jobs that run. Naming one whose completion Batsim has told aborts it."""

    type: Literal["KILL_JOB"] = "KILL_JOB"
    data: KillJobData


class CallMeLaterData(Data):
    timestamp: Date


class CallMeLater(BaseEvent):
    """Ask for a REQUESTED_CALL at a date in the future."""

    type: Literal["CALL_ME_LATER"] = "CALL_ME_LATER"
    data: CallMeLaterData


class RegisterProfileData(Data):
    workload_name: Annotated[str, Field(pattern=r"^[^!]+$")]
    profile_name: str
    profile: JSON


class RegisterProfile(BaseEvent):
    """Add a profile; makes the workload if it is new."""

    type: Literal["REGISTER_PROFILE"] = "REGISTER_PROFILE"
    data: RegisterProfileData


class RegisterJobData(Data):
    job_id: FullJobId
    job: JSON
    """At least ``id``, ``subtime``, ``res`` and ``profile``."""


class RegisterJob(BaseEvent):
    """Add a job at run time."""

    type: Literal["REGISTER_JOB"] = "REGISTER_JOB"
    data: RegisterJobData


class SetResourceState(BaseEvent):
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


class SetJobMetadata(BaseEvent):
    """Text for the last column of jobs.csv."""

    type: Literal["SET_JOB_METADATA"] = "SET_JOB_METADATA"
    data: SetJobMetadataData


class ToJobMsgData(Data):
    job_id: FullJobId
    msg: str


class ToJobMsg(BaseEvent):
    """Speak to a ``recv`` profile."""

    type: Literal["TO_JOB_MSG"] = "TO_JOB_MSG"
    data: ToJobMsgData


class ChangeJobStateData(Data):
    job_id: FullJobId
    job_state: JobState


class ChangeJobState(BaseEvent):
    """Drive a job by hand. Works in Batsim 3.1; aborts 4.x."""

    type: Literal["CHANGE_JOB_STATE"] = "CHANGE_JOB_STATE"
    data: ChangeJobStateData
