"""batprotocol and the messages of protocol 4: each says what the other says, by what a real Batsim 5 said."""

import json
from typing import Any

import pytest

from batkube.batsim import messages as m
from batkube.batsim.batprotocol.batsim_side import BatsimSide
from batkube.batsim.batprotocol.codec import BatprotocolCodec, read_frame
from batkube.batsim.batprotocol.decisions import DecisionWriter, whole_milliseconds
from batkube.batsim.batprotocol.document import complete
from batkube.batsim.batprotocol.events import EventReader
from batkube.batsim.batprotocol.handshake import read_hello, write_init
from batkube.batsim.batprotocol.init_string import Options, read_options, write_init_string
from batkube.batsim.batprotocol.jobs import read_progress, write_progress
from batkube.batsim.batprotocol.memory import Memory
from batkube.batsim.batprotocol.profiles import read_profile, write_profile
from batkube.batsim.batprotocol.text import read_text, write_text
from batkube.batsim.errors import ProtocolError
from batkube.batsim.extra_data import with_extra_data
from tests.batsim.batprotocol_recordings import recordings

NOT_SAID_BY_US = {"Periodic", "StopCallMeLaterEvent", "CreateProbeEvent"}
"""The decisions of the recorded process that batkube has no reason to make."""


class Conversation:
    """A recorded run, heard by the bridge's side and, decision by decision, said again."""

    def __init__(self, name: str) -> None:
        memory = Memory()
        self.reader = EventReader(memory, Options())
        self.writer = DecisionWriter(memory)
        self.batsim = BatsimSide("json", {}, {})
        self.heard: list[m.Message] = []
        self.recorded: list[dict[str, Any]] = []
        self.said: list[dict[str, Any]] = []
        recording = recordings()[name]
        for frame in recording.frames[2:]:
            if frame.from_batsim:
                self.heard.append(self.reader.read(complete(frame.document, strict=True)))
            elif not (recording.refused and frame is recording.frames[-1]):
                document = {**frame.document, "events": [e for e in frame.document["events"] if is_said_by_us(e)]}
                message = self.batsim.decode(write_text(document))
                self.recorded.append(comparable(document))
                self.said.append(comparable(self.writer.write(message)))

    def events(self, kind: type[Any]) -> list[Any]:
        return [event for message in self.heard for event in message.events if isinstance(event, kind)]


def is_said_by_us(event: dict[str, Any]) -> bool:
    return not any(name in str(event) for name in NOT_SAID_BY_US)


def comparable(document: dict[str, Any]) -> dict[str, Any]:
    """With all defaults, calls without their names and their dates in seconds. We always spread over hosts first."""
    document = json.loads(json.dumps(document).replace("FillOneHostCoresFirst", "SpreadOverHostsFirst"))
    document = complete(document, strict=True)
    for event in document["events"]:
        if event["event_type"] == "CallMeLaterEvent":
            when = event["event"]["when"]
            event["event"] = when["time"] / (1000 if when["time_unit"] == "Millisecond" else 1)
    return document


@pytest.mark.parametrize("name", recordings())
def test_decisions_are_said_as_the_recorded_process_said_them(name: str) -> None:
    conversation = Conversation(name)
    assert conversation.said == conversation.recorded


@pytest.mark.parametrize("name", recordings())
def test_dates_ascend_whatever_batsim_says(name: str) -> None:
    for message in Conversation(name).heard:
        dates = [event.timestamp for event in message.events]
        assert dates == sorted(dates)
        assert not dates or dates[-1] <= message.now


def test_nothing_that_was_recorded_is_unknown() -> None:
    for name in recordings():
        assert not Conversation(name).events(m.UnknownEvent)


def test_hosts_are_told_with_their_cores_and_speeds() -> None:
    (simulation_begins,) = Conversation("turn_onoff").events(m.SimulationBegins)
    assert (simulation_begins.data.nb_resources, simulation_begins.data.nb_compute_resources) == (4, 4)
    assert not simulation_begins.data.allow_compute_sharing
    host = simulation_begins.data.compute_resources[0]
    assert (host.id, host.name, host.state, host.cores, host.pstate) == (0, "host0", "idle", 1, 0)
    assert host.speeds[:2] == [100000000.0, 88958990.536277607083]
    assert host.properties["sleep_pstates"] == "13:14:15"
    assert host.properties["role"] == ""
    assert simulation_begins.data.workloads == {"w0": "/SCENARIO/workload.json"}


def test_a_job_is_told_as_by_batsim_4() -> None:
    submitted = {event.data.job_id: event.data for event in Conversation("walltime").events(m.JobSubmitted)}
    assert submitted["w0!10"].job == {"id": "w0!10", "subtime": 0.0, "res": 1, "profile": "d", "walltime": 10.0}
    assert "walltime" not in submitted["w0!none"].job


def test_what_the_user_says_of_a_job_is_in_the_job() -> None:
    job = Conversation("placement").events(m.JobSubmitted)[0].data.job
    assert job["extra_data"] == '{"app":"web"}'
    assert with_extra_data(job)["app"] == "web"


@pytest.mark.parametrize(
    ("raw", "seen"),
    [
        ({"res": 1, "extra_data": {"res": 2, "cpu": 4}}, {"res": 1, "cpu": 4}),
        ({"extra_data": '{"batkube": {"cpu": 2}}'}, {"batkube": {"cpu": 2}}),
        ({"extra_data": "{not JSON"}, {}),
        ({"extra_data": "[1]"}, {}),
        ({"extra_data": [1]}, {}),
        ({"res": 1}, {"res": 1}),
    ],
)
def test_extra_data_counts_as_if_it_stood_beside(raw: dict[str, Any], seen: dict[str, Any]) -> None:
    both = with_extra_data(raw)
    assert {name: value for name, value in both.items() if name != "extra_data"} == seen


def test_profiles_are_told_as_in_workload_files() -> None:
    (simulation_begins,) = Conversation("profiles_forwarded").events(m.SimulationBegins)
    profiles = simulation_begins.data.profiles["w0"]
    assert profiles["delay"] == {"type": "DelayProfile", "delay": 20.2}
    assert profiles["sequence"] == {
        "type": "SequentialCompositionProfile",
        "repeat": 4,
        "seq": ["simple", "homogeneous", "simple"],
    }
    assert profiles["homogeneous_total"]["generation_strategy"] == "DefinedAmountsSpreadUniformly"
    assert profiles["simple_no_com"] == {"type": "ParallelTaskProfile", "cpu": [5e6, 0.0, 0.0, 0.0]}
    submitted = Conversation("profiles_forwarded").events(m.JobSubmitted)
    assert all(event.data.profile == profiles[event.data.job["profile"]] for event in submitted)


def test_completions_have_signed_codes_and_the_hosts_that_we_gave() -> None:
    ended = {event.data.job_id: event.data for event in Conversation("walltime").events(m.JobCompleted)}
    assert (ended["w0!5"].job_state, ended["w0!5"].return_code) == ("COMPLETED_WALLTIME_REACHED", -1)
    assert (ended["w0!10"].alloc, ended["w0!11"].alloc, ended["w0!5"].alloc) == ("0", "1", "2")
    killed = {event.data.job_id: event.data for event in Conversation("kill_running").events(m.JobCompleted)}
    assert [killed[name].return_code for name in ("w0!d", "w0!h")] == [-1, -2]
    assert killed["w0!h"].alloc == "0-1"


def test_progress_counts_as_in_batsim_4() -> None:
    killed = Conversation("kill_running").events(m.JobKilled)
    assert killed[0].data.job_progress == {
        "w0!d": m.LeafProgress(profile_name="delay", progress=0.349998499799),
    }
    assert killed[2].data.job_progress == {
        "w0!s": m.SequenceProgress(
            profile_name="seq",
            current_task_index=1,
            current_task=m.LeafProgress(profile_name="delay5", progress=0.399993999197),
        )
    }


def test_the_progress_of_a_trace_is_not_known() -> None:
    unknown = m.SequenceProgress(profile_name="trace", current_task_index=-1)
    wrapper = write_progress(unknown, "w0", {})
    assert wrapper["kill_progress"] == {"profile_id": "w0!trace", "progress": -1.0}
    assert read_progress(wrapper, "w0", {}) == unknown


def test_external_events_of_the_users_speak_of_hosts_where_they_do() -> None:
    told = [event.data for event in Conversation("external_events").events(m.Notify)]
    assert [data.type for data in told] == [
        "generic",
        "event_machine_unavailable",
        "no_more_external_event_to_occur",
        "no_more_static_job_to_submit",
    ]
    assert told[0].model_extra == {"id": "ee0!1", "data": "some data"}
    assert told[1].resources == "0-1"


def test_an_event_with_a_stale_date_gets_a_true_one() -> None:
    message = next(message for message in Conversation("external_events").heard if message.now == 5.000015002008)
    assert message.events[0].timestamp == 5.000015002008


def test_hosts_that_were_switched_are_told_as_by_batsim_4() -> None:
    told = [event.data for event in Conversation("turn_onoff").events(m.ResourceStateChanged)]
    assert [(data.resources, data.state) for data in told] == [("0-1", "13"), ("2", "1"), ("0-1", "0")]


def test_energy_is_the_answer_to_a_query() -> None:
    joules = [event.data.consumed_energy for event in Conversation("probe").events(m.Answer)]
    assert joules[:2] == pytest.approx([2529.996849578313, 2529.996849578313])


# What no recorded process said


def codec(init: str = "") -> BatprotocolCodec:
    return BatprotocolCodec(write_init(init))


def said(decision: m.Event, talk: BatprotocolCodec | None = None) -> list[dict[str, Any]]:
    """The events that a decision becomes."""
    content = (talk or codec()).encode(m.Message(now=5.0, events=[decision]))
    return list(read_text(content, strict=True)["events"])


def test_a_call_comes_never_before_the_date() -> None:
    assert whole_milliseconds(1.0) == 1000
    assert whole_milliseconds(0.001) == 1
    assert whole_milliseconds(1.0000001) == 1001
    assert whole_milliseconds(4.35) == 4350
    (event,) = said(m.CallMeLater(timestamp=5.0, data=m.CallMeLaterData(timestamp=7.1234)))
    assert event["event"]["when"] == {"time": 7124, "time_unit": "Millisecond"}


def test_dates_of_a_reply_ascend() -> None:
    decisions: list[m.Event] = [
        m.RejectJob(timestamp=date, data=m.RejectJobData(job_id=f"w0!{date:g}")) for date in (4.0, 3.0, 5.0)
    ]
    document = read_text(codec().encode(m.Message(now=5.0, events=decisions)), strict=True)
    assert [event["timestamp"] for event in document["events"]] == [4.0, 4.0, 5.0]


def test_a_mapping_says_the_place_of_each_executor() -> None:
    data = m.ExecuteJobData(job_id="w0!1", alloc="3 1", mapping={"1": 0, "0": 1}, storage_mapping={"pfs": 7})
    (event,) = said(m.ExecuteJob(timestamp=5.0, data=data))
    assert event["event"]["allocation"]["host_allocation"] == "1 3"
    assert event["event"]["allocation"]["executor_placement"] == {"mapping": [1, 0]}
    assert event["event"]["storage_placement"] == [{"storage_name": "pfs", "host_id": 7}]


def test_switching_off_and_changing_speed_are_two_things() -> None:
    memory = Memory(pstates={0: 0, 1: 13, 2: 0}, sleep_pstates={n: frozenset({13}) for n in range(3)})
    writer = DecisionWriter(memory)

    def kinds(resources: str, state: str) -> list[tuple[str, str]]:
        data = m.ResourceStateData(resources=resources, state=state)
        document = writer.write(m.Message(now=0, events=[m.SetResourceState(timestamp=0, data=data)]))
        return [(event["event_type"], event["event"]["host_ids"]) for event in document["events"]]

    assert kinds("0", "13") == [("TurnOnOffHostsEvent", "0")]
    assert kinds("0 2", "1") == [("ChangeHostsPStateEvent", "0 2")]
    assert kinds("0-2", "0") == [("TurnOnOffHostsEvent", "1"), ("ChangeHostsPStateEvent", "0 2")]


def test_a_query_becomes_a_probe_that_measures_once() -> None:
    talk = codec()
    for frame in recordings()["probe"].said(by_batsim=True)[:1]:
        talk.decode(write_text(frame.document))
    query = m.Query(timestamp=5.0, data=m.QueryData(requests={"consumed_energy": {}}))
    (event,) = said(query, talk)
    assert event["event_type"] == "CreateProbeEvent"
    assert event["event"]["resources"] == {"host_ids": "0-3"}
    with pytest.raises(ProtocolError, match="consumed_energy alone, not air_temperature_all"):
        said(m.Query(timestamp=5.0, data=m.QueryData(requests={"air_temperature_all": {}})))


def test_jobs_and_profiles_are_registered_with_what_is_the_users() -> None:
    profile = m.RegisterProfileData(workload_name="d", profile_name="p", profile={"type": "delay", "delay": 4})
    (event,) = said(m.RegisterProfile(timestamp=5.0, data=profile))
    assert event["event"]["profile"] == {"id": "d!p", "profile_type": "DelayProfile", "profile": {"delay": 4.0}}
    raw = {"id": "d!1", "subtime": 5, "res": 2, "profile": "p", "walltime": -1, "labels": {"app": "web"}}
    (event,) = said(m.RegisterJob(timestamp=5.0, data=m.RegisterJobData(job_id="d!1", job=raw)))
    assert event["event"]["job"] == {
        "resource_request": 2,
        "walltime": None,
        "extra_data": '{"labels":{"app":"web"}}',
        "rigid": True,
        "profile_id": "d!p",
    }


@pytest.mark.parametrize(
    ("decision", "error"),
    [
        (m.ToJobMsg(timestamp=5.0, data=m.ToJobMsgData(job_id="w0!1", msg="")), "Batsim 5 knows no such decision"),
        (
            m.Notify(timestamp=5.0, data=m.NotifyData(type="continue_registration")),
            "Batsim 5 cannot be told continue_registration",
        ),
        (
            m.ExecuteJob(timestamp=5.0, data=m.ExecuteJobData(job_id="w0!1", alloc="0", additional_io_job={})),
            "Batsim 5 knows no additional_io_job",
        ),
        (
            m.RegisterProfile(
                timestamp=5.0,
                data=m.RegisterProfileData(workload_name="d", profile_name="p", profile={"type": "send"}),
            ),
            "profile d!p: Batsim 5 has no profiles of type 'send'",
        ),
        (
            m.RegisterProfile(
                timestamp=5.0,
                data=m.RegisterProfileData(
                    workload_name="d", profile_name="p", profile={"type": "delay", "delay": 1, "ret": 3}
                ),
            ),
            "profile p: Batsim 5 takes no return code",
        ),
    ],
)
def test_what_batsim_5_cannot_be_told_is_refused(decision: m.Event, error: str) -> None:
    with pytest.raises(ProtocolError, match=error):
        said(decision)


def test_the_end_can_be_forced() -> None:
    (event,) = said(m.ForceSimulationStop(timestamp=5.0))
    assert (event["event_type"], event["event"]) == ("ForceSimulationStopEvent", {})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"type": "delay", "delay": 3.0}, {"type": "DelayProfile", "delay": 3.0}),
        (
            {"type": "parallel_homogeneous_total", "cpu": 1.0, "com": 2.0},
            {
                "type": "ParallelTaskHomogeneousProfile",
                "cpu": 1.0,
                "com": 2.0,
                "generation_strategy": "DefinedAmountsSpreadUniformly",
            },
        ),
        (
            {"type": "composed", "seq": ["a", "b"], "repeat": 2},
            {"type": "SequentialCompositionProfile", "seq": ["a", "b"], "repeat": 2},
        ),
        (
            {"type": "data_staging", "nb_bytes": 5.0, "from": "a", "to": "b"},
            {"type": "ParallelTaskDataStagingBetweenStoragesProfile", "nb_bytes": 5.0, "from": "a", "to": "b"},
        ),
        (
            {"type": "smpi", "trace": "t.txt"},
            {"type": "TraceReplayProfile", "trace_type": "SMPI", "filename": "t.txt"},
        ),
    ],
)
def test_old_and_new_names_of_profiles_mean_the_same(old: dict[str, Any], new: dict[str, Any]) -> None:
    assert read_profile(write_profile("w0", "p", old)) == new
    assert read_profile(write_profile("w0", "p", new)) == new


def test_the_init_string_says_what_batsim_5_is_not_told() -> None:
    options = Options(form="binary", compute_sharing=True, dynamic_jobs=True)
    init = write_init_string(options)
    assert init == '{"batkube": {"form":"binary","compute_sharing":true,"dynamic_jobs":true}}'
    assert read_options(init) == options
    assert read_options("policy=fcfs") == read_options('{"policy": "fcfs"}') == read_options("{") == Options()
    assert write_init_string(Options()) == ""
    with pytest.raises(ProtocolError, match=r"init string: batkube.form: .*'xml'"):
        codec('{"batkube": {"form": "xml"}}')
    form, hello = read_hello(codec(init).greeting)
    assert form == "binary"
    assert hello["requested_simulation_features"]["dynamic_registration"]


def test_a_frame_is_read_whatever_it_is() -> None:
    for name in ("delays", "delays_binary"):
        for frame in recordings()[name].frames:
            if frame.content:
                assert read_frame(frame.content).keys() == frame.document.keys()


def test_a_completion_of_a_job_that_was_not_started_is_refused() -> None:
    event = {"job_id": "w0!1", "state": "COMPLETED_SUCCESSFULLY"}
    document = {"now": 0, "events": [{"timestamp": 0, "event_type": "JobCompletedEvent", "event": event}]}
    with pytest.raises(ProtocolError, match=r"event 0 \(JobCompletedEvent\): job w0!1 was not started"):
        codec().decode(write_text(document))
