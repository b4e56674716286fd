"""Batsim's side of the translation, for a simulator that speaks batprotocol: events out, decisions in."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from batkube.batsim import messages as m
from batkube.batsim.batprotocol.document import Document
from batkube.batsim.batprotocol.form import read_document, write_document
from batkube.batsim.batprotocol.hosts import write_host
from batkube.batsim.batprotocol.init_string import Form
from batkube.batsim.batprotocol.jobs import write_job, write_progress
from batkube.batsim.batprotocol.profiles import full_name, local_name, read_profile, write_profile
from batkube.batsim.batprotocol.text import write_text_as_batsim
from batkube.batsim.errors import ProtocolError
from batkube.batsim.extra_data import FIELD as EXTRA_DATA
from batkube.batsim.job_id import split_job_id

JSON = dict[str, Any]
Profiles = Mapping[str, Mapping[str, JSON]]

VERSION = "5.0.0"
_UNITS = {"Second": 1, "Millisecond": 1000}


class BatsimSide:
    """Turns a simulator's messages into bytes of batprotocol, and the answers into its decisions.

    ``features``: those that the EDCHelloEvent requests. ``profiles``: as SIMULATION_BEGINS has them.
    """

    def __init__(self, form: Form, features: Mapping[str, bool], profiles: Profiles) -> None:
        self._form = form
        self._features = features
        self._profiles = {
            full_name(name, workload): (workload, name, raw)
            for workload, named in profiles.items()
            for name, raw in named.items()
        }
        self._sequence_lengths = {
            profile_id: len(raw["seq"]) for profile_id, (_, _, raw) in self._profiles.items() if "seq" in raw
        }
        self._calls: list[tuple[float, str]] = []
        """Dates and names of the calls that were asked for."""

    # Messages of the simulator

    def encode(self, message: m.Message) -> bytes:
        """Return ``message`` in Batsim 5's words. Events that Batsim 5 does not have are left out."""
        events = []
        for event in message.events:
            kind, content = self._event(event)
            if kind is not None:
                events.append({"timestamp": event.timestamp, "event_type": kind, "event": content})
        document = {"now": message.now, "events": events}
        return write_text_as_batsim(document) if self._form == "json" else write_document(document, "binary")

    def _event(self, event: m.Event) -> tuple[str | None, Document]:
        match event:
            case m.SimulationBegins():
                return "SimulationBeginsEvent", self._simulation_begins(event.data)
            case m.SimulationEnds():
                return "SimulationEndsEvent", {}
            case m.JobSubmitted():
                return "JobSubmittedEvent", self._submitted(event.data)
            case m.JobCompleted():
                code = event.data.return_code % 2**32
                content = {"job_id": event.data.job_id, "state": event.data.job_state, "return_code": code}
                return "JobCompletedEvent", content
            case m.JobKilled():
                return "JobsKilledEvent", self._killed(event.data)
            case m.RequestedCall():
                return "RequestedCallEvent", {"call_me_later_id": self._due_call(event.timestamp)}
            case m.ResourceStateChanged():
                content = {"host_ids": event.data.resources, "state": int(event.data.state)}
                return "HostsTurnedOnOffEvent", content
            case m.Notify():
                return _notice(event.data)
            case _:
                return None, {}

    def _simulation_begins(self, data: m.SimulationBeginsData) -> Document:
        content: Document = {
            "host_number": data.nb_resources,
            "computation_host_number": data.nb_compute_resources,
            "computation_hosts": [write_host(host) for host in data.compute_resources],
            "storage_host_number": data.nb_storage_resources,
            "storage_hosts": [write_host(host) for host in data.storage_resources],
            "batsim_arguments": [],
            "batsim_execution_context_json": "{}",
            "workloads": [
                {"name": name, "filename": str(Path(path).absolute())} for name, path in data.workloads.items()
            ],
            "profiles": [],
            "external_events": [],
            "batsim_version": VERSION,
            "batsim_commit": "",
        }
        if self._features.get("forward_profiles_on_simulation_begins"):
            content["profiles"] = [self._profile(profile_id) for profile_id in self._profiles]
        return content

    def _submitted(self, data: m.JobSubmittedData) -> Document:
        # Of the user's own fields Batsim 5 forwards only extra_data.
        kept = {"id", "subtime", "res", "profile", "walltime", EXTRA_DATA}
        job = write_job(data.job_id, {name: value for name, value in data.job.items() if name in kept})
        content: Document = {"job_id": data.job_id, "job": job, "submission_time": data.job["subtime"]}
        if self._features.get("forward_profiles_on_job_submission"):
            content["profile"] = self._profile(job["profile_id"])
        return content

    def _killed(self, data: m.JobKilledData) -> Document:
        progresses: list[Document] = []
        for job_id, progress in data.job_progress.items():
            workload, _ = split_job_id(job_id)
            wrapper = write_progress(progress, workload, self._sequence_lengths)
            progresses.append({"job_id": job_id, "wrapper": wrapper})
        content: Document = {"job_ids": data.job_ids, "progresses": progresses}
        if self._features.get("forward_profiles_on_jobs_killed"):
            ids = dict.fromkeys(item["wrapper"]["kill_progress"]["profile_id"] for item in progresses)
            content["profiles"] = [self._profile(profile_id) for profile_id in ids]
        return content

    def _profile(self, profile_id: str) -> Document:
        return write_profile(*self._profiles[profile_id])

    def _due_call(self, now: float) -> str:
        """Take off the call that is due, the earliest one, and return its name."""
        self._calls.sort(key=lambda call: call[0])
        return self._calls.pop(0)[1] if self._calls else ""

    # Answers of the decision process

    def decode(self, content: bytes) -> m.Message:
        """Return the decisions in ``content``, read as strictly as Batsim does. Raises ProtocolError."""
        document = read_document(content, self._form, strict=True)
        events: list[m.Event] = []
        earliest = 0.0
        for index, event in enumerate(document.get("events", [])):
            kind, date = event.get("event_type"), event["timestamp"]
            if date < earliest:
                raise ProtocolError(f"bad message: event {index} ({kind}): timestamp {date} is before {earliest}")
            earliest = date
            try:
                events += self._decisions(date, str(kind), event.get("event", {}))
            except ValidationError as error:
                first = error.errors(include_url=False)[0]
                where = ".".join(map(str, first["loc"]))
                raise ProtocolError(f"bad message: event {index} ({kind}): {where}: {first['msg']}") from None
            except ValueError as error:
                raise ProtocolError(f"bad message: event {index} ({kind}): {error}") from None
        return m.Message(now=float(document["now"]), events=events)

    def _decisions(self, date: float, kind: str, event: Document) -> list[m.Event]:
        match kind:
            case "ExecuteJobEvent":
                return [m.ExecuteJob(timestamp=date, data=_execution(event))]
            case "RejectJobEvent":
                return [m.RejectJob(timestamp=date, data=m.RejectJobData(job_id=event["job_id"]))]
            case "KillJobsEvent":
                return [m.KillJob(timestamp=date, data=m.KillJobData(job_ids=event["job_ids"]))]
            case "CallMeLaterEvent":
                return [m.CallMeLater(timestamp=date, data=m.CallMeLaterData(timestamp=self._call(event)))]
            case "RegisterProfileEvent":
                return [m.RegisterProfile(timestamp=date, data=self._registered_profile(event["profile"]))]
            case "RegisterJobEvent":
                return [m.RegisterJob(timestamp=date, data=_registered_job(event, date))]
            case "FinishRegistrationEvent":
                return [m.Notify(timestamp=date, data=m.NotifyData(type="registration_finished"))]
            case "TurnOnOffHostsEvent" | "ChangeHostsPStateEvent":
                state = str(event.get("state", event.get("pstate")))
                data = m.ResourceStateData(resources=event["host_ids"], state=state)
                return [m.SetResourceState(timestamp=date, data=data)]
            case "CreateProbeEvent":
                return [m.Query(timestamp=date, data=m.QueryData(requests={"consumed_energy": {}}))]
            case "ForceSimulationStopEvent":
                return [m.ForceSimulationStop(timestamp=date)]
            case _:
                raise ValueError("is no decision that the built-in simulator knows")

    def _call(self, event: Document) -> float:
        if event["when_type"] != "OneShot":
            raise ValueError("the built-in simulator knows no periodic calls")
        date: float = event["when"]["time"] / _UNITS[event["when"]["time_unit"]]
        self._calls.append((date, event["call_me_later_id"]))
        return date

    def _registered_profile(self, profile: Document) -> m.RegisterProfileData:
        workload, _, name = profile["id"].partition("!")
        raw = read_profile(profile)
        self._profiles[profile["id"]] = (workload, name, raw)
        return m.RegisterProfileData(workload_name=workload, profile_name=name, profile=raw)


def _execution(event: Document) -> m.ExecuteJobData:
    allocation = event["allocation"]
    data = m.ExecuteJobData(job_id=event["job_id"], alloc=allocation["host_allocation"])
    if event.get("profile_allocation_override"):
        raise ValueError("the built-in simulator knows no profile_allocation_override")
    if allocation["executor_placement_type"] == "CustomExecutorToHostMapping":
        mapping = allocation["executor_placement"].get("mapping", [])
        data.mapping = {str(executor): position for executor, position in enumerate(mapping)}
    if "storage_placement" in event:
        data.storage_mapping = {item["storage_name"]: item["host_id"] for item in event["storage_placement"]}
    return data


def _registered_job(event: Document, date: float) -> m.RegisterJobData:
    job_id, job = event["job_id"], event["job"]
    workload, _ = split_job_id(job_id)
    raw: JSON = {
        "id": job_id,
        "subtime": date,
        "res": job["resource_request"],
        "profile": local_name(job.get("profile_id", ""), workload),
    }
    for name in ("walltime", EXTRA_DATA):
        if job.get(name) is not None:
            raw[name] = job[name]
    return m.RegisterJobData(job_id=job_id, job=raw)


def _notice(data: m.NotifyData) -> tuple[str | None, Document]:
    match data.type:
        case "no_more_static_job_to_submit":
            return "AllStaticJobsHaveBeenSubmittedEvent", {}
        case "no_more_external_event_to_occur":
            return "AllStaticExternalEventsHaveBeenInjectedEvent", {}
        case _:
            return "ExternalEventOccurredEvent", _external_event(data)


def _external_event(data: m.NotifyData) -> Document:
    """Return an external event: Batsim 5 knows generic events only, each with a text."""
    extra = data.model_extra or {}
    content = {"data": str(extra.get("data", ""))}
    return {
        "id": str(extra.get("id", "ee0!0")),
        "external_event_type": "GenericExternalEvent",
        "external_event": content,
    }
