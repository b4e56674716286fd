"""Every sample workload runs, on the platform it is made for, and its jobs end as its description says."""

from collections import Counter
from pathlib import Path

import pytest

from tests.run.conftest import Batkube
from tests.samples import Sample, by_name, samples

ROOT = Path(__file__).parents[2]
GOOD, FAILED, LATE, KILLED, REFUSED = (
    "COMPLETED_SUCCESSFULLY",
    "COMPLETED_FAILED",
    "COMPLETED_WALLTIME_REACHED",
    "COMPLETED_KILLED",
    "REJECTED",
)
ENDS = {
    "energy": {GOOD: 25},
    "every-profile": {GOOD: 10, FAILED: 2},
    "outages": {GOOD: 19, KILLED: 5},
    "storage": {GOOD: 7, LATE: 1},
    "usage-trace": {GOOD: 4, LATE: 1},
    "walltimes": {GOOD: 5, LATE: 5},
}
"""The final states of the jobs under fifo. Other samples have tests of their own, for their states at least."""


@pytest.mark.parametrize("sample", [sample for sample in samples() if sample.path.stem in ENDS], ids=by_name)
def test_a_sample_runs(sample: Sample, batkube: Batkube) -> None:
    done = batkube("-p", sample.platform, "-w", sample.path, *sample.events, "--scheduler", "fifo")
    assert done.exit_code == 0, done.stderr
    rows = done.rows("jobs.csv")
    assert len(rows) == sample.jobs
    assert Counter(row["final_state"] for row in rows) == ENDS[sample.path.stem]


@pytest.mark.parametrize("sample", samples(), ids=by_name)
def test_a_sample_says_what_it_is(sample: Sample) -> None:
    description = sample.content.get("description") or sample.content.get("comment")
    assert isinstance(description, str)
    assert description.endswith(".")
    assert sample.platform.is_file()


@pytest.mark.parametrize(
    ("cluster", "workload", "packing", "jobs"),
    [
        ("platforms/small-cluster.xml", "workloads/log.swf", ["--packing", "cores"], 80),
        ("4 x 8cpu,32Gi zone=a", "workloads/jobs.csv", [], 60),
        ("platforms/two-big-nodes.xml", "workloads/jobs.csv", [], 60),
    ],
)
def test_a_log_and_a_table_run(cluster: str, workload: str, packing: list[str], jobs: int, batkube: Batkube) -> None:
    """They do as the README and docs/workloads.md have it."""
    given = ROOT / cluster if cluster.endswith(".xml") else cluster
    done = batkube("-p", given, "-w", ROOT / workload, *packing, "--enable-compute-sharing", "--strict")
    assert done.exit_code == 0, done.stderr
    assert Counter(row["final_state"] for row in done.rows("jobs.csv")) == {GOOD: jobs}
    assert done.run["mean_waiting_time"] > 0
