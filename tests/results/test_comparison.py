"""The first differences between two folders of results."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from batkube.results.comparison import Fingerprint, differences, first_difference

BOUND = {"time": 1.0, "event": "pod_bound", "pod": "a", "node": "n0"}
ENDED = {"time": 2.0, "event": "job_ended", "job": "a"}
HEADER, ROW = "job_id,final_state,metadata\n", 'a,COMPLETED_SUCCESSFULLY,""\n'

Folder = Callable[..., Path]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """Write a folder of results."""

    def write(name: str, *events: object, jobs: str = HEADER + ROW) -> Path:
        path = tmp_path / name
        path.mkdir()
        lines = [event if isinstance(event, str) else json.dumps(event) + "\n" for event in events]
        (path / "events.jsonl").write_text("".join(lines))
        (path / "jobs.csv").write_text(jobs)
        return path

    return write


def test_equal_folders_have_one_fingerprint(folder: Folder) -> None:
    folders = [folder(name, BOUND, ENDED) for name in "abc"]
    prints = [Fingerprint.of(path) for path in folders]
    assert len(set(prints)) == 1
    assert differences(folders, prints) == []


def test_the_first_event_that_differs_is_told_with_its_fields(folder: Folder) -> None:
    a, b = folder("a", BOUND, ENDED), folder("b", BOUND, {**ENDED, "time": 3.0, "exit_code": 1})
    found = first_difference(a, b)
    assert (found.file, found.line) == ("events.jsonl", 2)
    assert (found.left_record, found.right_record) == (ENDED, {**ENDED, "time": 3.0, "exit_code": 1})
    assert found.fields == ["time", "exit_code"]


def test_events_that_end_too_early(folder: Folder) -> None:
    found = first_difference(folder("a", BOUND), folder("b", BOUND, ENDED))
    assert (found.line, found.left_record, found.right_record) == (2, None, ENDED)
    assert found.fields == list(ENDED)


def test_half_a_line_is_shown_as_it_is(folder: Folder) -> None:
    found = first_difference(folder("a", BOUND, ENDED), folder("b", BOUND, '{"time": 2.'))
    assert (found.line, found.right_record) == (2, {"": '{"time": 2.'})


def test_the_same_events_with_other_bytes_are_told_too(folder: Folder) -> None:
    found = first_difference(folder("a", '{"time": 1.0}\n'), folder("b", '{"time":1.0}\n'))
    assert (found.line, found.fields) == (1, [])


def test_jobs_are_compared_where_events_agree(folder: Folder) -> None:
    killed = ROW.replace("SUCCESSFULLY", "KILLED")
    found = first_difference(folder("a", BOUND), folder("b", BOUND, jobs=HEADER + killed))
    assert (found.file, found.line, found.fields) == ("jobs.csv", 2, ["final_state"])
    assert found.left_record == {"job_id": "a", "final_state": "COMPLETED_SUCCESSFULLY", "metadata": ""}


def test_one_of_each_kind_is_told(folder: Folder) -> None:
    folders = [folder("a", BOUND), folder("b", ENDED), folder("c", BOUND), folder("d", ENDED), folder("e")]
    found = differences(folders, [Fingerprint.of(path) for path in folders])
    assert [difference.right.name for difference in found] == ["b", "e"]


def test_equal_folders_do_not_part(folder: Folder) -> None:
    with pytest.raises(ValueError, match="do not differ"):
        first_difference(folder("a", BOUND), folder("b", BOUND))
