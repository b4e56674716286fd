"""The decisions of a decision process for Batsim, except NOTIFY, QUERY and ANSWER, which go both ways (events).

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
    NoData,
    ResourceStateData,
)
from batkube.batsim.jobs import StateWord


def _position(value: object) -> object:
    return int(value) if isinstance(value, str) and value.isdecimal() else value


class ExecuteJobData(Data):
    job_id: FullJobId
    alloc: IntervalSet
    mapping: dict[str, Annotated[int, BeforeValidator(_position)]] | None = None
    """The position, inside ``alloc``, of the host of each executor."""
    storage_mapping: dict[str, int] | None = None
    additional_io_job: JSON | None = None


class ExecuteJob(BaseEvent):
    """The decision to start a job on hosts. Batsim aborts on more than one of the optional members."""

    type: Literal["EXECUTE_JOB"] = "EXECUTE_JOB"
    data: ExecuteJobData


class RejectJobData(Data):
    job_id: FullJobId


class RejectJob(BaseEvent):
    """The decision to reject a job, which then never runs."""

    type: Literal["REJECT_JOB"] = "REJECT_JOB"
    data: RejectJobData


class KillJobData(Data):
    job_ids: Annotated[list[FullJobId], Field(min_length=1)]


class KillJob(BaseEvent):
    """The decision to stop running jobs. Batsim aborts on a job whose completion it has told."""

    type: Literal["KILL_JOB"] = "KILL_JOB"
    data: KillJobData


class CallMeLaterData(Data):
    timestamp: Date


class CallMeLater(BaseEvent):
    """The request for a REQUESTED_CALL at a date in the future."""

    type: Literal["CALL_ME_LATER"] = "CALL_ME_LATER"
    data: CallMeLaterData


class RegisterProfileData(Data):
    workload_name: Annotated[str, Field(pattern=r"^[^!]+$")]
    profile_name: str
    profile: JSON


class RegisterProfile(BaseEvent):
    """The decision to add a profile, and its workload if that is new."""

    type: Literal["REGISTER_PROFILE"] = "REGISTER_PROFILE"
    data: RegisterProfileData


class RegisterJobData(Data):
    job_id: FullJobId
    job: JSON
    """The job, with at least ``id``, ``subtime``, ``res`` and ``profile``."""


class RegisterJob(BaseEvent):
    """The decision to add a job at run time."""

    type: Literal["REGISTER_JOB"] = "REGISTER_JOB"
    data: RegisterJobData


class SetResourceState(BaseEvent):
    """The decision to switch hosts to a pstate. It needs Batsim's energy option."""

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
    """The text for a job in the last column of jobs.csv."""

    type: Literal["SET_JOB_METADATA"] = "SET_JOB_METADATA"
    data: SetJobMetadataData


class ToJobMsgData(Data):
    job_id: FullJobId
    msg: str


class ToJobMsg(BaseEvent):
    """A message to a ``recv`` profile."""

    type: Literal["TO_JOB_MSG"] = "TO_JOB_MSG"
    data: ToJobMsgData


class ChangeJobStateData(Data):
    job_id: FullJobId
    job_state: StateWord


class ChangeJobState(BaseEvent):
    """The decision to change a job's state by hand. It works in Batsim 3.1; 4.x aborts."""

    type: Literal["CHANGE_JOB_STATE"] = "CHANGE_JOB_STATE"
    data: ChangeJobStateData


class ForceSimulationStop(BaseEvent):
    """The decision to end the simulation now, whatever jobs there are: SIMULATION_ENDS follows.

    Only Batsim 5 knows it.
    """

    type: Literal["FORCE_SIMULATION_STOP"] = "FORCE_SIMULATION_STOP"
    data: NoData = NoData()
