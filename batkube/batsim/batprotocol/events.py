"""Batsim 5's events, as the messages of protocol 4 that the bridge knows."""

from collections.abc import Callable
from typing import Any

from pydantic import ValidationError
from pydantic_core import from_json

from batkube.batsim import messages as m
from batkube.batsim.allocation import parse_intervals
from batkube.batsim.batprotocol.document import Document
from batkube.batsim.batprotocol.hosts import read_host, sleep_pstates
from batkube.batsim.batprotocol.init_string import Options
from batkube.batsim.batprotocol.jobs import read_job, read_progress
from batkube.batsim.batprotocol.memory import Memory
from batkube.batsim.batprotocol.profiles import read_profile
from batkube.batsim.errors import ProtocolError
from batkube.batsim.external_events import AVAILABLE, UNAVAILABLE
from batkube.batsim.job_id import split_job_id

_STALE = {"ExternalEventOccurredEvent", "HostsPStateChangedEvent", "HostsTurnedOnOffEvent"}
"""Events with the date of the one told before: Batsim 5.0.0-rc2 forgets to set their date."""


class EventReader:
    """Translates the messages of one simulation. It shares its ``memory`` with the decision writer."""

    def __init__(self, memory: Memory, options: Options, init: str = "") -> None:
        self._memory = memory
        self._options = options
        self._init = init
        self._readers: dict[str, Callable[[float, Any], m.Event]] = {
            "SimulationBeginsEvent": self._simulation_begins,
            "SimulationEndsEvent": lambda date, _: m.SimulationEnds(timestamp=date),
            "JobSubmittedEvent": self._submitted,
            "JobCompletedEvent": self._completed,
            "JobsKilledEvent": self._killed,
            "RequestedCallEvent": self._called,
            "AllStaticJobsHaveBeenSubmittedEvent": lambda date, _: _notify(date, "no_more_static_job_to_submit"),
            "AllStaticExternalEventsHaveBeenInjectedEvent": lambda date, _: _notify(
                date, "no_more_external_event_to_occur"
            ),
            "ExternalEventOccurredEvent": self._external_event,
            "HostsPStateChangedEvent": lambda date, event: self._switched(date, event, event["pstate"]),
            "HostsTurnedOnOffEvent": lambda date, event: self._switched(date, event, event["state"]),
            "ProbeDataEmittedEvent": self._probed,
        }

    def read(self, document: Document) -> m.Message:
        """Return the message in ``document``. Raises ProtocolError, naming the event."""
        now = document["now"]
        events: list[m.Event] = []
        for index, (date, event) in enumerate(_dated(document)):
            kind = event.get("event_type")
            if kind is None:
                raise ProtocolError(f"bad message: event {index}: has no type")
            reader = self._readers.get(kind)
            try:
                if reader is None or "event" not in event:
                    events.append(m.UnknownEvent(timestamp=date, type=kind, data=event.get("event")))
                else:
                    events.append(reader(date, event["event"]))
            except ValidationError as error:
                first = error.errors(include_url=False)[0]
                where = ".".join(map(str, first["loc"]))
                reason = first["msg"].removeprefix("Value error, ")
                raise ProtocolError(f"bad message: event {index} ({kind}): {where}: {reason}") from None
            except ValueError as error:
                raise ProtocolError(f"bad message: event {index} ({kind}): {error}") from None
        return m.Message(now=float(now), events=events)

    def _simulation_begins(self, date: float, event: Document) -> m.SimulationBegins:
        compute = [read_host(host) for host in event.get("computation_hosts", ())]
        storage = [read_host(host) for host in event.get("storage_hosts", ())]
        for host in (*compute, *storage):
            self._memory.pstates[host.id] = host.pstate or 0
            self._memory.sleep_pstates[host.id] = sleep_pstates(host)
        profiles: dict[str, dict[str, Any]] = {}
        for item in event.get("profiles", ()):
            self._learn(item)
            workload, _, name = item["id"].partition("!")
            profiles.setdefault(workload, {})[name] = read_profile(item)
        config = m.Config(
            profiles_forwarded_on_submission=True,
            dynamic_jobs_enabled=self._options.dynamic_jobs,
            dynamic_jobs_acknowledged=self._options.acknowledge_dynamic_jobs,
            profile_reuse_enabled=self._options.profile_reuse,
            sched_config=self._init,
            forward_unknown_events=True,
        )
        data = m.SimulationBeginsData(
            nb_resources=event["host_number"],
            nb_compute_resources=event["computation_host_number"],
            nb_storage_resources=event["storage_host_number"],
            allow_compute_sharing=self._options.compute_sharing,
            names_storages=True,
            config=config,
            compute_resources=compute,
            storage_resources=storage,
            workloads={item["name"]: item["filename"] for item in event.get("workloads", ())},
            profiles=profiles,
        )
        return m.SimulationBegins(timestamp=date, data=data)

    def _submitted(self, date: float, event: Document) -> m.JobSubmitted:
        job_id = event["job_id"]
        split_job_id(job_id)
        profile = None
        if "profile" in event:
            self._learn(event["profile"])
            profile = read_profile(event["profile"])
        job = read_job(job_id, event["job"], event["submission_time"])
        return m.JobSubmitted(timestamp=date, data=m.JobSubmittedData(job_id=job_id, job=job, profile=profile))

    def _completed(self, date: float, event: Document) -> m.JobCompleted:
        job_id = event["job_id"]
        allocation = self._memory.allocations.pop(job_id, None)
        if allocation is None:
            raise ValueError(f"job {job_id} was not started, or has ended already")
        code = event["return_code"]
        data = m.JobCompletedData(
            job_id=job_id,
            job_state=event["state"],
            # Batsim has a signed number and puts it into an unsigned member.
            return_code=code - 2**32 if code >= 2**31 else code,
            alloc=allocation,
        )
        return m.JobCompleted(timestamp=date, data=data)

    def _killed(self, date: float, event: Document) -> m.JobKilled:
        for item in event.get("profiles", ()):
            self._learn(item)
        progress = {}
        for item in event["progresses"]:
            workload, _ = split_job_id(item["job_id"])
            progress[item["job_id"]] = read_progress(item["wrapper"], workload, self._memory.sequence_lengths)
        data = m.JobKilledData(job_ids=event["job_ids"], job_progress=progress)
        return m.JobKilled(timestamp=date, data=data)

    def _called(self, date: float, event: Document) -> m.RequestedCall:
        return m.RequestedCall(timestamp=date, data=m.NoData.model_validate(event))

    def _external_event(self, date: float, event: Document) -> m.Notify:
        said = event.get("external_event", {}).get("data", "")
        content = _object(said)
        kind = content.get("type")
        if kind in (UNAVAILABLE, AVAILABLE) and (hosts := content.get("resources")) is not None:
            try:
                parse_intervals(hosts)
            except (TypeError, ValueError) as error:
                raise ValueError(f"{event['id']}: resources: {error}") from None
            return _notify(date, f"event_{kind}", resources=hosts)
        # Forwarded as Batsim 4 forwards the user's own events.
        named = content if isinstance(kind, str) else {"type": "generic", "data": said}
        return m.Notify(timestamp=date, data=m.NotifyData.model_validate({"id": event["id"], **named}))

    def _switched(self, date: float, event: Document, pstate: int) -> m.ResourceStateChanged:
        for number in parse_intervals(event["host_ids"]):
            self._memory.pstates[number] = pstate
        data = m.ResourceStateData(resources=event["host_ids"], state=str(pstate))
        return m.ResourceStateChanged(timestamp=date, data=data)

    def _probed(self, date: float, event: Document) -> m.Event:
        """Return the answer to a QUERY: the energy of all hosts together."""
        content = event.get("data", {}).get("data")
        joules = sum(content) if isinstance(content, list) else content
        return m.Answer(timestamp=date, data=m.AnswerData(consumed_energy=joules))

    def _learn(self, profile: Document) -> None:
        if profile["profile_type"] == "SequentialCompositionProfile":
            self._memory.sequence_lengths[profile["id"]] = len(profile["profile"]["profile_ids"]) or 1


def _dated(document: Document) -> list[tuple[float, Document]]:
    """Return the events with their dates; an event with a wrong date gets that of the next one."""
    later = document["now"]
    dated: list[tuple[float, Document]] = []
    for event in reversed(document.get("events", [])):
        date = later if event.get("event_type") in _STALE else min(event["timestamp"], later)
        dated.append((date, event))
        later = date
    return dated[::-1]


def _notify(date: float, kind: str, resources: str | None = None) -> m.Notify:
    return m.Notify(timestamp=date, data=m.NotifyData(type=kind, resources=resources))


def _object(text: str) -> dict[str, Any]:
    """Return the content of ``text`` if that is a JSON object, else an empty one."""
    if not text.lstrip().startswith("{"):
        return {}
    try:
        content = from_json(text)
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}
