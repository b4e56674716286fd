"""Files of external events."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batkube.batsim.external_events import ExternalEventError, check_external_events, read_external_events
from batkube.batsim.unstable_sort import unstable_sort
from tests.batsim.transcripts import DATASETS, needs_datasets, scenario


def test_events_are_read_in_order_of_their_dates(tmp_path: Path) -> None:
    path = tmp_path / "events.txt"
    path.write_text(
        '{"type": "machine_available", "resources": "0-1", "timestamp": 40}\n\n'
        '{"type": "machine_unavailable", "resources": "1 0", "timestamp": 10.5}\n'
    )
    events = read_external_events(path)
    assert [(event.timestamp, event.type, event.hosts) for event in events] == [
        (10.5, "machine_unavailable", (0, 1)),
        (40.0, "machine_available", (0, 1)),
    ]


def test_the_events_of_the_transcripts_are_read() -> None:
    folder = scenario("v4/external_events_generic").folder
    assert len(read_external_events(folder / "outages.txt")) == 5
    generic = read_external_events(folder / "other.txt", keep_unknown=True)
    assert {event.type for event in generic} == {"price", "weather"}


@needs_datasets
def test_generic_events_are_read_when_unknown_ones_are_wanted() -> None:
    for path in sorted((DATASETS / "batsim" / "events").iterdir()):
        events = read_external_events(path, keep_unknown=True)
        assert [event.raw["data"] for event in events] == [f"some data {event.timestamp}" for event in events]


REFUSED = {
    "error_events_negative_date": "line 1: timestamp: expected seconds not below 0, not -1",
    "error_events_no_json": "line 1: column 33: not JSON",
    "error_events_no_resources": "line 1: resources: expected an interval set",
    "external_events_unknown_not_forwarded": "line 1: type: expected machine_unavailable or machine_available",
}
REFUSED_BY_THE_PLATFORM = {
    "error_events_available_not_down": "at 1: hosts 0 are available already",
    "error_events_unavailable_twice": "at 2: hosts 0 are unavailable already",
    "error_events_unknown_machine": "at 1: there is no host 9 among 4",
}


@pytest.mark.parametrize("kind", REFUSED | REFUSED_BY_THE_PLATFORM)
def test_what_batsim_aborts_on_is_refused(kind: str) -> None:
    folder = scenario(f"v4/{kind}").folder
    complaint = (REFUSED | REFUSED_BY_THE_PLATFORM)[kind]
    with pytest.raises(ExternalEventError) as refused:
        check_external_events(read_external_events(folder / "e.txt"), nb_hosts=4)
    assert complaint in str(refused.value)


def test_an_event_of_the_users_must_have_resources_as_a_text_if_any(tmp_path: Path) -> None:
    path = tmp_path / "events.txt"
    path.write_text('{"type": "mine", "timestamp": 0, "resources": [1]}')
    with pytest.raises(ExternalEventError, match=r"line 1: resources: expected a text, not \[1\]"):
        read_external_events(path, keep_unknown=True)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('{"type": "generic", "timestamp": 1}', "type: expected machine_unavailable or machine_available"),
        ('{"type": "machine_available", "timestamp": -1, "resources": "0"}', "timestamp: expected seconds"),
        ('{"type": "machine_available", "timestamp": true, "resources": "0"}', "timestamp: expected seconds"),
        ('{"type": "machine_available", "timestamp": 1}', "resources: expected an interval set"),
        ('{"type": "machine_available", "timestamp": 1, "resources": "0,1"}', "resources: '0,1' is not an interval"),
        ('{"type": "machine_available", "timestamp": 1, "resources": ""}', "resources: names no host"),
        ('{"timestamp": 1, "resources": "0"}', "type: expected the name of an event, not None"),
        ("[1]", "expected an object, not [1]"),
        ("{", "column 2: not JSON"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: str, complaint: str) -> None:
    path = tmp_path / "events.txt"
    path.write_text(f'{{"type": "machine_unavailable", "resources": "0", "timestamp": 0}}\n{line}\n')
    with pytest.raises(ExternalEventError) as refused:
        read_external_events(path)
    assert str(refused.value).startswith(f"{path}: line 2: {complaint}")


def test_many_events_of_one_date_are_in_the_order_of_the_cpp_library() -> None:
    # What std::sort makes of these keys, by place.
    keys = [4, 2, 3, 3, 4, 6, 2, 6, 6, 3, 1, 1, 6, 6, 1, 2, 6, 2, 3]
    order = [14, 11, 10, 1, 17, 15, 6, 18, 9, 3, 2, 4, 0, 8, 7, 5, 12, 13, 16]
    assert unstable_sort(range(len(keys)), keys.__getitem__) == order


def test_up_to_16_events_of_one_date_keep_their_order() -> None:
    assert unstable_sort(range(16), lambda number: 0) == list(range(16))


@given(st.lists(st.integers(0, 9)))
def test_however_many_events_are_sorted(keys: list[int]) -> None:
    assert unstable_sort(keys, lambda key: key) == sorted(keys)
