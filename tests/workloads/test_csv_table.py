"""The table of our own."""

from pathlib import Path

import pytest

from batkube.batsim.workload import WorkloadError
from batkube.workloads.csv_table import COLUMNS
from batkube.workloads.formats import reader_for
from batkube.workloads.reader import Record
from batkube.workloads.source import Source
from tests.workloads.reading import records_of, workload_of

ROOT = Path(__file__).parents[2]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A file to be written."""
    return tmp_path / "jobs.csv"


def test_columns_become_what_they_mean(table: Path) -> None:
    table.write_text(
        "submit,duration,id,walltime,count,cpu,memory,gpu,user,queue,priority,selector\n"
        '0,1h30m,first,2h,4,500m,4Gi,1,ada,short,-5,"zone=a; disk=ssd"\n'
        "\n"
        "1.5,0.25,,,,,,,,,high,\n"
    )
    wants = {"cpu": "500m", "memory": "4Gi", "gpu": "1", "user": "ada", "queue": "short", "priority": -5}
    wants["nodeSelector"] = {"zone": "a", "disk": "ssd"}
    assert records_of(table) == [
        Record("first", 0, 5400, 4, 7200, wants),
        Record("2", 1.5, 0.25, wants={"priority": "high"}),
    ]
    assert [job["id"] for job in workload_of(table)["jobs"]] == ["first", "2"]


def test_columns_stand_in_any_order_and_need_not_all_be_there(table: Path) -> None:
    table.write_text("\ufeffduration, submit\n5, 7\n")
    assert records_of(table) == [Record("1", 7, 5)]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("submit,duration\n1\n", "line 2: expected 2 fields, found 1"),
        ("submit,duration\n1,2\nx,1\n", "line 3: submit: expected seconds, or such as 1h30m, not 'x'"),
        ("submit,duration\n,1\n", "line 2: submit: missing"),
        ("submit,duration,cpu\n0,1,lots\n", "line 2: cpu: expected a quantity such as 4, 500m or 16Gi, not 'lots'"),
        ("submit,duration,cpu\n0,1,-1\n", "line 2: cpu: must not be negative, and is '-1'"),
        ("submit,duration,count\n0,1,0\n", "line 2: count: expected a whole number from 1 to 10000000, not '0'"),
        ("submit,duration,selector\n0,1,a\n", "line 2: selector: expected labels such as zone=a disk=ssd, not 'a'"),
        ("submit,duration,id\n0,1,a\n0,1,a\n", "line 3: id: 'a' is used twice"),
        ("submit,duration,id\n0,1,a!b\n", "line 2: id: must have none of \" , | } and !, and is 'a!b'"),
        ("submit,duration,nodes\n0,1,5\n", f"line 1: the column 'nodes' is not known; there are {', '.join(COLUMNS)}"),
        ("submit,duration,submit\n0,1,5\n", "line 1: the column 'submit' is there twice"),
        ('submit,duration\n"0,1\n', "line 2: not CSV: unexpected end of data"),
        ("submit,duration\n-1,5\n", "line 2: submit, duration and walltime must not be negative, and walltime not 0"),
    ],
)
def test_a_wrong_line_is_named_by_number_and_column(table: Path, text: str, error: str) -> None:
    table.write_text(text)
    with pytest.raises(WorkloadError) as raised:
        records_of(table)
    assert str(raised.value) == f"{table}: {error}"


def test_jobs_of_no_length_are_left_out(table: Path) -> None:
    table.write_text("submit,duration\n0,0\n0,1\n")
    source = Source(table)
    assert [record.id for record in reader_for(source).records(source)] == ["2"]
    assert source.skipped == {"last 0 seconds": 1}


def test_the_document_has_all_columns() -> None:
    text = (ROOT / "docs" / "workloads.md").read_text()
    assert [name for name in COLUMNS if f"| `{name}` |" not in text] == []
