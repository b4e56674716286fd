"""Virtual machines of Azure's trace for packing."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from batkube.batsim.workload import WorkloadError
from batkube.workloads.formats import reader_for
from batkube.workloads.source import Source
from tests.workloads.reading import records_of, workload_of

TYPES = [(1, 10, 3, 0.5, 0.25), (2, 10, 4, 0.1, 0.05), (3, 11, 4, 0.01, 0.02), (4, 12, 3, 1, 1), (5, 12, 4, 0.9, 0.9)]


def written(folder: Path, *vms: tuple[Any, ...], types: list[Any] = TYPES) -> Path:
    """A database of the published schema."""
    path = folder / "trace #1?.sqlite"
    with closing(sqlite3.connect(path)) as trace:
        trace.execute("CREATE TABLE vmType (id, vmTypeId, machineId, core, memory, hdd, ssd, nic)")
        trace.execute("CREATE TABLE vm (vmId, tenantId, vmTypeId, priority, starttime, endtime)")
        trace.executemany("INSERT INTO vmType VALUES (?, ?, ?, ?, ?, 0, 0, 0)", types)
        trace.executemany("INSERT INTO vm VALUES (?, ?, ?, ?, ?, ?)", vms)
        trace.commit()
    return path


def test_machines_are_there_as_long_as_they_were(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        (2, 5, 11, 1, 0.5, 0.75),
        (1, 5, 10, 0, -3.0, 0.25),
        (3, 6, 12, 0, 1.0, None),
        (4, 6, 12, 0, -2.0, -1.0),
    )
    records = records_of(path)
    assert [(record.id, record.submit, record.duration) for record in records] == [
        ("1", 0, 21_600),
        ("2", 43_200, 21_600),
        ("3", 86_400, 89 * 86_400),
    ]
    # Machine 4 has most types: it counts where a type has several.
    assert [record.wants for record in records] == [
        {"cpu": "6400m", "memory": "13108Mi", "user": "5", "priority": 1},
        {"cpu": "640m", "memory": "5243Mi", "user": "5", "priority": 0},
        {"cpu": "57600m", "memory": "235930Mi", "user": "6", "priority": 1},
    ]
    workload_of(path)
    source = Source(path)
    assert len(list(reader_for(source).records(source))) == 3
    assert source.skipped == {"ended when they were started, or before the trace begins": 1}


@pytest.mark.parametrize(
    ("vm", "error"),
    [
        ((1, 5, 99, 0, 0.0, 1.0), "vm '1': vmTypeId: no vmType is '99'"),
        ((1, 5, 10, 2, 0.0, 1.0), "vm '1': priority: expected 0 (high) or 1 (low), not '2'"),
        ((1, 5, 10, 0, "soon", 1.0), "vm '1': starttime: expected a number of days, not 'soon'"),
    ],
)
def test_a_wrong_row_is_named(tmp_path: Path, vm: tuple[Any, ...], error: str) -> None:
    path = written(tmp_path, vm)
    with pytest.raises(WorkloadError) as raised:
        records_of(path)
    assert str(raised.value) == f"{path}: {error}"


def test_a_damaged_database_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, (1, 5, 10, 0, 0.0, 1.0))
    path.write_bytes(path.read_bytes()[:4096])
    with pytest.raises(WorkloadError, match="SQLite: "):
        records_of(path)
