"""batprotocol's two forms, JSON and flatbuffers, held to what a real Batsim 5 said and to the schema."""

import json
from contextlib import suppress
from typing import Any

import pytest
from flatbuffers.builder import Builder
from hypothesis import given, settings
from hypothesis import strategies as st

from batkube.batsim.batprotocol.binary import read_binary, write_binary
from batkube.batsim.batprotocol.document import complete
from batkube.batsim.batprotocol.handshake import is_init, read_hello, read_init, write_hello, write_init
from batkube.batsim.batprotocol.schema import ENUMS, SCALARS, TABLES, UNIONS, Field
from batkube.batsim.batprotocol.text import read_text, write_text, write_text_as_batsim
from batkube.batsim.errors import ProtocolError
from tests.batsim.batprotocol_recordings import recordings

NOT_IN_THE_SCHEMA = {
    "error_execute_no_placement": "executor_placement_type: is missing",
    "error_unknown_event": "event_type: expected one of .*'FooEvent'",
    "error_unknown_field": "RejectJobEvent has no member 'reason'",
}
"""Recorded decisions that Batsim refused since they break the schema, and what we say of them."""


def as_printed(value: Any) -> Any:
    """Tell what Batsim prints in JSON: 12 decimals."""
    match value:
        case float():
            return round(value, 12)
        case dict():
            return {key: as_printed(member) for key, member in value.items()}
        case list():
            return [as_printed(member) for member in value]
        case _:
            return value


@pytest.mark.parametrize("name", recordings())
def test_what_was_said_survives_both_forms(name: str) -> None:
    for frame in recordings()[name].frames[1:]:
        if name in NOT_IN_THE_SCHEMA and frame is recordings()[name].frames[-1]:
            with pytest.raises(ProtocolError, match=NOT_IN_THE_SCHEMA[name]):
                complete(frame.document, strict=True)
            continue
        document = complete(frame.document, strict=True)
        assert read_text(write_text(document), strict=True) == document
        assert read_binary(write_binary(document), strict=True) == document


@pytest.mark.parametrize("name", ["delays_binary", "everything_binary"])
def test_batsims_own_binary_bytes_say_what_its_json_says(name: str) -> None:
    frames = [frame for frame in recordings()[name].frames[2:] if frame.content]
    assert len(frames) > 30
    for frame in frames:
        document = read_binary(frame.content, strict=True)
        said = complete(frame.document, strict=True)
        assert as_printed(document) == as_printed(said)
        assert read_binary(write_binary(document), strict=True) == document


def test_batsims_json_is_spelled_as_batsim_does() -> None:
    frame = recordings()["delays"].said(by_batsim=True)[-1]
    text = write_text_as_batsim(frame.document)
    assert text.endswith(b"\0")
    assert b'"now":37.002066159627,' in text
    assert json.loads(text[:-1]) == frame.document


@pytest.mark.parametrize("name", recordings())
def test_the_recorded_handshakes_are_read(name: str) -> None:
    init, hello = recordings()[name].frames[:2]
    assert is_init(init.content)
    assert read_init(init.content) == init.document["init"]
    assert write_init(init.document["init"]) == init.content
    form, event = read_hello(hello.content)
    assert form == ("binary" if "binary" in name else "json")
    assert event["decision_component_name"].startswith("batkube")
    assert read_hello(write_hello(hello.document, form)) == (form, event)


# Properties: any message that the schema allows, any bytes


def values(field: Field, depth: int) -> st.SearchStrategy[Any]:
    """Tell what a member of a table may be."""
    single = {
        "bool": st.booleans(),
        "uint32": st.integers(0, 2**32 - 1),
        "uint64": st.integers(0, 2**64 - 1),
        "double": st.floats(allow_nan=False, allow_infinity=False),
        "string": st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    }
    if field.type in single:
        one = single[field.type]
    elif field.type in ENUMS:
        one = st.sampled_from(ENUMS[field.type])
    else:
        one = tables(field.type, depth - 1)
    return st.lists(one, max_size=3) if field.many else one


def is_deep(kind: str) -> bool:
    """Tell whether it may hold itself."""
    return kind in ("KillProgressSequentialProfile", "KillProgressForkJoinProfile")


@st.composite
def tables(draw: st.DrawFn, name: str, depth: int = 8) -> dict[str, Any]:
    """A table with any content that the schema allows."""
    content: dict[str, Any] = {}
    for field in TABLES[name]:
        nullable = field.default is None or not (field.type in SCALARS or field.type in ENUMS)
        if (field.many or nullable) and not field.required and draw(st.booleans()):
            if field.default is None:
                content[field.name] = None
            continue
        if field.type in UNIONS:
            kinds = [kind for kind in UNIONS[field.type] if depth > 0 or not is_deep(kind)]
            kind = draw(st.sampled_from(kinds))
            content[f"{field.name}_type"] = kind
            content[field.name] = draw(tables(kind, depth - 1))
        else:
            content[field.name] = draw(values(field, depth))
    return content


@pytest.mark.parametrize("event", UNIONS["Event"])
def test_any_event_survives_both_forms(event: str) -> None:
    @settings(max_examples=25)
    @given(tables(event), st.floats(0, 1e18), st.floats(0, 1e18))
    def survives(content: dict[str, Any], now: float, date: float) -> None:
        events = [{"timestamp": date, "event_type": event, "event": content}]
        document = complete({"now": now, "events": events}, strict=True)
        assert document["events"][0]["event"] == content
        assert read_text(write_text(document), strict=True) == document
        assert read_binary(write_binary(document), strict=True) == document

    survives()


@given(st.binary(max_size=200))
def test_garbage_is_refused_and_nothing_else_happens(content: bytes) -> None:
    for read in (read_text, read_binary, read_hello, read_init):
        with suppress(ProtocolError):
            read(content)


@given(st.data())
def test_bytes_that_were_damaged_are_refused_or_read(data: st.DataObject) -> None:
    frames = recordings()["delays_binary"].frames[2:6]
    content = bytearray(data.draw(st.sampled_from(frames)).content)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] = data.draw(st.integers(0, 255))
    length = data.draw(st.integers(0, len(content)))
    with suppress(ProtocolError):
        read_binary(bytes(content[:length]))


def test_what_is_too_deep_is_refused() -> None:
    inner: dict[str, Any] = {
        "kill_progress_type": "KillProgressAtomicProfile",
        "kill_progress": {"profile_id": "w0!p", "progress": 0.5},
    }
    for _ in range(100):
        fork = {"profile_id": "w0!s", "tasks_progress": [inner]}
        inner = {"kill_progress_type": "KillProgressForkJoinProfile", "kill_progress": fork}
    event = {"job_ids": ["w0!1"], "progresses": [{"job_id": "w0!1", "wrapper": inner}]}
    document = {"now": 0, "events": [{"timestamp": 0, "event_type": "JobsKilledEvent", "event": event}]}
    with pytest.raises(ProtocolError, match="more than 64 objects in one another"):
        read_text(json.dumps(document).encode())


def test_few_bytes_cannot_stand_for_endless_content() -> None:
    """Twenty progresses, each of which has the next one a hundred times, would be read for ever."""
    builder = Builder()
    fork_join = UNIONS["KillProgress"].index("KillProgressForkJoinProfile") + 1

    def table(slots: int, number: int, offsets: dict[int, int]) -> int:
        builder.StartObject(slots)
        builder.PrependUint8Slot(0, number, 0)
        for slot, offset in offsets.items():
            builder.PrependUOffsetTRelativeSlot(slot, offset, 0)
        return int(builder.EndObject())

    def vector(offsets: list[int]) -> int:
        builder.StartVector(4, len(offsets), 4)
        for offset in offsets:
            builder.PrependUOffsetTRelative(offset)
        return int(builder.EndVector())

    name = builder.CreateString("w0!s")
    wrapper = table(2, 0, {})
    for _ in range(20):
        wrapper = table(2, fork_join, {1: table(2, 0, {0: name, 1: vector([wrapper] * 100)})})
    killed = table(3, 0, {0: vector([name]), 1: vector([table(2, 0, {0: name, 1: wrapper})])})
    builder.StartObject(3)
    builder.PrependUint8Slot(1, UNIONS["Event"].index("JobsKilledEvent") + 1, 0)
    builder.PrependUOffsetTRelativeSlot(2, killed, 0)
    event = builder.EndObject()
    builder.Finish(table(2, 0, {1: vector([event])}))
    with pytest.raises(ProtocolError, match="claim to hold far more than that"):
        read_binary(bytes(builder.Output()))


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (b"", "not a message: invalid JSON"),
        (b"[]", r"bad message: the whole: expected an object \(Message\): \[\]"),
        (b'{"now": true}', "bad message: now: expected a number: True"),
        (b'{"now": 1e999}', "not a message: invalid JSON"),
        (b'{"events": [{"event_type": 7, "event": {}}]}', r"events\[0\].event_type: expected one of"),
        (b'{"events": [{"event_type": "RejectJobEvent", "event": {}}]}', r"events\[0\].event.job_id: is missing"),
        (b'{"events": [{"event": {}}]}', r"events\[0\].event_type: is missing"),
    ],
)
def test_an_error_names_the_member(text: bytes, error: str) -> None:
    with pytest.raises(ProtocolError, match=error):
        read_text(text)


def test_an_event_of_a_later_version_passes() -> None:
    text = b'{"now": 3, "more": 1, "events": [{"timestamp": 2, "event_type": "NewEvent", "event": {"a": 1}}]}'
    assert read_text(text) == {"now": 3.0, "events": [{"timestamp": 2.0, "event_type": "NewEvent"}]}
    with pytest.raises(ProtocolError, match=r"expected one of .*NewEvent"):
        read_text(text, strict=True)
