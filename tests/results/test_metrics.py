"""The figures of a run: what each counts."""

from batkube.batsim.outputs import JobRecord
from batkube.results.metrics import Figures, figures, job_counts


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


def test_figures_are_over_the_jobs_that_ran_however_they_ended() -> None:
    assert figures(JOBS) == Figures(
        jobs_ended=4,
        makespan=50.0,
        mean_waiting_time=(0 + 9 + 18 + 7) / 4,
        mean_turnaround_time=(10 + 19 + 48 + 9) / 4,
    )


def test_figures_have_the_six_decimals_of_batsims_files() -> None:
    assert figures([job("a", "COMPLETED_SUCCESSFULLY", 0, 1 / 3, 2 / 3)]).mean_waiting_time == 0.333333


def test_there_are_no_figures_where_nothing_ran() -> None:
    assert figures([]) == figures([JOBS[-1]]) == Figures(jobs_ended=0, makespan=None, mean_waiting_time=None)


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
