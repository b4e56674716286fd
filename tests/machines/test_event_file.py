"""Events of machines in YAML: dates, selectors, and what is wrong, by line."""

import math
from pathlib import Path

import pytest

from batkube.machines.event_file import Entry, Scene, is_event_file, read_event_file
from batkube.machines.places import Place, Places
from batkube.startup.errors import StartupError

ZONE = "topology.kubernetes.io/zone"
NODES = {"n1": {ZONE: "a", "disk": "ssd"}, "n2": {ZONE: "a"}, "n3": {ZONE: "b", "disk": "ssd"}, "7": {}}
PLACES = Places([Place(name, name, labels) for name, labels in NODES.items()])


def read(folder: Path, text: str, epoch: float = 0.0) -> list[Entry]:
    path = folder / "events.yaml"
    path.write_text(text)
    return read_event_file(path, Scene(PLACES, epoch))


@pytest.mark.parametrize(
    ("at", "epoch", "date"),
    [
        ("700", 0, 700),
        ("1.5", 0, 1.5),
        ("1h30m", 0, 5400),
        ("10:00", 0, 36_000),  # not the 600 that YAML 1.1 makes of it
        ("'10:00:30'", 0, 36_030),
        ("9:05", 0, 32_700),
        ("24:00", 0, 86_400),
        ("10:00", 1_577_836_800 + 3600 * 8, 7200),  # the simulation begins at eight
    ],
)
def test_dates_are_seconds_lengths_or_clock_times(tmp_path: Path, at: str, epoch: float, date: float) -> None:
    (entry,) = read(tmp_path, f"events:\n- {{at: {at}, node: n1, down: 5}}\n", epoch)
    assert entry.at == date


@pytest.mark.parametrize(
    ("where", "nodes"),
    [
        ("node: n2", ["n2"]),
        ("node: [n3, n1]", ["n3", "n1"]),
        ("node: 7", ["7"]),
        ("zone: a", ["n1", "n2"]),
        ("zone: [a, b]", ["n1", "n2", "n3"]),
        ("label: disk=ssd", ["n1", "n3"]),
        ("label: 'disk, topology.kubernetes.io/zone notin (a)'", ["n3"]),
    ],
)
def test_machines_go_by_name_zone_or_label(tmp_path: Path, where: str, nodes: list[str]) -> None:
    (entry,) = read(tmp_path, f"events:\n- {{at: 1, {where}, drain: 1h}}\n")
    assert [place.node for place in entry.places] == nodes


def test_what_happens_often_happens_at_even_distances(tmp_path: Path) -> None:
    flapping, gone = read(
        tmp_path,
        "events:\n- {at: 1h, node: n1, down: 30s, every: 2m, times: 3}\n- {at: 5, node: n2, down: forever}\n",
    )
    assert list(flapping.spans()) == [(3600, 3630), (3720, 3750), (3840, 3870)]
    assert list(gone.spans()) == [(5, math.inf)]


def test_slow_machines_have_a_speed(tmp_path: Path) -> None:
    (entry,) = read(tmp_path, "events:\n- {at: 1h, zone: a, slow: 2h, speed: 25%}\n")
    assert (list(entry.spans()), entry.speed) == ([(3600, 10800)], 0.25)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("events:\n- {at: 1, node: n9, down: 5}", "line 2: events.0: there is no node 'n9'"),
        ("events:\n- {at: 1, zone: c, down: 5}", "line 2: events.0: there is no node in zone 'c' (label"),
        ("events:\n- {at: 1, label: disk=hdd, down: 5}", "line 2: events.0: no node has labels such as 'disk=hdd'"),
        ("events:\n- {at: 1, label: 'a=(', down: 5}", "line 2: events.0: unable to parse"),
        ("events:\n- at: 1\n  node: n1\n  down: soon", "line 4: events.0.down: expected seconds or a length such as"),
        (
            "events:\n- {at: 25:00, node: n1, down: 5}",
            "line 2: events.0.at: expected seconds, a length such as 1h30m, a time",
        ),
        ("events:\n- {at: -1, node: n1, down: 5}", "line 2: events.0.at: "),
        ("events:\n- {at: 1, node: n1, down: 0}", "line 2: events.0.down: "),
        ("events:\n- {at: 1, node: n1}", "line 2: events.0: expected either down, drain or slow"),
        ("events:\n- {at: 1, node: n1, down: 1, drain: 1}", "line 2: events.0: expected either down, drain or slow"),
        ("events:\n- {at: 1, node: n1, slow: 1}", "line 2: events.0: slow and speed go together, as in slow: 2h"),
        ("events:\n- {at: 1, node: n1, down: 1, speed: 0.5}", "line 2: events.0: slow and speed go together"),
        ("events:\n- {at: 1, node: n1, slow: 1, speed: 100%}", "line 2: events.0.speed: Input should be less than 1"),
        ("events:\n- {at: 1, node: n1, slow: 1, speed: half}", "line 2: events.0.speed: "),
        ("events:\n- {at: 1, down: 1}", "line 2: events.0: expected one of node, zone and label"),
        ("events:\n- {at: 1, node: n1, zone: a, down: 1}", "line 2: events.0: expected one of node, zone and label"),
        ("events:\n- {at: 1, node: n1, down: 1, every: 5}", "line 2: events.0: every and times go together"),
        ("events:\n- {at: 1, node: n1, down: 9, every: 5, times: 2}", "every: must be longer than what happens"),
        ("events:\n- {node: n1, down: 5}", "line 2: events.0.at: "),
        ("events:\n- {at: 1, node: n1, down: 5, colour: red}", "events.0.colour: "),
        ("events:\n- 7", "line 2: events.0: expected an event such as"),
        ("events: 7", "line 1: events: "),
        ("events: []\nmore: 1", "line 2: more: "),
        ("events:\n- {at: 1", "line 3: no YAML"),
    ],
)
def test_what_is_wrong_is_told_by_line_and_field(tmp_path: Path, text: str, error: str) -> None:
    with pytest.raises(StartupError) as raised:
        read(tmp_path, text)
    assert error in str(raised.value)
    assert str(raised.value).startswith(f"{tmp_path}/events.yaml: line ")
    assert "\n" not in str(raised.value)


def test_a_date_before_the_simulation_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StartupError, match="10:00 of the first day is before the simulation begins"):
        read(tmp_path, "events:\n- {at: 10:00, node: n1, down: 5}", epoch=11 * 3600)


@pytest.mark.parametrize(
    ("text", "ours"),
    [
        ("# what happens\nevents:\n- {}", True),
        ('"events": []', True),
        ('{"type": "machine_unavailable", "resources": "0", "timestamp": 3}', False),
        ("", False),
        ("nothing", False),
    ],
)
def test_files_of_batsim_are_told_apart(text: str, ours: bool) -> None:
    assert is_event_file(text) is ours
