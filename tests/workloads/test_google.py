"""Instances of Google's traces of 2019."""

import json
from pathlib import Path
from typing import Any

import pytest

from batkube.batsim.workload import WorkloadError
from batkube.workloads.formats import reader_for
from batkube.workloads.source import Source
from tests.workloads.reading import records_of, workload_of

JSON = dict[str, Any]


def event(time: int, kind: int | str, index: int = 0, **more: Any) -> JSON:
    """An event of an instance, its numbers as BigQuery exports them."""
    told: JSON = {"time": str(time * 10**6), "type": str(kind) if isinstance(kind, int) else kind}
    told |= {"collection_id": "7", "instance_index": str(index), "priority": "103"}
    return {**told, "resource_request": {"cpus": 0.1, "memory": 0.05}, **more}


def written(folder: Path, *events: JSON) -> Path:
    path = folder / "instance_events.json"
    path.write_text("".join(json.dumps(one) + "\n" for one in events))
    return path


def test_an_instance_runs_as_long_as_its_last_run(tmp_path: Path) -> None:
    evicted = [event(600, 0), event(601, 3), event(700, 4), event(700, 0), event(710, "SCHEDULE"), event(760, "FINISH")]
    path = written(tmp_path, event(650, 6, 1), *reversed(evicted), event(640, 3, 1), event(610, 0, 1))
    records = records_of(path)
    assert [(record.id, record.submit, record.duration) for record in records] == [("7-0", 600, 50), ("7-1", 610, 10)]
    assert records[0].wants == {"cpu": "6400m", "memory": "13108Mi", "priority": 103}
    workload_of(path)


def test_what_cannot_run_is_counted(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        event(1, 0, 1),
        event(1, 3, 2),
        {**event(1, 3, 3), "time": 2**63 - 1},
        event(2, 3, 4, resource_request=None),
        event(3, 6, 4, resource_request=None),
        event(5, 3, 5),
        event(5, 6, 5),
        event(6, 3, 6, collection_type="1"),
        event(8, 3, 7),
        event(9, 5, 7),
    )
    source = Source(path)
    assert [record.id for record in reader_for(source).records(source)] == ["7-7"]
    assert source.skipped == {
        "were never scheduled, or had not ended, so that nobody knows how long they run": 2,
        "ask for nothing that is known": 1,
        "ended when they were scheduled": 1,
        "are of alloc sets, which hold room for other instances": 1,
    }


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"time": "soon"}, "time: expected a whole number, not 'soon'"),
        ({"time": 2**63}, "time: expected a whole number, not '9223372036854775808'"),
        ({"type": 11}, "type: expected one of 0 to 10, not 11"),
        ({"type": "GONE"}, "type: expected a whole number, not 'GONE'"),
        (
            {"resource_request": {"cpus": 2, "memory": 0}},
            "resource_request.cpus: expected a share of a machine from 0 to 1",
        ),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, wrong: JSON, error: str) -> None:
    path = written(tmp_path, event(1, 0), event(2, 3) | wrong)
    with pytest.raises(WorkloadError) as raised:
        records_of(path)
    assert str(raised.value) == f"{path}: line 2: {error}"
