"""Messages of Batsim's protocol 4.x (3.x is the same but for a few missing members; batprotocol translates 5's).

A message is ``{"now": date, "events": [{"timestamp": date, "type": NAME, "data": {...}}, ...]}``, dates in simulated
seconds. The same classes serve both directions. Batsim sends events; it is sent decisions.
https://batsim.readthedocs.io/en/latest/protocol.html, corrected by what Batsim 3.1, 4.1 and 4.2 really send.

Unknown members are kept in ``data`` (a later Batsim may add some) and ignored elsewhere, as Batsim does.
"""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, get_args

from pydantic import AfterValidator, ConfigDict, Field

from batkube.batsim.decisions import (
    CallMeLater,
    CallMeLaterData,
    ChangeJobState,
    ChangeJobStateData,
    ExecuteJob,
    ExecuteJobData,
    ForceSimulationStop,
    KillJob,
    KillJobData,
    RegisterJob,
    RegisterJobData,
    RegisterProfile,
    RegisterProfileData,
    RejectJob,
    RejectJobData,
    SetJobMetadata,
    SetJobMetadataData,
    SetResourceState,
    ToJobMsg,
    ToJobMsgData,
)
from batkube.batsim.events import (
    Answer,
    AnswerData,
    BaseEvent,
    ComputeResource,
    Config,
    Data,
    Date,
    FromJobMsg,
    FromJobMsgData,
    JobCompleted,
    JobCompletedData,
    JobKilled,
    JobKilledData,
    JobSubmitted,
    JobSubmittedData,
    LeafProgress,
    NoData,
    Notify,
    NotifyData,
    Progress,
    Query,
    QueryData,
    RequestedCall,
    Resource,
    ResourceStateChanged,
    ResourceStateData,
    SequenceProgress,
    SimulationBegins,
    SimulationBeginsData,
    SimulationEnds,
    StorageResource,
)

__all__ = [
    "KNOWN_TYPES",
    "Answer",
    "AnswerData",
    "CallMeLater",
    "CallMeLaterData",
    "ChangeJobState",
    "ChangeJobStateData",
    "ComputeResource",
    "Config",
    "Data",
    "Decision",
    "Event",
    "ExecuteJob",
    "ExecuteJobData",
    "ForceSimulationStop",
    "FromJobMsg",
    "FromJobMsgData",
    "JobCompleted",
    "JobCompletedData",
    "JobKilled",
    "JobKilledData",
    "JobSubmitted",
    "JobSubmittedData",
    "KillJob",
    "KillJobData",
    "KnownEvent",
    "LeafProgress",
    "Message",
    "NoData",
    "Notify",
    "NotifyData",
    "Progress",
    "Query",
    "QueryData",
    "RegisterJob",
    "RegisterJobData",
    "RegisterProfile",
    "RegisterProfileData",
    "RejectJob",
    "RejectJobData",
    "RequestedCall",
    "Resource",
    "ResourceStateChanged",
    "ResourceStateData",
    "SequenceProgress",
    "SetJobMetadata",
    "SetJobMetadataData",
    "SetResourceState",
    "SimulationBegins",
    "SimulationBeginsData",
    "SimulationEnds",
    "StorageResource",
    "ToJobMsg",
    "ToJobMsgData",
    "UnknownEvent",
]

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
    | ForceSimulationStop
)
"""The decisions of a decision process."""

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


class UnknownEvent(BaseEvent):
    """An event of a type that batkube does not know, from a newer Batsim."""

    type: Annotated[str, AfterValidator(_unknown)]
    data: Any = None


Event = Annotated[Annotated[KnownEvent, Field(discriminator="type")] | UnknownEvent, Field(union_mode="left_to_right")]


@dataclass(slots=True)
class Message:
    """A message of either side. Messages that are read are checked; batkube's own are not checked again."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(strict=True, extra="ignore", defer_build=True)

    now: Date
    events: list[Event]
