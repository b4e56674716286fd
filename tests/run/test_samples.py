"""Every sample workload runs, on the platform it is made for, and its jobs end as its description says."""

from collections import Counter

import pytest

from tests.run.conftest import Batkube
from tests.samples import Sample, by_name, samples

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
