"""The figures of plain files of Batsim's are those that Batsim, and evalys, have of them."""

import csv
from pathlib import Path

import pytest

import batkube
from batkube.comparison.facts import RecordedRun
from batkube.results.batsim_csv import hosts_of
from batkube.results.pods import read_pods_csv
from batkube.results.result import Result
from tests.batsim.test_outputs import NEEDS_MORE_THAN_JOBS
from tests.batsim.transcripts import Scenario, by_name, scenarios

NO_LENGTH = ("v4/zero_length", "v4/profiles_mixed", "v4/ptask_calibration", "v4/dynamic_requeued")
"""The runs with jobs so short that their stretch hangs on digits that the file has rounded away."""


def summary(scenario: Scenario) -> dict[str, str]:
    """Return Batsim's own summary of a run; skip the test where there is none."""
    path = scenario.folder / "out_schedule.csv"
    rows = list(csv.DictReader(path.open(newline=""))) if path.exists() else []
    if not rows or not int(rows[0]["nb_jobs_finished"]):
        pytest.skip("the run left no schedule.csv, or no job ran")
    return rows[0]


@pytest.mark.parametrize("scenario", [s for s in scenarios("v4") if s.exit_code == 0], ids=by_name)
def test_figures_of_recorded_runs_are_batsims(scenario: Scenario) -> None:
    theirs = {name: float(value) for name, value in summary(scenario).items() if name != "batsim_version"}
    result = batkube.load(scenario.folder / "out_jobs.csv")
    figures = result.figures
    assert (figures.submitted, figures.rejected) == (theirs["nb_jobs"], theirs["nb_jobs_rejected"])
    assert (figures.jobs, figures.succeeded) == (theirs["nb_jobs_finished"], theirs["nb_jobs_success"])
    assert figures.makespan == pytest.approx(theirs["makespan"], abs=2e-5)
    of_all = figures.jobs / theirs["nb_jobs"]  # Batsim's means divide by all jobs
    spreads = [("waiting_time", figures.waiting_time), ("turnaround_time", figures.turnaround_time)]
    spreads += [("slowdown", figures.stretch)] if scenario.name not in NO_LENGTH else []
    for name, ours in spreads:
        assert ours.mean is not None
        assert ours.mean * of_all == pytest.approx(theirs[f"mean_{name}"], rel=1e-4, abs=2e-5)
        assert ours.max == pytest.approx(theirs[f"max_{name}"], rel=1e-4, abs=2e-5)
    if scenario.name not in NEEDS_MORE_THAN_JOBS:
        busy = sum(node.busy_seconds for node in result.node_rows)
        assert busy == pytest.approx(theirs["time_computing"], rel=1e-4, abs=1e-3)


def test_evalys_finds_the_same_utilisation(tmp_path: Path) -> None:
    jobset, metrics = pytest.importorskip("evalys.jobset"), pytest.importorskip("evalys.metrics")
    header = (
        "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state,"
        "starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,"
        "consumed_energy,metadata"
    )
    lines = [
        "a,w,p,0,2,100,1,COMPLETED_SUCCESSFULLY,0,30,30,0,30,1,0-1,-1,",
        "b,w,p,5,1,100,1,COMPLETED_SUCCESSFULLY,5,40,45,0,40,1,2,-1,",
        "c,w,p,5,3,100,1,COMPLETED_SUCCESSFULLY,45,10,55,40,50,5,0-2,-1,",
    ]
    path = tmp_path / "jobs.csv"
    path.write_text("\n".join([header, *lines]) + "\n")
    ours, theirs = Result.of_jobs_csv(path), jobset.JobSet.from_csv(str(path))
    load = theirs.utilisation.load
    assert {row.time: row.running_pods for row in ours.series_rows} == dict(load.items())
    mean = metrics.load_mean(theirs.utilisation, begin=0) / 3
    assert (
        ours.figures.cpu_utilization == pytest.approx(mean, abs=1e-6) == pytest.approx((60 + 40 + 30) / 165, abs=1e-6)
    )


def test_a_job_without_hosts_is_as_many_pods_as_it_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "any.csv"
    path.write_text(
        "job_id,workload_name,submission_time,requested_number_of_resources,final_state,starting_time,finish_time\n"
        "1,w,3.5,2,COMPLETED_FAILED,4,10\n2,w,5,1,REJECTED,,\n"
    )
    result = batkube.load(path)
    pods = [(pod.pod, pod.node, pod.phase, pod.reason, pod.waiting_time, pod.finish_time) for pod in result.pod_rows]
    assert pods == [
        ("w-1-0", "", "Failed", "Failed", 0.5, 10.0), ("w-1-1", "", "Failed", "Failed", 0.5, 10.0),
        ("w-2", "", "Pending", "Rejected", 0.0, 5.0),
    ]  # fmt: skip
    assert (result.figures.failed, result.figures.rejected, result.figures.cpu_utilization) == (1, 1, None)
    assert list(result.pods.columns)[:3] == ["pod", "namespace", "job_id"]


def test_what_a_file_of_jobs_does_not_tell_is_empty(tmp_path: Path) -> None:
    """And not 0, which a rule such as ``wait_back_off == 0`` would take for good."""
    path = tmp_path / "any.csv"
    path.write_text(
        "job_id,workload_name,submission_time,final_state,starting_time,finish_time\n"
        "1,w,0,COMPLETED_SUCCESSFULLY,4,10\n2,w,5,REJECTED,,\n"
    )
    result = batkube.load(path)
    assert (result.figures.waiting_time.mean, result.figures.jobs) == (4.0, 1)
    unknown = ("attempts", "failed_attempts", "preempted", "lost_work")
    for figures in (result.figures, *result.figures_by["size"].values()):
        assert [getattr(figures, name) for name in unknown] == [None] * len(unknown)
        assert (figures.wait_reasons, figures.constraints) == ({}, {})
    assert {pod.wait_no_capacity for pod in result.pod_rows} == {None}
    values = RecordedRun(path).values
    assert values["mean_wait"] == 4.0
    assert {values[name] for name in ("wait_no_capacity", "wait_NodeAffinity", *unknown)} == {None}


def test_waits_without_their_columns_are_not_known(tmp_path: Path) -> None:
    path = tmp_path / "pods.csv"
    path.write_text("pod,namespace,job_id,scheduler,waiting_time\na,default,w0!a,s,5\nb,default,w0!b,s,\n")
    pods = list(read_pods_csv(path))
    assert [(pod.waiting_time, pod.wait_back_off, pod.wait_startup) for pod in pods] == [(5, None, None), (None,) * 3]


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text("job_id,workload_name,submission_time,final_state,starting_time,finish_time\n1,w,soon,REJECTED,,\n")
    with pytest.raises(batkube.ResultsError, match=r"jobs\.csv: line 2: submission_time is 'soon': expected a number"):
        batkube.load(path).figures  # noqa: B018
    path.write_text("job_id,workload_name\n")
    with pytest.raises(batkube.ResultsError, match="has no column submission_time"):
        batkube.load(path).figures  # noqa: B018
    with pytest.raises(batkube.ResultsError, match=r"holds no results: it has neither run\.json nor jobs\.csv"):
        batkube.load(tmp_path / "..")


@pytest.mark.parametrize(("text", "hosts"), [("0-2 5", [0, 1, 2, 5]), ("7", [7]), ("1,3-4", [1, 3, 4]), ("", [])])
def test_interval_sets(text: str, hosts: list[int]) -> None:
    assert hosts_of(text) == hosts
