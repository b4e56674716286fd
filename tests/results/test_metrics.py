"""The figures of a run: what each counts."""

from batkube.batsim.outputs import JobRecord
from batkube.results.accounts import Accounts
from batkube.results.figures import Figures, Spread
from batkube.results.metrics import job_counts


def job(name: str, state: str, submitted: float, start: float | None = None, end: float | None = None) -> JobRecord:
    return JobRecord(
        job_id=name,
        workload_name="w",
        profile="p",
        submission_time=submitted,
        requested_number_of_resources=1,
        requested_time=None,
        success=state == "COMPLETED_SUCCESSFULLY",
        final_state=state,
        starting_time=start,
        finish_time=end,
    )


JOBS = [
    job("at-once", "COMPLETED_SUCCESSFULLY", 0, 0, 10),
    job("waits", "COMPLETED_FAILED", 1, 10, 20),
    job("too-long", "COMPLETED_WALLTIME_REACHED", 2, 20, 50),
    job("killed", "COMPLETED_KILLED", 3, 10, 12),
    job("too-large", "REJECTED", 100),
]


def figures_of(jobs: list[JobRecord]) -> Figures:
    accounts = Accounts([], [], end=100.0)
    for record in jobs:
        accounts.add_job(record)
    return accounts.figures()


def test_figures_are_over_the_jobs_that_ran_however_they_ended() -> None:
    found = figures_of(JOBS)
    assert (found.jobs, found.submitted, found.makespan) == (4, 5, 50.0)
    assert found.waiting_time == Spread(mean=(0 + 9 + 18 + 7) / 4, median=7.0, p95=18.0, p99=18.0, max=18.0)
    assert found.turnaround_time == Spread(mean=(10 + 19 + 48 + 9) / 4, median=10.0, p95=48.0, p99=48.0, max=48.0)
    # 10/10, 19/10, 48/30 and 9/2, which is 9/10 and so 1 where short jobs count for ten seconds.
    assert found.stretch.mean == (1 + 1.9 + 1.6 + 4.5) / 4
    assert found.bounded_slowdown.mean == (1 + 1.9 + 1.6 + 1) / 4
    assert found.throughput == 4 / 50 * 3600


def test_figures_have_the_six_decimals_of_batsims_files() -> None:
    assert figures_of([job("a", "COMPLETED_SUCCESSFULLY", 0, 1 / 3, 2 / 3)]).waiting_time.mean == 0.333333


def test_there_are_no_figures_where_nothing_ran() -> None:
    nothing, rejected = figures_of([]), figures_of([JOBS[-1]])
    assert (nothing.jobs, nothing.makespan, nothing.waiting_time) == (0, None, Spread())
    assert rejected == nothing.model_copy(update={"submitted": 1, "rejected": 1})


def test_each_job_counts_for_one_end() -> None:
    counts = job_counts(JOBS, submitted=7, over=5)
    assert counts.model_dump() == {
        "submitted": 7,
        "succeeded": 1,
        "failed": 1,
        "walltime_reached": 1,
        "killed": 1,
        "rejected": 1,
        "unfinished": 2,
    }
