"""Runs that Batsim refuses: one wrong decision, reply or input each. It aborts; nothing answers."""

from collections.abc import Mapping
from typing import Any

from tests.batsim.recording.decisions import (
    Decision,
    call,
    change_state,
    event,
    execute,
    kill,
    metadata,
    notify,
    query,
    register_job,
    register_profile,
    reject,
    saying,
    set_state,
    with_member,
    without,
)
from tests.batsim.recording.kind import JSON, Kind, composed, delay, homogeneous, job, parallel, workload

GIVEN = workload(
    job("a", 0, "d", walltime=50),
    job("b", 0, "h", 2, walltime=50),
    job("late", 20, "d"),
    h=homogeneous(1e8),
    p2=parallel([1, 1], [0, 0, 0, 0]),
)
DYNAMIC = "--enable-dynamic-jobs"


def _decided(name: str, shows: str, *decisions: Decision, options: str = "") -> Kind:
    """Jobs a and b are waiting when this is said."""
    return Kind(f"error_{name}", shows, GIVEN, {"submitted b": decisions}, options=options)


def _given(name: str, shows: str, content: JSON, **changes: Any) -> Kind:
    return Kind(f"error_input_{name}", shows, content, **changes)


def _file(changes: Mapping[str, object], **profiles: Any) -> JSON:
    """A workload of one job, with members changed; a job's members when they are named ``job.NAME``."""
    content = workload(job("a", 0, "d"), **profiles)
    for name, value in changes.items():
        if name.startswith("job."):
            content["jobs"][0][name.removeprefix("job.")] = value
        else:
            content[name] = value
    return content


def _events(name: str, shows: str, *lines: str) -> Kind:
    text = "".join(f"{line}\n" for line in lines)
    started = [execute("a", "0"), execute("b", "1-2")]
    return Kind(
        f"error_events_{name}", shows, GIVEN, {"submitted b": started}, options="--events e.txt", files={"e.txt": text}
    )


def _host(what: str, resources: str, date: float) -> str:
    return f'{{"type": "machine_{what}", "resources": "{resources}", "timestamp": {date}}}'


DECISIONS = [
    _decided(
        "answer",
        "An ANSWER that nobody asked for: a warning.",
        event("ANSWER", {"estimate_waiting_time": {"job_id": "w0!a", "estimated_waiting_time": 3}}),
    ),
    _decided("call_in_the_past", "A call for a date that is past.", call(0)),
    _decided(
        "change_state_completed",
        "CHANGE_JOB_STATE to a completed state.",
        change_state("a", "RUNNING"),
        change_state("a", "COMPLETED_SUCCESSFULLY"),
    ),
    _decided("change_state_rejected", "CHANGE_JOB_STATE to REJECTED.", change_state("a", "REJECTED")),
    _decided("execute_alloc_array", "alloc as an array.", event("EXECUTE_JOB", {"job_id": "w0!a", "alloc": [0]})),
    _decided("execute_bad_alloc", "alloc that is no interval set.", execute("a", "foo")),
    _decided(
        "execute_bad_mapping_size", "A mapping of fewer executors than res.", execute("b", "0", mapping={"0": "0"})
    ),
    _decided("execute_busy_machine", "A host that computes, without sharing.", execute("a", "0"), execute("b", "0-1")),
    _decided("execute_comma_alloc", "alloc with a comma.", execute("b", "0,1")),
    _decided("execute_empty_alloc", "alloc of no host.", execute("a", "")),
    _decided("execute_extra_field_1", "One member that Batsim does not know: accepted.", execute("a", "0", foo=1)),
    _decided("execute_extra_fields_2", "Two of them.", execute("a", "0", foo=1, bar=2)),
    _decided(
        "execute_id_without_workload",
        "A job without its workload's name.",
        event("EXECUTE_JOB", {"job_id": "a", "alloc": "0"}),
    ),
    _decided(
        "execute_mapping_and_storage",
        "mapping and storage_mapping together.",
        execute("b", "0", mapping={"0": "0", "1": "0"}, storage_mapping={"pfs": 1}),
    ),
    _decided(
        "execute_mapping_out_of_range",
        "A position that alloc does not have.",
        execute("b", "0", mapping={"0": "0", "1": "1"}),
    ),
    _decided("execute_missing_alloc", "No alloc.", event("EXECUTE_JOB", {"job_id": "w0!a"})),
    _decided("execute_not_yet_submitted", "A job whose date has not come.", execute("late", "0")),
    _decided("execute_reversed_interval", "alloc with an interval backwards.", execute("b", "1-0")),
    _decided("execute_same_reply_twice", "A job twice.", execute("a", "0"), execute("a", "1")),
    _decided("execute_too_few_machines", "Fewer hosts than res.", execute("b", "0")),
    _decided("execute_too_many_machines", "More hosts than res.", execute("a", "0-1")),
    _decided("execute_unknown_job", "A job that is not there.", execute("zzz", "0")),
    _decided("execute_unknown_machine", "A host that is not there.", execute("a", "17")),
    _decided("execute_unknown_workload", "A workload that is not there.", execute("w9!a", "0")),
    _decided("execute_rejected", "A job that was rejected.", reject("a"), execute("a", "0")),
    _decided("kill_empty", "A kill of nothing.", event("KILL_JOB", {"job_ids": []})),
    _decided("kill_not_started", "A kill of a waiting job.", kill("a")),
    _decided("kill_unknown", "A kill of a job that is not there.", kill("zz")),
    _decided("kill_rejected", "A kill of a job that was rejected.", reject("a"), kill("a")),
    _decided("metadata_quote", "Metadata with a double quote.", metadata("a", 'say "yes"')),
    _decided("metadata_unknown_job", "Metadata of a job that is not there.", metadata("zz", "x")),
    _decided("notify_unknown", "A NOTIFY that Batsim does not know.", notify("hello")),
    _decided("query_energy_no_energy", "Joules asked for without -E.", query()),
    _decided("query_unknown", "A QUERY that Batsim does not know.", query("temperature")),
    _decided("reject_extra_field", "A further member in REJECT_JOB.", reject("a", reason="no")),
    _decided("reject_twice", "A job refused twice.", reject("a"), reject("a")),
    _decided("reject_running", "A running job refused.", execute("a", "0"), reject("a")),
    _decided("reject_unknown", "A job that is not there, refused.", reject("zz")),
    _decided("set_state_no_energy", "SET_RESOURCE_STATE without -E.", set_state("0", 1)),
    _decided("unknown_event_type", "An event that Batsim does not know.", event("NOP", {})),
    Kind("error_nothing_ever", "Nothing is ever decided: a deadlock.", GIVEN),
    Kind(
        "error_set_state_unknown",
        "A state that the host does not have.",
        workload(job("a", 0, "d")),
        {"submitted a": [set_state("0", 17)]},
        platform="energy",
        options="-E",
    ),
    Kind(
        "error_set_state_busy",
        "A host put to sleep while it computes.",
        workload(job("a", 0, "d")),
        {"submitted a": [execute("a", "0"), set_state("0", 3)]},
        platform="energy",
        options="-E",
    ),
    Kind(
        "error_execute_sleeping",
        "A job on a host that is asleep.",
        workload(job("a", 50, "d")),
        {"begins": [set_state("0", 3)], "submitted a": [execute("a", "0")]},
        platform="energy",
        options="-E",
    ),
    Kind(
        "error_execute_unavailable",
        "A job on a host that is gone.",
        workload(job("a", 5, "d")),
        {"submitted a": [execute("a", "0")]},
        options="--events e.txt",
        files={"e.txt": _host("unavailable", "0", 2) + "\n"},
    ),
    Kind(
        "error_execute_fails_at_submission",
        "A host goes at the very date at which a job comes and is started on it.",
        workload(job("a", 5, "d")),
        {"submitted a": [execute("a", "0")]},
        options="--events e.txt",
        files={"e.txt": _host("unavailable", "0", 5) + "\n"},
    ),
]

REPLIES = [
    _decided("empty_string", "An empty reply.", saying("")),
    _decided("invalid_json", "A reply that is no JSON.", saying('{"now": 1, "events": [')),
    _decided("not_object", "A reply that is an array.", saying("[]")),
    _decided("no_now", "A reply without now.", without("now")),
    _decided("now_string", "now is a text.", with_member("now", "1")),
    _decided("no_events", "A reply without events.", without("events")),
    _decided("missing_data", "An event without data.", reject("a"), without("events.data")),
    _decided("missing_timestamp", "An event without timestamp.", reject("a"), without("events.timestamp")),
    _decided("timestamp_after_now", "An event dated after the reply.", event("REJECT_JOB", {"job_id": "w0!a"}, at=7.0)),
]

REGISTRATIONS = [
    _decided(
        "register_bad_profile_type",
        "A profile of no known type.",
        register_profile("q", {"type": "sleepy", "delay": 1}, "w0"),
        options=DYNAMIC,
    ),
    _decided(
        "register_composed_dynamic",
        "A composed profile.",
        register_profile("q", composed("d", "d"), "w0"),
        register_job("n", "q"),
        execute("n", "3"),
        execute("a", "0"),
        execute("b", "1-2"),
        options=f"{DYNAMIC} --enable-profile-reuse",
    ),
    _decided("register_disabled", "A job without --enable-dynamic-jobs.", register_job("n", "d")),
    _decided("register_existing_job", "A job that is there.", register_job("a", "d"), options=DYNAMIC),
    _decided(
        "register_existing_profile", "A profile that is there.", register_profile("d", delay(1), "w0"), options=DYNAMIC
    ),
    _decided(
        "register_no_subtime", "A job without subtime.", register_job("n", "d", without="subtime"), options=DYNAMIC
    ),
    _decided(
        "register_profile_disabled", "A profile without --enable-dynamic-jobs.", register_profile("n", delay(1), "w0")
    ),
    _decided(
        "register_unknown_profile", "A job of a profile that is not there.", register_job("n", "nope"), options=DYNAMIC
    ),
    _decided(
        "register_unknown_workload",
        "A job of a workload that is not there.",
        register_job("new!a", "d"),
        options=DYNAMIC,
    ),
    _decided(
        "register_unused_profile_gone",
        "A job of a given profile that no given job uses.",
        register_job("n", "p2", res=2),
        options=f"{DYNAMIC} --enable-profile-reuse",
    ),
    _decided(
        "register_after_finished",
        "A job after registration_finished.",
        notify("registration_finished"),
        register_job("n", "d"),
        options=DYNAMIC,
    ),
]

EVENTS = [
    _events("available_not_down", "A host comes that is there.", _host("available", "0", 1)),
    _events(
        "unavailable_twice", "A host goes that is gone.", _host("unavailable", "0", 1), _host("unavailable", "0-1", 2)
    ),
    _events("unknown_machine", "A host that is not there goes.", _host("unavailable", "9", 1)),
    _events(
        "no_resources", "A host goes, and it is not said which.", '{"type": "machine_unavailable", "timestamp": 1}'
    ),
    _events("no_json", "A line that is no JSON.", '{"type": "machine_unavailable", '),
    _events("negative_date", "A date below 0.", _host("unavailable", "0", -1)),
    Kind(
        "external_events_unknown_not_forwarded",
        "An event that Batsim does not know, without --forward-unknown-events.",
        GIVEN,
        options="--events e.txt",
        files={"e.txt": '{"type": "price", "timestamp": 12}\n'},
    ),
]

INPUTS = [
    _given("duplicate_job", "A job's id twice.", workload(job("a", 0, "d"), job("a", 1, "d"))),
    _given("float_res", "res is no whole number.", _file({"job.res": 1.5})),
    _given("id_with_bang", "An id with a '!'.", _file({"job.id": "x!y"})),
    _given("missing_profile", "A profile that is not there.", _file({"job.profile": "x"})),
    _given("mmax_too_big", "--mmax above the number of hosts.", _file({}), options="--mmax 99"),
    _given("no_master", "A platform without a master.", _file({}), platform="orphan"),
    _given("no_nb_res", "nb_res is missing.", {"jobs": [job("a", 0, "d")], "profiles": {"d": delay(10)}}),
    _given("no_subtime", "subtime is missing.", workload({"id": "a", "res": 1, "profile": "d"})),
    _given("no_jobs", "jobs is missing.", {"nb_res": 4, "profiles": {"d": delay(10)}}),
    _given("text_subtime", "subtime is a text.", _file({"job.subtime": "0"})),
    _given("negative_res", "res below 0.", _file({"job.res": -1})),
    _given(
        "parallel_size",
        "A parallel profile of another size than res.",
        _file({"job.profile": "p"}, p=parallel([1, 1], [0, 0, 0, 0])),
    ),
    _given(
        "parallel_matrix",
        "com is not square.",
        _file({"job.profile": "p", "job.res": 2}, p=parallel([1, 1], [0, 0, 0])),
    ),
    _given("unknown_profile_type", "A profile of no known type.", _file({}, d={"type": "spin", "laps": 3})),
    _given("null_walltime", "A walltime of null.", _file({"job.walltime": None})),
    _given("id_with_comma", "An id with a comma.", _file({"job.id": "a,b"})),
    _given("id_with_bracket", "An id with a closing bracket.", _file({"job.id": "a}b"})),
    _given("unused_unknown_type", "A profile of no known type, which no job uses.", _file({}, x={"type": "spin"})),
    _given(
        "unused_missing_element",
        "A sequence that no job uses, with a profile that is not there.",
        _file({}, s=composed("x")),
    ),
    _given("no_com", "cpu alone.", _file({"job.profile": "h"}, h={"type": "parallel_homogeneous", "cpu": 1})),
    _given("no_cpu", "com alone.", _file({"job.profile": "h"}, h={"type": "parallel_homogeneous", "com": 1})),
    _given(
        "parallel_no_com",
        "A parallel profile without com.",
        _file({"job.profile": "p"}, p={"type": "parallel", "cpu": [1]}),
    ),
    _given(
        "pfs_no_bytes",
        "A storage profile without bytes.",
        _file({"job.profile": "s"}, s={"type": "parallel_homogeneous_pfs"}),
    ),
    _given(
        "missing_trace",
        "A trace whose file is not there.",
        _file({"job.profile": "s"}, s={"type": "smpi", "trace": "no.txt"}),
    ),
    _given("zero_delay", "A delay of 0.", _file({}, d=delay(0))),
    _given("zero_walltime", "A walltime of 0.", _file({"job.walltime": 0})),
    _given("negative_walltime", "A walltime of -2.", _file({"job.walltime": -2})),
    _given("negative_flops", "cpu below 0.", _file({"job.profile": "h"}, h=homogeneous(-1))),
    _given("empty_sequence", "A sequence of nothing.", _file({"job.profile": "s"}, s=composed())),
    _given(
        "missing_element",
        "A sequence with a profile that is not there.",
        _file({"job.profile": "s"}, s=composed("d", "x")),
    ),
    _given("zero_repeat", "A sequence repeated 0 times.", _file({"job.profile": "s"}, s=composed("d", repeat=0))),
    Kind(
        "error_input_res_zero",
        "res 0: loads, and cannot be started.",
        _file({"job.res": 0}),
        {"submitted a": [execute("a", "")]},
    ),
    Kind("edge_id_contains_workload_name", "An id that contains the workload's name.", _file({"job.id": "raw0-job"})),
]

KINDS = [*DECISIONS, *REPLIES, *REGISTRATIONS, *EVENTS, *INPUTS]
