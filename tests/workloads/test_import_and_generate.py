"""``batkube import`` and ``batkube generate``."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from statistics import mean, median

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import tests.batsim.hypothesis_profile  # noqa: F401
from batkube.batsim.platform import read_platform
from batkube.commands import generate, importing
from batkube.workloads.reader import Record
from batkube.workloads.settings import GenerateSettings, ImportSettings
from batkube.workloads.source import Source
from batkube.workloads.synthetic import Shape, drawn
from batkube.workloads.writers import WRITERS
from tests.workloads.reading import records_of

TABLE = "submit,duration,count,cpu,user\n0,100,2,4,ada\n50,0,1,1,bob\n100,30,1,1,bob\n200,10,1,1,ada\n"
NAMES = st.text(alphabet="abcxyz0189-", min_size=1, max_size=8)
RECORDS = st.lists(
    st.builds(
        Record,
        id=st.just(""),
        submit=st.integers(0, 10**7).map(lambda tenths: tenths / 10),
        duration=st.integers(1, 10**6),
        pods=st.integers(1, 500),
        walltime=st.none() | st.integers(1, 10**6),
        wants=st.fixed_dictionaries(
            {},
            optional={
                "cpu": st.sampled_from(["1", "500m", "64"]),
                "memory": st.sampled_from(["1Gi", "100M"]),
                "user": NAMES,
                "priority": st.integers(-5, 5),
                "nodeSelector": st.dictionaries(st.sampled_from(["zone", "disk"]), st.just("a"), min_size=1),
            },
        ),
    ),
    min_size=1,
    max_size=8,
)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Four rows, one of which is no job."""
    path = tmp_path / "jobs.csv"
    path.write_text(TABLE)
    return path


@pytest.mark.parametrize("name", ["batsim", "csv"])
@given(records=RECORDS)
def test_what_is_written_is_read_as_it_was(
    name: str, records: list[Record], tmp_path_factory: pytest.TempPathFactory
) -> None:
    for number, record in enumerate(records, 1):
        record.id = str(number)
    path = tmp_path_factory.getbasetemp() / f"written-{name}"
    assert WRITERS[name](path, Source(path), records) == []
    assert records_of(path) == records


@pytest.mark.parametrize(("out", "kind"), [("w.json", "batsim"), ("w.csv", "csv"), ("w.swf", "swf"), ("w.txt", "swf")])
def test_a_workload_becomes_one_of_another_format(
    table: Path, tmp_path: Path, out: str, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / out
    assert importing.main(ImportSettings(workload=table, out=path, to="swf" if out == "w.txt" else None)) == 0
    said = capsys.readouterr()
    assert said.out == f"{path}: 3 jobs (csv to {kind})\n"
    assert said.err == f"batkube: {table}: 1 of 4 records are left out: 1 last 0 seconds\n"
    records = records_of(path)
    assert [(record.submit, record.duration) for record in records] == [(0, 100), (100, 30), (200, 10)]
    if kind == "swf":
        assert [record.pods for record in records] == [8, 1, 1]  # processors
        assert [record.wants["user"] for record in records] == ["1", "2", "1"]


def test_a_part_of_a_workload(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "part.csv"
    assert importing.main(ImportSettings(workload=table, out=out, begin=60, until=200)) == 0
    assert [(record.id, record.submit) for record in records_of(out)] == [("3", 40)]


def test_what_a_table_has_no_column_for_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pods = tmp_path / "pods.csv"
    pods.write_text(
        "name,cpu_milli,memory_mib,num_gpu,gpu_milli,creation_time,deletion_time,scheduled_time\na,1,1,1,500,0,9,0\n"
    )
    out = tmp_path / "w.csv"
    assert importing.main(ImportSettings(workload=pods, out=out)) == 0
    assert capsys.readouterr().err == f"batkube: {out}: the table has no column for pod, which 1 jobs have\n"


def test_a_wrong_workload_leaves_no_half_of_one(table: Path, tmp_path: Path) -> None:
    table.write_text(TABLE + "300,soon,,,\n")
    out = tmp_path / "w.json"
    assert importing.main(ImportSettings(workload=table, out=out)) == 2
    assert not out.exists()
    assert importing.main(ImportSettings(workload=table, out=table)) == 2
    assert table.read_text().startswith(TABLE)


def test_a_cluster_becomes_a_platform(tmp_path: Path) -> None:
    out = tmp_path / "platform.xml"
    assert importing.main(ImportSettings(platform=(Path("2 x 4cpu"),), add_nodes=("3 like node-1",), out=out)) == 0
    assert len(read_platform(out).resources().compute) == 5
    assert importing.main(ImportSettings(platform=(out,), out=tmp_path / "again.xml")) == 2


def test_settings_that_do_not_go_together_are_refused(table: Path) -> None:
    with pytest.raises(ValidationError, match="expected a workload, or a cluster"):
        ImportSettings(out=table)
    with pytest.raises(ValidationError, match="are for workloads, not for --platform"):
        ImportSettings(platform=(Path("4cpu"),), out=table, to="csv")
    with pytest.raises(ValidationError, match="--users and --like exclude each other"):
        GenerateSettings(out=table, like=table, users=3)
    with pytest.raises(ValidationError, match="expected a whole number from 1"):
        GenerateSettings(out=table, sizes="0=1")


def test_a_seed_gives_the_same_workload(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.json" for number in range(3)]
    for path, seed in zip(paths, (1, 1, 2), strict=True):
        assert generate.main(GenerateSettings(out=path, jobs=50, seed=seed, sizes="1=1,4=1")) == 0
    texts = [path.read_bytes() for path in paths]
    assert texts[0] == texts[1] != texts[2]


def test_draws_follow_the_distributions() -> None:
    shape = Shape(every=20, duration=300, spread=0.8, sizes=((1, 3.0), (8, 1.0)), users=4)
    records = list(drawn(shape, 4000, seed=5))
    assert records[-1].submit / 4000 == pytest.approx(20, rel=0.1)
    assert median(record.duration for record in records) == pytest.approx(300, rel=0.1)
    assert mean(record.pods == 8 for record in records) == pytest.approx(0.25, abs=0.03)
    counts = [sum(record.wants["user"] == f"user-{n}" for record in records) for n in (1, 2, 3, 4)]
    assert counts[0] / counts[1] == pytest.approx(2, rel=0.2)
    assert counts == sorted(counts, reverse=True)
    urgent = list(drawn(replace(shape, priorities=((0, 9.0), (100, 1.0))), 4000, seed=5))
    assert mean(record.wants.pop("priority") == 100 for record in urgent) == pytest.approx(0.1, abs=0.02)
    assert urgent == records


def test_jobs_like_those_of_a_trace_keep_their_shapes(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "like.csv"
    assert generate.main(GenerateSettings(out=out, like=table, jobs=300)) == 0
    records = records_of(out)
    shapes = {(record.duration, record.pods, record.wants["user"]) for record in records}
    assert shapes == {(100, 2, "ada"), (30, 1, "bob"), (10, 1, "ada")}
    assert {later.submit - one.submit for one, later in pairwise(records)} == {100}
    assert generate.main(GenerateSettings(out=out, like=table, jobs=300, every=7)) == 0
    assert records_of(out)[-1].submit == pytest.approx(7 * 299)
    table.write_text("submit,duration\n0,1\n")
    assert generate.main(GenerateSettings(out=out, like=table)) == 2
