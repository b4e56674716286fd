"""Files of external events."""

from pathlib import Path

import pytest

from batkube.batsim.external_events import ExternalEventError, read_external_events
from tests.batsim.transcripts import DATASETS, TRANSCRIPTS, needs_datasets, needs_transcripts


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


@needs_transcripts
def test_the_events_of_the_transcripts_are_read() -> None:
    folder = TRANSCRIPTS / "v4" / "external_events_generic"
    assert len(read_external_events(folder / "test_events_4hosts.txt")) == 5
    generic = read_external_events(folder / "generic.txt", keep_unknown=True)
    assert {event.type for event in generic} == {"other", "some_generic_event"}


@needs_datasets
def test_generic_events_are_read_when_unknown_ones_are_wanted() -> None:
    for path in sorted((DATASETS / "batsim" / "events").iterdir()):
        events = read_external_events(path, keep_unknown=True)
        assert [event.raw["data"] for event in events] == [f"some data {event.timestamp}" for event in events]


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
        ("{", "line 1, column 2: not JSON"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: str, complaint: str) -> None:
    path = tmp_path / "events.txt"
    path.write_text(f'{{"type": "machine_unavailable", "resources": "0", "timestamp": 0}}\n{line}\n')
    with pytest.raises(ExternalEventError) as refused:
        read_external_events(path)
    assert str(refused.value).startswith(f"{path}: line 2: {complaint}")
