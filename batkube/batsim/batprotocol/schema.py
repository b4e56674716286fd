"""The schema of batprotocol as data: its tables, unions and enumerations, in the order that numbers their members.

A member's number in the binary form is its place in its table; a union takes two places, its type's and its value's.
https://batprotocol.readthedocs.io/en/latest/api.html

The additions of Batsim 5.0.0-rc2 to the schema of 2024 stand at the ends of tables and of the union of events. Their
names are as rc2 spells them in JSON. Their numbers are not known for sure: no binary message of rc2 with them was seen.
"""

from dataclasses import dataclass
from typing import Literal

Scalar = Literal["bool", "uint32", "uint64", "double"]
SCALARS: tuple[Scalar, ...] = ("bool", "uint32", "uint64", "double")


@dataclass(frozen=True)
class Field:
    """A member of a table."""

    name: str
    type: str
    """A scalar, ``string``, or the name of an enumeration, a table or a union."""
    many: bool = False
    """True if it is a list of these."""
    required: bool = False
    default: bool | int | float | str | None = 0
    """The value of a scalar or an enumeration that is absent; None if absence has a meaning of its own."""


def _text(name: str) -> Field:
    return Field(name, "string")


def _needed(name: str, kind: str = "string", *, many: bool = False) -> Field:
    return Field(name, kind, many=many, required=True)


def _many(name: str, kind: str) -> Field:
    return Field(name, kind, many=True)


def _flag(name: str, default: bool = False) -> Field:
    return Field(name, "bool", default=default)


def _count(name: str, default: int = 0) -> Field:
    return Field(name, "uint32", default=default)


def _number(name: str, *, optional: bool = False) -> Field:
    return Field(name, "double", default=None if optional else 0.0)


def _choice(name: str, kind: str) -> Field:
    """Return a field for an enumeration whose default is its first value."""
    return Field(name, kind, default=ENUMS[kind][0])


ENUMS: dict[str, tuple[str, ...]] = {
    "BooleanComparisonOperator": ("GreaterThan", "GreaterThanOrEqual", "LessThan", "LessThanOrEqual"),
    "CumulativeFunction": ("Sum", "Minimum", "Maximum"),
    "FinalJobState": (
        "COMPLETED_SUCCESSFULLY",
        "COMPLETED_FAILED",
        "COMPLETED_WALLTIME_REACHED",
        "COMPLETED_KILLED",
        "REJECTED",
    ),
    "GenerationStrategy": ("DefinedAmountsUsedForEachValue", "DefinedAmountsSpreadUniformly"),
    "HostState": ("SLEEPING", "IDLE", "COMPUTING", "SWITCHING_ON", "SWITCHING_OFF"),
    "JobAllocationValidationStrategy": ("None", "MatchJobRequestExactly", "MatchJobRequestBigEnough"),
    "Metrics": ("Power", "NetworkLoad", "ComputationLoad", "NormalizedNetworkLoad", "NormalizedComputationLoad"),
    "PredefinedStrategy": ("SpreadOverHostsFirst", "FillOneHostCoresFirst"),
    "TimeUnit": ("Second", "Millisecond"),
    "TraceType": ("SMPI", "FractionalComputation"),
}
"""The enumerations, one byte each. The names of the types are ours if a message does not say them."""

UNIONS: dict[str, tuple[str, ...]] = {
    "Profile": (
        "DelayProfile",
        "ParallelTaskProfile",
        "ParallelTaskHomogeneousProfile",
        "SequentialCompositionProfile",
        "ForkJoinCompositionProfile",
        "ParallelTaskMergeCompositionProfile",
        "ParallelTaskOnStorageHomogeneousProfile",
        "ParallelTaskDataStagingBetweenStoragesProfile",
        "TraceReplayProfile",
    ),
    "ExecutorPlacement": ("PredefinedExecutorPlacementStrategyWrapper", "CustomExecutorToHostMapping"),
    "KillProgress": ("KillProgressAtomicProfile", "KillProgressSequentialProfile", "KillProgressForkJoinProfile"),
    "Resources": ("HostResources", "LinkResources"),
    "MeasurementTriggeringPolicy": ("TemporalTriggerWrapper",),
    "DataAccumulationStrategy": ("NoProbeDataAccumulation", "ProbeDataAccumulation"),
    "ResetMode": ("NoReset", "ProbeAccumulationReset"),
    "TemporalAggregation": ("NoTemporalAggregation", "ExponentialMovingAverage", "SlidingWindowOperation"),
    "ResourcesAggregation": ("NoResourcesAggregation", "Sum", "ArithmeticMean", "QuantileFunction"),
    "EmissionFilteringPolicy": ("NoFiltering", "ThresholdFilteringFunction"),
    "ProbeData": ("AggregatedProbeData", "VectorialProbeData"),
    "PeriodicMode": ("Infinite", "FinitePeriodNumber"),
    "TemporalTrigger": ("OneShot", "Periodic"),
    "ExternalEvent": ("GenericExternalEvent",),
    "Event": (
        "JobSubmittedEvent",
        "JobCompletedEvent",
        "RejectJobEvent",
        "ExecuteJobEvent",
        "KillJobsEvent",
        "JobsKilledEvent",
        "RegisterProfileEvent",
        "RegisterJobEvent",
        "CreateProbeEvent",
        "StopProbeEvent",
        "TriggerProbeEvent",
        "ResetProbeEvent",
        "ProbeDataEmittedEvent",
        "CallMeLaterEvent",
        "RequestedCallEvent",
        "StopCallMeLaterEvent",
        "BatsimHelloEvent",
        "EDCHelloEvent",
        "SimulationBeginsEvent",
        "SimulationEndsEvent",
        "AllStaticJobsHaveBeenSubmittedEvent",
        "AllStaticExternalEventsHaveBeenInjectedEvent",
        "FinishRegistrationEvent",
        "ForceSimulationStopEvent",
        # After this line the numbers are not known for sure.
        "ChangeHostsPStateEvent",
        "HostsPStateChangedEvent",
        "TurnOnOffHostsEvent",
        "HostsTurnedOnOffEvent",
        "ExternalEventOccurredEvent",
    ),
}
"""The tables of each union, numbered from 1."""

_PLACEMENT = (_needed("host_allocation"), _needed("executor_placement", "ExecutorPlacement"))
_NAMED_FILE = (_needed("name"), _needed("filename"))

TABLES: dict[str, tuple[Field, ...]] = {
    "Message": (_number("now"), _many("events", "EventAndTimestamp")),
    "EventAndTimestamp": (_number("timestamp"), Field("event", "Event")),
    # Profiles
    "DelayProfile": (_number("delay"),),
    "ParallelTaskProfile": (_many("computation_vector", "double"), _many("communication_matrix", "double")),
    "ParallelTaskHomogeneousProfile": (
        _number("computation_amount"),
        _number("communication_amount"),
        _choice("generation_strategy", "GenerationStrategy"),
    ),
    "SequentialCompositionProfile": (_count("repetition_count", 1), _needed("profile_ids", many=True)),
    "ForkJoinCompositionProfile": (_needed("profile_ids", many=True),),
    "ParallelTaskMergeCompositionProfile": (_needed("profile_ids", many=True),),
    "ParallelTaskOnStorageHomogeneousProfile": (
        _needed("storage_name"),
        _number("bytes_to_read"),
        _number("bytes_to_write"),
        _choice("generation_strategy", "GenerationStrategy"),
    ),
    "ParallelTaskDataStagingBetweenStoragesProfile": (
        _number("bytes_to_transfer"),
        _needed("emitter_storage_name"),
        _needed("receiver_storage_name"),
    ),
    "TraceReplayProfile": (_choice("trace_type", "TraceType"), _needed("filename")),
    "ProfileAndId": (_needed("id"), _needed("profile", "Profile"), _text("extra_data")),
    # Jobs
    "Job": (
        _count("resource_request"),
        _number("walltime", optional=True),
        _text("extra_data"),
        _flag("rigid", True),
        _text("profile_id"),
    ),
    "JobSubmittedEvent": (
        _needed("job_id"),
        _needed("job", "Job"),
        _number("submission_time"),
        Field("profile", "ProfileAndId"),
    ),
    "JobCompletedEvent": (_needed("job_id"), _choice("state", "FinalJobState"), _count("return_code")),
    "RejectJobEvent": (_needed("job_id"),),
    "PredefinedExecutorPlacementStrategyWrapper": (_choice("strategy", "PredefinedStrategy"),),
    "CustomExecutorToHostMapping": (_many("mapping", "uint32"),),
    "StorageHost": (_needed("storage_name"), _count("host_id")),
    "AllocationPlacement": _PLACEMENT,
    "ProfileAllocationPlacement": (_needed("profile_id"), *_PLACEMENT),
    "ExecuteJobEvent": (
        _needed("job_id"),
        _needed("allocation", "AllocationPlacement"),
        _many("profile_allocation_override", "ProfileAllocationPlacement"),
        _many("storage_placement", "StorageHost"),
    ),
    "KillJobsEvent": (_needed("job_ids", many=True),),
    "KillProgressAtomicProfile": (_needed("profile_id"), _number("progress")),
    "KillProgressSequentialProfile": (
        _needed("profile_id"),
        _count("current_repetition"),
        _count("current_task_index"),
        _needed("current_task_progress", "KillProgressWrapper"),
    ),
    "KillProgressForkJoinProfile": (_needed("profile_id"), _needed("tasks_progress", "KillProgressWrapper", many=True)),
    "KillProgressWrapper": (_needed("kill_progress", "KillProgress"),),
    "JobAndProgress": (_needed("job_id"), _needed("wrapper", "KillProgressWrapper")),
    "JobsKilledEvent": (
        _needed("job_ids", many=True),
        _needed("progresses", "JobAndProgress", many=True),
        _many("profiles", "ProfileAndId"),
    ),
    "RegisterProfileEvent": (Field("profile", "ProfileAndId"),),
    "RegisterJobEvent": (_needed("job_id"), _needed("job", "Job")),
    # Probes
    "HostResources": (_text("host_ids"),),
    "LinkResources": (_many("link_ids", "string"),),
    "NoProbeDataAccumulation": (),
    "ProbeDataAccumulation": (
        Field("reset_mode", "ResetMode"),
        _choice("cumulative_function", "CumulativeFunction"),
        _flag("temporal_normalization"),
    ),
    "NoReset": (),
    "ProbeAccumulationReset": (_number("new_value"),),
    "NoTemporalAggregation": (),
    "ExponentialMovingAverage": (),
    "SlidingWindowOperation": (),
    "NoResourcesAggregation": (),
    "Sum": (),
    "ArithmeticMean": (),
    "QuantileFunction": (_number("threshold"),),
    "NoFiltering": (),
    "ThresholdFilteringFunction": (_number("threshold"), _choice("operator", "BooleanComparisonOperator")),
    "CreateProbeEvent": (
        _text("probe_id"),
        _choice("metrics", "Metrics"),
        Field("resources", "Resources"),
        Field("data_accumulation_strategy", "DataAccumulationStrategy"),
        Field("measurement_triggering_policy", "MeasurementTriggeringPolicy"),
        Field("resources_aggregation_function", "ResourcesAggregation"),
        Field("temporal_aggregation_function", "TemporalAggregation"),
        Field("emission_filtering_policy", "EmissionFilteringPolicy"),
    ),
    "StopProbeEvent": (_text("probe_id"),),
    "ResetProbeEvent": (_text("probe_id"), _number("new_value")),
    "TriggerProbeEvent": (_text("probe_id"), _flag("force_data_emission", True)),
    "AggregatedProbeData": (_number("data"),),
    "VectorialProbeData": (_many("data", "double"),),
    "ProbeDataEmittedEvent": (
        _text("probe_id"),
        Field("resources", "Resources"),
        _choice("metrics", "Metrics"),
        Field("data", "ProbeData"),
        _flag("manually_triggered"),
        _count("nb_emitted"),
        _count("nb_triggered"),
    ),
    # Time
    "OneShot": (Field("time", "uint64"), _choice("time_unit", "TimeUnit")),
    "Infinite": (),
    "FinitePeriodNumber": (_count("nb_periods"),),
    "Periodic": (
        Field("period", "uint64"),
        Field("offset", "uint64"),
        _choice("time_unit", "TimeUnit"),
        Field("mode", "PeriodicMode"),
    ),
    "TemporalTriggerWrapper": (Field("temporal_trigger", "TemporalTrigger"),),
    "CallMeLaterEvent": (_needed("call_me_later_id"), _needed("when", "TemporalTrigger")),
    "RequestedCallEvent": (_needed("call_me_later_id"), _flag("last_periodic_call")),
    "StopCallMeLaterEvent": (_needed("call_me_later_id"),),
    # Begin and end
    "BatsimHelloEvent": (_needed("batprotocol_version"), _needed("batsim_version"), _text("batsim_commit")),
    "EDCRequestedSimulationFeatures": (
        _flag("dynamic_registration"),
        _flag("profile_reuse"),
        _flag("acknowledge_dynamic_jobs"),
        _flag("forward_profiles_on_job_submission"),
        _flag("forward_profiles_on_jobs_killed"),
        _flag("forward_profiles_on_simulation_begins"),
        _flag("forward_unknown_external_events"),
    ),
    "EDCSchedulingConstraints": (
        _flag("compute_sharing"),
        _flag("storage_sharing", True),
        Field(
            "job_allocation_validation_strategy", "JobAllocationValidationStrategy", default="MatchJobRequestExactly"
        ),
    ),
    "EDCHelloEvent": (
        _needed("batprotocol_version"),
        _needed("decision_component_name"),
        _needed("decision_component_version"),
        _text("decision_component_commit"),
        Field("requested_simulation_features", "EDCRequestedSimulationFeatures"),
        Field("scheduling_constraints", "EDCSchedulingConstraints"),
    ),
    "HostProperty": (_needed("key"), _needed("value")),
    "Host": (
        _count("id"),
        _needed("name"),
        _count("pstate"),
        _count("pstate_count", 1),
        _choice("state", "HostState"),
        _many("properties", "HostProperty"),
        _many("zone_properties", "HostProperty"),
        _count("core_count", 1),
        _many("computation_speed", "double"),
    ),
    "WorkloadAndFilename": _NAMED_FILE,
    "ExternalEventListAndFilename": _NAMED_FILE,
    "SimulationBeginsEvent": (
        _count("host_number"),
        _count("computation_host_number"),
        _many("computation_hosts", "Host"),
        _count("storage_host_number"),
        _many("storage_hosts", "Host"),
        _many("batsim_arguments", "string"),
        _needed("batsim_execution_context_json"),
        _many("workloads", "WorkloadAndFilename"),
        _many("profiles", "ProfileAndId"),
        _many("external_events", "ExternalEventListAndFilename"),
        _text("batsim_version"),
        _text("batsim_commit"),
    ),
    "SimulationEndsEvent": (),
    "AllStaticJobsHaveBeenSubmittedEvent": (),
    "AllStaticExternalEventsHaveBeenInjectedEvent": (),
    "FinishRegistrationEvent": (),
    "ForceSimulationStopEvent": (),
    # Hosts and external events, of rc2
    "ChangeHostsPStateEvent": (_needed("host_ids"), _count("pstate")),
    "HostsPStateChangedEvent": (_needed("host_ids"), _count("pstate")),
    "TurnOnOffHostsEvent": (_needed("host_ids"), _count("state")),
    "HostsTurnedOnOffEvent": (_needed("host_ids"), _count("state")),
    "GenericExternalEvent": (_text("data"),),
    "ExternalEventOccurredEvent": (_needed("id"), Field("external_event", "ExternalEvent")),
}
"""The tables; ``Message`` is the root."""
