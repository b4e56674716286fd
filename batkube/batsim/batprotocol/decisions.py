"""The decisions of protocol 4, in Batsim 5's words."""

import math
from collections.abc import Callable, Iterator
from typing import Any

from batkube.batsim import messages as m
from batkube.batsim.allocation import format_intervals, parse_intervals
from batkube.batsim.batprotocol.document import Document
from batkube.batsim.batprotocol.jobs import write_job
from batkube.batsim.batprotocol.memory import Memory
from batkube.batsim.batprotocol.profiles import write_profile
from batkube.batsim.errors import ProtocolError

Said = Iterator[tuple[str, Document]]
"""Names and contents of batprotocol's events."""

MILLISECONDS = 1000


class DecisionWriter:
    """Translates the replies of one simulation. It shares its ``memory`` with the event reader."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._writers: dict[type[Any], Callable[[Any], Said]] = {
            m.ExecuteJob: self._execute,
            m.RejectJob: lambda data: iter([("RejectJobEvent", {"job_id": data.job_id})]),
            m.KillJob: lambda data: iter([("KillJobsEvent", {"job_ids": data.job_ids})]),
            m.CallMeLater: self._call,
            m.RegisterProfile: self._register_profile,
            m.RegisterJob: self._register_job,
            m.Notify: self._notify,
            m.SetResourceState: self._set_state,
            m.Query: self._query,
            m.ForceSimulationStop: lambda _: iter([("ForceSimulationStopEvent", {})]),
            # Batsim 5 has no place for it.
            m.SetJobMetadata: lambda _: iter(()),
        }

    def write(self, message: m.Message) -> Document:
        """Return the document for ``message``. Raises ProtocolError for a decision that Batsim 5 does not know."""
        events: list[Document] = []
        latest = -math.inf
        for index, event in enumerate(message.events):
            # Batsim 4 waits for each date in turn, and takes a past one for now; Batsim 5 wants them to ascend.
            latest = max(latest, event.timestamp)
            writer = self._writers.get(type(event))
            try:
                if writer is None:
                    raise ValueError("Batsim 5 knows no such decision")
                for kind, content in writer(event.data):
                    events.append({"timestamp": latest, "event_type": kind, "event": content})
            except ValueError as error:
                raise ProtocolError(f"decision {index} ({event.type}): {error}") from None
        return {"now": message.now, "events": events}

    def _execute(self, data: m.ExecuteJobData) -> Said:
        if data.additional_io_job is not None:
            raise ValueError("Batsim 5 knows no additional_io_job")
        hosts = format_intervals(parse_intervals(data.alloc))
        placement: Document = {"strategy": "SpreadOverHostsFirst"}
        kind = "PredefinedExecutorPlacementStrategyWrapper"
        if data.mapping is not None:
            kind, placement = "CustomExecutorToHostMapping", {"mapping": _positions(data.mapping)}
        content: Document = {
            "job_id": data.job_id,
            "allocation": {
                "host_allocation": hosts,
                "executor_placement_type": kind,
                "executor_placement": placement,
            },
        }
        if data.storage_mapping is not None:
            content["storage_placement"] = [
                {"storage_name": name, "host_id": host} for name, host in data.storage_mapping.items()
            ]
        self._memory.allocations[data.job_id] = hosts
        yield "ExecuteJobEvent", content

    def _call(self, data: m.CallMeLaterData) -> Said:
        """Yield a call at a date in whole milliseconds, the finest for Batsim 5, never before the date asked for."""
        self._memory.calls += 1
        trigger = {"time": whole_milliseconds(data.timestamp), "time_unit": "Millisecond"}
        yield (
            "CallMeLaterEvent",
            {"call_me_later_id": str(self._memory.calls), "when_type": "OneShot", "when": trigger},
        )

    def _register_profile(self, data: m.RegisterProfileData) -> Said:
        if data.profile.get("ret"):
            raise ValueError(f"profile {data.profile_name}: Batsim 5 takes no return code (ret) at run time")
        yield "RegisterProfileEvent", {"profile": write_profile(data.workload_name, data.profile_name, data.profile)}

    def _register_job(self, data: m.RegisterJobData) -> Said:
        yield "RegisterJobEvent", {"job_id": data.job_id, "job": write_job(data.job_id, data.job)}

    def _notify(self, data: m.NotifyData) -> Said:
        if data.type != "registration_finished":
            raise ValueError(f"Batsim 5 cannot be told {data.type}")
        yield "FinishRegistrationEvent", {}

    def _set_state(self, data: m.ResourceStateData) -> Said:
        """Yield the switches: in Batsim 5 switching hosts off and on is one event, another speed is another event."""
        pstate = int(data.state)
        switched: list[int] = []
        changed: list[int] = []
        for number in parse_intervals(data.resources):
            asleep = self._memory.sleep_pstates.get(number, frozenset())
            (switched if pstate in asleep or self._memory.pstates.get(number) in asleep else changed).append(number)
        if switched:
            yield "TurnOnOffHostsEvent", {"host_ids": format_intervals(switched), "state": pstate}
        if changed:
            yield "ChangeHostsPStateEvent", {"host_ids": format_intervals(changed), "pstate": pstate}

    def _query(self, data: m.QueryData) -> Said:
        """Yield a probe that measures once, within 2 ms: Batsim 5 has no other way to ask for the energy."""
        if set(data.requests) != {"consumed_energy"}:
            raise ValueError(f"Batsim 5 can be asked for consumed_energy alone, not {', '.join(data.requests)}")
        self._memory.probes += 1
        trigger = {
            "period": 1,
            "time_unit": "Millisecond",
            "mode_type": "FinitePeriodNumber",
            "mode": {"nb_periods": 1},
        }
        yield (
            "CreateProbeEvent",
            {
                "probe_id": f"consumed_energy {self._memory.probes}",
                "metrics": "Power",
                "resources_type": "HostResources",
                "resources": {"host_ids": format_intervals(self._memory.pstates)},
                "data_accumulation_strategy_type": "ProbeDataAccumulation",
                "data_accumulation_strategy": {"reset_mode_type": "NoReset", "reset_mode": {}},
                "measurement_triggering_policy_type": "TemporalTriggerWrapper",
                "measurement_triggering_policy": {"temporal_trigger_type": "Periodic", "temporal_trigger": trigger},
                "resources_aggregation_function_type": "Sum",
                "resources_aggregation_function": {},
                "temporal_aggregation_function_type": "NoTemporalAggregation",
                "temporal_aggregation_function": {},
                "emission_filtering_policy_type": "NoFiltering",
                "emission_filtering_policy": {},
            },
        )


def whole_milliseconds(date: float) -> int:
    """Return ``date`` (simulated seconds) in milliseconds, rounded up: a call must not come before it was asked for."""
    count = math.ceil(date * MILLISECONDS)
    # The product may be slightly too large for a date that is a whole number of milliseconds.
    return count - 1 if (count - 1) / MILLISECONDS >= date else count


def _positions(mapping: dict[str, int]) -> list[int]:
    try:
        return [mapping[str(executor)] for executor in range(len(mapping))]
    except KeyError as error:
        raise ValueError(f"mapping: executor {error.args[0]} is missing") from None
