"""Batsim's messages about a job, and the states that a job goes through."""

from typing import Any

import pytest

from batkube.batsim.errors import ProtocolError
from batkube.batsim.jobs import COMPLETED, JobLife, JobState, submitted_job
from batkube.batsim.outputs import JobRecord

TOLD = {"id": "w0!7", "subtime": 1.5, "res": 2, "profile": "p", "user": "jane"}


@pytest.mark.parametrize(
    ("walltime", "seconds"),
    [
        ({}, None),
        ({"walltime": -1.0}, None),
        ({"walltime": 0.0}, None),
        ({"walltime": None}, None),
        ({"walltime": 9}, 9),
    ],
)
def test_a_walltime_of_nothing_is_none(walltime: dict[str, Any], seconds: float | None) -> None:
    job = submitted_job("w0!7", {**TOLD, **walltime})
    assert (job.id, job.subtime, job.res, job.profile, job.walltime) == ("7", 1.5, 2, "p", seconds)
    assert job.extra == {"user": "jane"}


@pytest.mark.parametrize(
    ("slip", "complaint"),
    [
        ({"res": "many"}, "JOB_SUBMITTED of w0!7: job.res: expected a valid integer, not 'many': {"),
        ({"subtime": None}, "JOB_SUBMITTED of w0!7: job.subtime: expected a valid number, not None: {"),
    ],
)
def test_a_job_that_is_none_is_told_by_name_and_member(slip: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        submitted_job("w0!7", {**TOLD, **slip})
    assert str(caught.value).startswith(complaint)


def test_a_job_runs_once_and_ends_once() -> None:
    life = JobLife()
    with pytest.raises(ValueError, match="was NOT_SUBMITTED and cannot become RUNNING"):
        life.move(JobState.RUNNING)
    life.move(JobState.SUBMITTED)
    with pytest.raises(ValueError, match="was SUBMITTED and cannot become COMPLETED_FAILED"):
        life.complete(JobState.COMPLETED_FAILED, 1, 3.0)
    life.move(JobState.RUNNING)
    life.complete(JobState.COMPLETED_FAILED, 1, 3.0)
    for state in JobState:
        with pytest.raises(ValueError, match=f"was COMPLETED_FAILED and cannot become {state}"):
            life.move(state)
    assert (life.return_code, life.finish_time) == (1, 3.0)


@pytest.mark.parametrize("state", [*COMPLETED, JobState.REJECTED])
def test_a_row_has_dates_for_jobs_that_ran(state: JobState) -> None:
    life = JobLife(state, starting_time=2.0, finish_time=4.0)
    record = JobRecord.of("w0!7", submitted_job("w0!7", TOLD), life, hosts="0-1")
    ran = state is not JobState.REJECTED
    assert (record.workload_name, record.job_id, record.final_state) == ("w0", "7", state.value)
    assert (record.starting_time, record.finish_time) == ((2.0, 4.0) if ran else (None, None))
    assert record.success is (state is JobState.COMPLETED_SUCCESSFULLY)
