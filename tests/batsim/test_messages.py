"""Messages read from Batsim's bytes and written for it."""

import json
from typing import Any

import pytest

from batkube.batsim import messages as m
from batkube.batsim.codec import decode, encode, encode_as_batsim
from batkube.batsim.errors import ProtocolError
from tests.batsim.transcripts import Scenario, by_name, scenarios


@pytest.mark.parametrize("scenario", scenarios("v3", "v4"), ids=by_name)
def test_what_batsim_sent_is_understood_and_written_back_to_the_byte(scenario: Scenario) -> None:
    for sent, _ in scenario.dialogue:
        message = decode(sent)
        assert not [event for event in message.events if isinstance(event, m.UnknownEvent)]
        assert encode_as_batsim(message) == sent
        assert decode(encode(message)) == message


REFUSED_AS_MESSAGES = {
    "v4/error_empty_string": "not a message: Invalid JSON",
    "v4/error_invalid_json": "not a message: Invalid JSON",
    "v4/error_not_object": "not a message: the whole: Input should be an object: []",
    "v4/error_no_now": "not a message: member 'now': Field required",
    "v4/error_now_string": "not a message: member 'now': Input should be a valid number: '1'",
    "v4/error_no_events": "not a message: member 'events': Field required",
    "v4/error_missing_data": "event 0 (REJECT_JOB): data: Field required",
    "v4/error_missing_timestamp": "event 0 (REJECT_JOB): timestamp: Field required",
    "v4/error_execute_alloc_array": "event 0 (EXECUTE_JOB): data.alloc: Input should be a valid string: [0]",
    "v4/error_execute_missing_alloc": "event 0 (EXECUTE_JOB): data.alloc: Field required",
    "v4/error_execute_id_without_workload": "data.job_id: expected a job identifier, WORKLOAD!NAME: 'a'",
    "v4/error_kill_empty": "event 0 (KILL_JOB): data.job_ids: List should have at least 1 item",
    "v4/error_metadata_quote": "event 0 (SET_JOB_METADATA): data.metadata: must have no double quote",
}
"""Replies in the transcripts that are no messages, with a part of what is said of them."""


@pytest.mark.parametrize("scenario", scenarios("v3", "v4"), ids=by_name)
def test_what_batsim_was_sent_is_understood(scenario: Scenario) -> None:
    for _, reply in scenario.dialogue:
        if scenario.name in REFUSED_AS_MESSAGES and reply != scenario.dialogue[0][1]:
            with pytest.raises(ProtocolError) as refused:
                decode(reply)
            assert REFUSED_AS_MESSAGES[scenario.name] in str(refused.value)
            assert "\n" not in str(refused.value)
        elif reply:
            message = decode(reply)
            assert decode(encode(message)) == message
            assert _said(json.loads(encode(message))) == _said(json.loads(reply))


def _said(message: dict[str, Any]) -> object:
    """Tell what a reply says to Batsim: without the members that it does not know, positions of mappings as numbers."""
    events = [{member: event[member] for member in ("timestamp", "type", "data")} for event in message["events"]]
    for event in events:
        if event["type"] == "EXECUTE_JOB" and "mapping" in event["data"]:
            mapping = {executor: int(position) for executor, position in event["data"]["mapping"].items()}
            event["data"] = event["data"] | {"mapping": mapping}
    return message["now"], events


def test_an_event_of_an_unknown_type_is_kept() -> None:
    text = b'{"now":1.000000,"events":[{"timestamp":1.000000,"type":"FROM_THE_FUTURE","data":{"a":[1,2.500000]}}]}'
    message = decode(text)
    assert message.events == [m.UnknownEvent(timestamp=1.0, type="FROM_THE_FUTURE", data={"a": [1, 2.5]})]
    assert encode_as_batsim(message) == text


def test_members_that_a_later_batsim_adds_are_kept_in_data_and_ignored_elsewhere() -> None:
    text = (
        b'{"now":1,"events":[{"timestamp":1,"type":"JOB_COMPLETED","further":0,"data":'
        b'{"job_id":"w0!a","job_state":"COMPLETED_FAILED","return_code":3,"alloc":"0","watts":7}}],"more":true}'
    )
    (event,) = decode(text).events
    assert isinstance(event, m.JobCompleted)
    assert event.data.model_extra == {"watts": 7}


def test_numbers_for_batsim_are_exact() -> None:
    # Batsim refuses a decision dated after the reply's now: rounding must not change which is larger.
    event = m.CallMeLater(timestamp=4.5e-05, data=m.CallMeLaterData(timestamp=0.1 + 0.2))
    message = m.Message(now=4.5e-05, events=[event])
    assert decode(encode(message)) == message
    assert b"0.30000000000000004" in encode(message)


def test_a_mapping_may_have_its_positions_as_strings() -> None:
    event = '{"timestamp":0,"type":"EXECUTE_JOB","data":{"job_id":"w0!a","alloc":"0","mapping":{"0":"0","1":0}}}'
    (execute,) = decode(f'{{"now":0,"events":[{event}]}}'.encode()).events
    assert isinstance(execute, m.ExecuteJob)
    assert execute.data.mapping == {"0": 0, "1": 0}


@pytest.mark.parametrize(
    ("event", "complaint"),
    [
        ('{"timestamp":0,"type":"JOB_COMPLETED","data":{"job_id":"w0!a"}}', "event 1 (JOB_COMPLETED): data.job_state"),
        (
            '{"timestamp":0,"type":"JOB_SUBMITTED","data":{"job_id":"a!b!c","job":{}}}',
            "event 1 (JOB_SUBMITTED): data.job_id: expected a job identifier, WORKLOAD!NAME: 'a!b!c'",
        ),
        ('{"timestamp":NaN,"type":"REQUESTED_CALL","data":{}}', "event 1 (REQUESTED_CALL): timestamp"),
        ('{"timestamp":0,"data":{}}', "event 1 (no type)"),
        ("17", "event 1 (no object)"),
    ],
)
def test_an_error_names_the_event_and_the_member(event: str, complaint: str) -> None:
    text = f'{{"now":0,"events":[{{"timestamp":0,"type":"REQUESTED_CALL","data":{{}}}},{event}]}}'
    with pytest.raises(ProtocolError) as refused:
        decode(text.encode())
    assert complaint in str(refused.value)


def test_an_error_quotes_no_more_than_a_line() -> None:
    with pytest.raises(ProtocolError) as refused:
        decode(b'{"now":0,"events":"' + b"x" * 10_000 + b'"}')
    assert len(str(refused.value)) < 200
