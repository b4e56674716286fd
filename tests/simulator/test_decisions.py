"""Decisions on which Batsim aborts are refused, in words that name the event and the reason."""

import re
from typing import Any

import pytest

from batkube.batsim import messages as m
from batkube.batsim.errors import SimulatorError
from batkube.simulator.conversation.errors import InvalidDecision
from tests.batsim.transcripts import Scenario, by_name, scenarios
from tests.simulator.cluster import Game, job, workload
from tests.simulator.replay import replay

REFUSED = {
    "dynamic_continue_same_reply": "event 2 (REGISTER_PROFILE): registration_finished has been said",
    "dynamic_profile_gc": "event 0 (REGISTER_JOB): job w0!x1: profile 'd' existed and was forgotten",
    "error_execute_bad_alloc": "event 0 (EXECUTE_JOB): job w0!a: alloc: 'foo' is not an interval",
    "error_execute_bad_mapping_size": "event 0 (EXECUTE_JOB): job w0!b: mapping: expected 2 executors, not 1",
    "error_execute_busy_machine": "is busy with w0!a",
    "error_execute_comma_alloc": "event 0 (EXECUTE_JOB): job w0!b: alloc: '0,1' is not an interval",
    "error_execute_empty_alloc": "event 0 (EXECUTE_JOB): job w0!a: alloc: names no host",
    "error_execute_extra_fields_2": "event 0 (EXECUTE_JOB): job w0!a: Batsim takes one further member at most",
    "error_execute_mapping_and_storage": "job w0!b: Batsim takes one further member at most, not mapping and storage",
    "error_execute_mapping_out_of_range": "job w0!b: mapping: executor 1: there is no position 1 in alloc",
    "error_execute_not_yet_submitted": "event 0 (EXECUTE_JOB): job w0!late has not been submitted yet",
    "error_execute_reversed_interval": "event 0 (EXECUTE_JOB): job w0!b: alloc: '1-0' is not an interval",
    "error_execute_rejected": "event 1 (EXECUTE_JOB): job w0!a was rejected",
    "error_execute_same_reply_twice": "event 1 (EXECUTE_JOB): job w0!a was started already",
    "error_execute_too_few_machines": "event 0 (EXECUTE_JOB): job w0!b: alloc: expected 2 hosts or a mapping, not 1",
    "error_execute_too_many_machines": "event 0 (EXECUTE_JOB): job w0!a: alloc: expected 1 hosts or a mapping, not 2",
    "error_execute_fails_at_submission": "event 0 (EXECUTE_JOB): job w0!a: host 0 (Birch) is unavailable",
    "error_execute_unavailable": "event 0 (EXECUTE_JOB): job w0!a: host 0 (Birch) is unavailable",
    "error_external_events_at_once": "event 0 (EXECUTE_JOB): job w0!2: host 1 (alder10) is unavailable",
    "error_execute_unknown_job": "event 0 (EXECUTE_JOB): there is no job w0!zzz",
    "error_execute_unknown_machine": "event 0 (EXECUTE_JOB): job w0!a: there is no host 17: hosts are numbered 0 to 3",
    "error_execute_unknown_workload": "event 0 (EXECUTE_JOB): there is no job w9!a",
    "error_input_res_zero": "event 0 (EXECUTE_JOB): job w0!a: alloc: names no host",
    "error_kill_not_started": "event 0 (KILL_JOB): job w0!a has not been started",
    "error_kill_rejected": "event 1 (KILL_JOB): job w0!a was rejected",
    "error_kill_unknown": "event 0 (KILL_JOB): there is no job w0!zz",
    "error_metadata_unknown_job": "event 0 (SET_JOB_METADATA): there is no job w0!zz",
    "error_notify_unknown": "event 0 (NOTIFY): type: expected registration_finished or continue_registration",
    "error_query_energy_no_energy": "event 0 (QUERY): energy is not simulated",
    "error_query_unknown": "event 0 (QUERY): requests: expected",
    "error_register_bad_profile_type": "event 0 (REGISTER_PROFILE): profile 'q': type: 'sleepy' is no profile type",
    "error_register_composed_dynamic": "event 0 (REGISTER_PROFILE): profile 'q': Batsim crashes on a composed profile",
    "error_register_disabled": "event 0 (REGISTER_JOB): dynamic jobs are not enabled",
    "error_register_existing_job": "event 0 (REGISTER_JOB): job w0!a exists already",
    "error_register_existing_profile": "event 0 (REGISTER_PROFILE): workload w0 has a profile 'd' already",
    "error_register_no_subtime": "event 0 (REGISTER_JOB): job w0!n: subtime: missing",
    "error_register_profile_disabled": "event 0 (REGISTER_PROFILE): dynamic jobs are not enabled",
    "error_register_unknown_profile": "event 0 (REGISTER_JOB): job w0!n: workload w0 has no profile 'nope'",
    "error_register_unknown_workload": "event 0 (REGISTER_JOB): job new!a: there is no workload new",
    "error_register_unused_profile_gone": "event 0 (REGISTER_JOB): job w0!n: profile 'p2' existed and was forgotten",
    "error_reject_extra_field": "event 0 (REJECT_JOB): Batsim aborts on other members than job_id: reason",
    "error_reject_running": "event 1 (REJECT_JOB): job w0!a was started already",
    "error_reject_twice": "event 1 (REJECT_JOB): job w0!a was rejected",
    "error_reject_unknown": "event 0 (REJECT_JOB): there is no job w0!zz",
    "error_execute_sleeping": "event 0 (",
    "error_set_state_busy": "event 1 (SET_RESOURCE_STATE): ",
    "error_set_state_unknown": "event 0 (SET_RESOURCE_STATE): ",
    "error_set_state_no_energy": "event 0 (SET_RESOURCE_STATE): energy is not simulated",
    "error_unknown_event_type": "event 0 (NOP): is no decision that the embedded simulator knows",
    "change_job_state_completed_abort": "event 0 (CHANGE_JOB_STATE): is no decision",
    "change_job_state_failed": "event 0 (CHANGE_JOB_STATE): is no decision",
    "error_change_state_completed": "event 1 (CHANGE_JOB_STATE): is no decision",
    "error_change_state_rejected": "event 0 (CHANGE_JOB_STATE): is no decision",
}
"""Runs in which a decision made Batsim abort, and what we say of it. Replies that are no messages, and inputs that are
refused, have tests of their own."""


@pytest.mark.parametrize("scenario", [s for s in scenarios("v4") if s.folder.name in REFUSED], ids=by_name)
def test_what_made_batsim_abort_is_refused(scenario: Scenario) -> None:
    assert scenario.exit_code != 0
    with pytest.raises(SimulatorError) as refused:
        replay(scenario)
    assert isinstance(refused.value, InvalidDecision)
    assert REFUSED[scenario.folder.name] in str(refused.value)
    assert "\n" not in str(refused.value)


def test_all_refusals_of_the_transcripts_are_here() -> None:
    elsewhere = {
        # Replies that are no messages: test_messages.
        *("error_empty_string", "error_invalid_json", "error_not_object", "error_no_now", "error_now_string"),
        *("error_no_events", "error_missing_data", "error_missing_timestamp", "error_execute_alloc_array"),
        *("error_execute_missing_alloc", "error_execute_id_without_workload", "error_kill_empty"),
        "error_metadata_quote",
        # Below, since a replay would leave them out or see no fault: dates are ideal here.
        *("call_me_later_tiny", "error_call_in_the_past", "edge_events_after_end", "kill_completed"),
        *("kill_just_completed", "edge_kill_after_completion_delivered", "error_call_behind_decisions"),
        "error_timestamp_after_now",
    }
    aborted = {s.folder.name for s in scenarios("v4") if s.exit_code != 0 and not s.shared}
    inputs = {name for name in aborted if name.startswith(("error_input", "error_events"))} - REFUSED.keys()
    inputs |= {"edge_id_contains_workload_name", "external_events_unknown_not_forwarded"}
    assert aborted == REFUSED.keys() | elsewhere | inputs


def refusal(game: Game, *decisions: m.Event) -> str:
    with pytest.raises(InvalidDecision) as refused:
        game.say(*decisions)
    return str(refused.value).removeprefix("invalid decision: ")


@pytest.mark.parametrize("ahead", [-1.0, 0.0, 1e-7])
def test_a_call_must_be_in_the_future(ahead: float) -> None:
    game = Game(workload(job("a", 5)))
    game.then()
    assert refusal(game, game.call(5 + ahead)) == f"event 0 (CALL_ME_LATER): timestamp {5 + ahead} is not in the future"


def test_a_job_whose_completion_was_told_cannot_be_killed() -> None:
    game = Game(workload(job("a"), job("b", 20)))
    game.then()
    game.then(game.execute("a", "0"))
    complaint = "event 1 (KILL_JOB): job w0!a has completed, and its completion was told"
    assert refusal(game, game.call(30), game.kill("a")) == complaint


def test_the_last_message_takes_no_decision() -> None:
    game = Game(workload(job("a")))
    game.then()
    game.then(game.reject("a"))
    assert refusal(game, game.call(1000)) == "CALL_ME_LATER in the answer to SIMULATION_ENDS, which takes none"


@pytest.mark.parametrize(
    ("how", "complaint"),
    [
        (lambda game: game.execute("a", "0-1"), "job w0!a: alloc: expected 1 hosts or a mapping, not 2"),
        (lambda game: game.execute("a", "0", mapping={"1": 0}), "job w0!a: mapping: executor 0 is missing"),
        (lambda game: game.execute("a", "0", mapping={"0": -1}), "mapping: executor 0: there is no position -1"),
        (lambda game: game.execute("late", "0"), "job w0!late has not been submitted yet"),
        (lambda game: game.reject("late"), "job w0!late has not been submitted yet"),
        (lambda game: game.kill("a"), "job w0!a has not been started"),
        (
            lambda game: game.execute("a", "0", additional_io_job={"alloc": "0-9"}),
            "job w0!a: additional_io_job: there is no host 9",
        ),
        (
            lambda game: game.execute(
                "a",
                "0",
                additional_io_job={"alloc": "0", "profile_name": "x", "profile": {"type": "delay", "delay": 1}},
            ),
            "job w0!a: additional_io_job: profile: expected a parallel one, not 'delay'",
        ),
        (lambda game: game.execute("disk", "0"), "job w0!disk: storage_mapping: says nothing of 'pfs'"),
        (lambda game: game.execute("net", "0-1"), "the platform has no route from 'h00' to 'h01'"),
    ],
)
def test_wrong_decisions(how: Any, complaint: str) -> None:
    profiles = {
        "read": {"type": "parallel_homogeneous_pfs", "bytes_to_read": 1},
        "talk": {"type": "parallel_homogeneous", "cpu": 0, "com": 1},
    }
    jobs = [job("a"), job("disk", profile="read"), job("net", profile="talk", res=2), job("late", 50)]
    game = Game(workload(*jobs, **profiles))
    game.then()
    assert re.search(r"^event 0 \([A-Z_]+\): ", text := refusal(game, how(game)))
    assert complaint in text
