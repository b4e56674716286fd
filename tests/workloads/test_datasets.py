"""Published data of others, where they are at hand: each file is read, or refused with the reason."""

import re
from pathlib import Path

import pytest

from batkube.workloads.formats import reader_for
from batkube.workloads.source import Source
from tests.workloads.reading import refusal

DATASETS = Path(__file__).parents[3] / "shared" / "datasets"
FILES = sorted(path for path in DATASETS.rglob("*") if path.is_file())
READ = {
    "batsim": [
        *(path for path in FILES if path.match("batkube-go/workloads/*.json")),
        *(path for path in FILES if path.match("batsim/workloads/*.json")),
    ],
    "openb": [path for path in FILES if path.match("openb/*_pod*.csv*")],
    "manifests": [path for path in FILES if path.match("openb/quickstart/*/*.yaml")],
    "knavigator": [path for path in FILES if path.match("knavigator/*/*.yaml")],
    "kueue": [path for path in FILES if path.name == "generator.yaml"],
    "simkube": [path for path in FILES if path.suffix == ".sktrace"],
    "swf": [path for path in FILES if path.suffix == ".swf" or path.name.endswith(".swf.gz")],
}
"""The files that a run takes, by format."""
FORMAT = {path: name for name, paths in READ.items() for path in paths}

pytestmark = pytest.mark.skipif(not FILES, reason=f"needs {DATASETS.name} of others beside the repository")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(DATASETS)))
def test_each_file_is_read_or_refused_with_the_reason(path: Path) -> None:
    why = refusal(path)
    if path not in FORMAT:
        assert why is not None
        assert why.startswith(f"{path}: is in none of the formats ")
        return
    assert reader_for(Source(path)).name == FORMAT[path]
    if FORMAT[path] == "manifests":
        assert why == f"{path}: manifests are objects, and no jobs: `batkube run -w` creates them at their dates"
        return
    if path.name == "config-nodes.yaml":
        assert why == f"{path}: no task submits anything (type: SubmitObj)"
        return
    if path.name in ("cronjob.sktrace", "dsb-scaling.sktrace"):
        assert why is not None
        assert re.match(rf"{path}: there is no job in it: \d+ are of kind \w+, whose pods a controller makes", why)
        return
    # A run takes workloads of Batsim's as they are, whatever their work.
    if path.name == "sample_pods_500.csv" or "multigpu50" in path.name:
        assert why is not None
        assert why.startswith(f"{path}: line 1: the column creation_time is missing: found ")
        return
    assert why is None or (FORMAT[path] == "batsim" and "only delays that succeed can be converted" in why)


def test_a_published_log_has_all_its_jobs() -> None:
    source = Source(DATASETS / "batkube-test" / "swf" / "NASA-iPSC-1993-3.1-cln.swf.gz")
    records = list(reader_for(source).records(source))
    assert len(records) + source.skipped.total() == 18_239
    assert max(record.pods for record in records) == 128
    assert sum(record.duration for record in records[:3]) == 1451 + 3726 + 1067


@pytest.mark.parametrize(
    ("name", "jobs", "pods"),
    [
        ("knavigator/gang-scheduling/run-test.yaml", 53, 288),
        ("knavigator/gang-scheduling/run-test-lw.yaml", 53, 288),
        ("knavigator/scaling/run-test-multi.yaml", 1, 700),
        ("kueue-perf/baseline/generator.yaml", 15_000, 15_000),
        ("kueue-perf/large-scale/generator.yaml", 50_000, 50_000),
        ("kueue-perf/tas/generator.yaml", 15_000, None),
        ("simkube/bare-pods.sktrace", 3, 3),
    ],
)
def test_published_scenarios_have_all_their_jobs(name: str, jobs: int, pods: int | None) -> None:
    source = Source(DATASETS / name)
    records = list(reader_for(source).records(source))
    assert len(records) == jobs
    assert pods is None or sum(record.pods for record in records) == pods
