"""The Standard Workload Format."""

import gzip
from pathlib import Path

import pytest

from batkube.batsim.workload import WorkloadError
from batkube.workloads.formats import reader_for
from batkube.workloads.reader import Record
from batkube.workloads.source import Source
from tests.workloads.reading import records_of, workload_of

HEADER = "; Version: 2.2\n; Computer: a machine of ours\n; MaxNodes: 64\n"
WHOLE = "1 0 5 120 4 -1 -1 8 600 2048 1 7 1 3 2 -1 -1 -1"
LITTLE = "2 30 -1 60 4 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1"


def line(**fields: object) -> str:
    """A line of the whole job, some fields of which are others."""
    names = ("number", "submit", "wait", "run", "allocated", "cpu", "used", "requested", "time", "memory", "status")
    words = WHOLE.split()
    for name, value in fields.items():
        words[names.index(name)] = str(value)
    return " ".join(words)


@pytest.fixture
def swf(tmp_path: Path) -> Path:
    """A log of two jobs."""
    path = tmp_path / "log.swf"
    path.write_text(f"{HEADER}{WHOLE}\n\n; a comment\n{LITTLE}\n")
    return path


def test_fields_become_what_they_mean(swf: Path) -> None:
    first, second = records_of(swf)
    assert first == Record("1", 0, 120, 8, 600, {"memory": "2Mi", "user": "7", "queue": "2"})
    assert second == Record("2", 30, 60, 4)  # allocated where nothing is requested; the rest is not known


def test_jobs_are_delays_of_as_many_pods_as_processors(swf: Path) -> None:
    content = workload_of(swf)
    assert content["profiles"] == {
        "delay-120": {"type": "delay", "delay": 120},
        "delay-60": {"type": "delay", "delay": 60},
    }
    assert [job["res"] for job in content["jobs"]] == [8, 4]
    assert content["nb_res"] == 8


def test_packed_files_are_known_by_their_content(swf: Path) -> None:
    packed = swf.with_name("log")
    packed.write_bytes(gzip.compress(swf.read_bytes()))
    assert records_of(packed) == records_of(swf)
    packed.write_bytes(packed.read_bytes()[:-20])
    with pytest.raises(WorkloadError, match=r"log: line \d: cannot be unpacked"):
        records_of(packed, "swf")


def test_comments_may_be_in_any_encoding(tmp_path: Path) -> None:
    path = tmp_path / "log.swf"
    path.write_bytes(b"; Acknowledge: J\xf6rg\n" + WHOLE.encode())
    assert [record.id for record in records_of(path)] == ["1"]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"run": -1}, "have no run time"),
        ({"run": 0}, "ran for 0 seconds"),
        ({"submit": -1}, "have no submit time"),
        ({"requested": -1, "allocated": -1}, "have no number of processors"),
        ({"status": 3}, "are parts of a job that is told as a whole, too"),
    ],
    ids=str,
)
def test_what_cannot_run_is_left_out_and_counted(tmp_path: Path, fields: dict[str, int], reason: str) -> None:
    path = tmp_path / "log.swf"
    path.write_text(f"{line(**fields)}\n{LITTLE}\n{line(**fields)}\n")
    source = Source(path)
    assert [record.id for record in reader_for(source).records(source)] == ["2"]
    source.taken = 1
    assert source.left_out == f"{path}: 2 of 3 records are left out: 2 {reason}"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("1 2 3", "line 2: expected 18 fields, found 3"),
        (line(run="x"), "line 2: run time: expected a number, not 'x'"),
        (line(run="nan"), "line 2: run time: expected a number, not 'nan'"),
        (line(run="1_0"), "line 2: run time: expected a number, not '1_0'"),
        (line(submit="1e300"), "line 2: submit time: '1e300' is too large"),
        (line(number="1.5"), "line 2: job number: expected a whole number, not '1.5'"),
        (line(requested="99999999"), "line 2: requested processors: expected up to 10000000, not 1e+08"),
        (line(requested="2.5"), "line 2: requested processors: expected up to 10000000, not 2.5"),
    ],
)
def test_a_wrong_line_is_named_by_number_and_field(tmp_path: Path, text: str, error: str) -> None:
    path = tmp_path / "log.swf"
    path.write_text(f"; Version: 2\n{text}\n")
    with pytest.raises(WorkloadError) as raised:
        records_of(path)
    assert str(raised.value) == f"{path}: {error}"


def test_numbers_that_come_again_get_the_number_of_their_line(tmp_path: Path) -> None:
    path = tmp_path / "log.swf"
    path.write_text(f"{line(number=5)}\n{line(number=5)}\n{line(number=3)}\n{line(number=6)}\n")
    assert [record.id for record in records_of(path)] == ["5", "5-line-2", "3-line-3", "6"]
    workload_of(path)


def test_processors_are_packed_as_cores_of_as_few_pods_as_hosts_allow(tmp_path: Path) -> None:
    path = tmp_path / "log.swf"
    path.write_text("\n".join(line(number=n, requested=n, memory=1024) for n in (1, 8, 9, 16, 33)))
    jobs = workload_of(path, packing="cores", cores=16)["jobs"]
    shapes = [(job["res"], job["batkube"]["cpu"], job["batkube"]["memory"]) for job in jobs]
    assert shapes == [(1, "1", "1Mi"), (1, "8", "8Mi"), (1, "9", "9Mi"), (1, "16", "16Mi"), (3, "11", "11Mi")]
    assert [job["res"] for job in workload_of(path, packing="cores=4", cores=16)["jobs"]] == [1, 2, 3, 4, 9]
    with pytest.raises(ValueError, match="say how many cores a pod may have"):
        workload_of(path, packing="cores")
