"""jobs.csv and schedule.csv as Batsim writes them."""

import csv
import math
from pathlib import Path

import pytest

from batkube.batsim.outputs import (
    JobRecord,
    MachineTotals,
    write_consumed_energy_csv,
    write_jobs_csv,
    write_machine_states_csv,
    write_pstate_changes_csv,
    write_schedule_csv,
)
from tests.batsim.transcripts import Scenario, by_name, scenarios

DELAY = JobRecord(
    job_id="0",
    workload_name="w0",
    profile="delay10",
    submission_time=1.0,
    requested_number_of_resources=2,
    requested_time=100.0,
    success=True,
    final_state="COMPLETED_SUCCESSFULLY",
    starting_time=3.0,
    finish_time=13.0,
    allocated_resources="0-1",
    metadata="node=n1",
)
REJECTED = JobRecord("1", "w0", "delay10", 2.0, 4, None, False, "REJECTED")
STOPPED = JobRecord("2", "w0", "d", 0.0, 1, 5.0, False, "COMPLETED_WALLTIME_REACHED", 20.0, 25.0, "1")
AT_ONCE = JobRecord("3", "w0", "nothing", 30.0, 1, None, True, "COMPLETED_SUCCESSFULLY", 30.0, 30.0, "0")


def record(row: dict[str, str]) -> JobRecord:
    """A record with what a row of Batsim's says."""
    ran = row["starting_time"] != ""
    walltime, energy = float(row["requested_time"]), row["consumed_energy"]
    return JobRecord(
        job_id=row["job_id"],
        workload_name=row["workload_name"],
        profile=row["profile"],
        submission_time=float(row["submission_time"]),
        requested_number_of_resources=int(row["requested_number_of_resources"]),
        requested_time=None if walltime == -1 else walltime,
        success=row["success"] == "1",
        final_state=row["final_state"],
        starting_time=float(row["starting_time"]) if ran else None,
        finish_time=float(row["finish_time"]) if ran else None,
        allocated_resources=row["allocated_resources"],
        consumed_energy=None if energy in ("", "-1.000000") else float(energy),
        metadata=row["metadata"],
    )


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def same(ours: str, theirs: str) -> bool:
    """Equal, or equal numbers but for the decimals that a file of six decimals cannot tell."""
    if ours == theirs:
        return True
    return abs(float(ours) - float(theirs)) <= 2e-5 * max(1.0, abs(float(theirs)))


@pytest.mark.parametrize("scenario", [s for s in scenarios("v4") if s.exit_code == 0], ids=by_name)
def test_batsims_own_rows_are_written_again(scenario: Scenario, tmp_path: Path) -> None:
    theirs = scenario.folder / "out_jobs.csv"
    if not theirs.exists():
        pytest.skip("the run left no jobs.csv")
    write_jobs_csv(tmp_path / "jobs.csv", [record(row) for row in rows(theirs)])
    ours_text, theirs_text = (tmp_path / "jobs.csv").read_text(), theirs.read_text()
    assert ours_text.splitlines()[0] == theirs_text.splitlines()[0]
    for our, their in zip(rows(tmp_path / "jobs.csv"), rows(theirs), strict=True):
        assert our.keys() == their.keys()
        assert not [key for key in our if key != "stretch" and not same(our[key], their[key])]
        if their["stretch"]:
            # Of a short job it hangs on digits that the file has rounded away.
            rounding = 1e-6 / float(their["execution_time"]) if their["execution_time"] != "0.000000" else math.inf
            assert float(our["stretch"]) == pytest.approx(float(their["stretch"]), rel=rounding + 1e-6)


NEEDS_MORE_THAN_JOBS = {
    "v4/no_sched": "what --no-sched leaves out",
    "v4/energy_pstates": "switched hosts",
    "v4/energy_dvfs_running": "switched hosts",
    "v4/energy_switch_many": "switched hosts",
    "v4/dynamic_requeued": "outages",
    "v4/external_events": "outages",
    "v4/external_events_at_end": "outages",
    "v4/external_events_at_once": "outages",
    "v4/external_events_energy": "outages",
    "v4/external_events_generic": "outages",
    "v4/external_events_kill_on_failure": "outages",
    "v4/external_events_running_through_failure": "outages",
    "v4/zero_length": "a job of no length",
}


@pytest.mark.parametrize("scenario", [s for s in scenarios("v4") if s.exit_code == 0], ids=by_name)
def test_batsims_own_summary_is_written_again(scenario: Scenario, tmp_path: Path) -> None:
    theirs = scenario.folder / "out_schedule.csv"
    if not theirs.exists() or not rows(theirs) or scenario.name in NEEDS_MORE_THAN_JOBS:
        pytest.skip(NEEDS_MORE_THAN_JOBS.get(scenario.name, "the run left no schedule.csv"))
    (their,) = rows(theirs)
    records = [record(row) for row in rows(scenario.folder / "out_jobs.csv")]
    write_schedule_csv(tmp_path / "schedule.csv", records, nb_machines=int(their["nb_computing_machines"]))
    (our,) = rows(tmp_path / "schedule.csv")
    assert list(our) == list(their)
    not_ours = {"batsim_version", "consumed_joules", "scheduling_time", "simulation_time"}
    stretch = (
        {"max_slowdown", "mean_slowdown"} if scenario.name in ("v4/profiles_mixed", "v4/ptask_calibration") else set()
    )
    assert not [key for key in their if key not in not_ours | stretch and not same(our[key], their[key])]


def test_a_rejected_job_has_no_times_and_one_of_no_length_a_little(tmp_path: Path) -> None:
    write_jobs_csv(tmp_path / "jobs.csv", [DELAY, REJECTED, AT_ONCE])
    assert (tmp_path / "jobs.csv").read_text().splitlines()[1:] == [
        "0,w0,delay10,1.000000,2,100.000000,1,COMPLETED_SUCCESSFULLY,3.000000,10.000000,13.000000,2.000000,12.000000,"
        '1.200000,0-1,-1.000000,"node=n1"',
        '1,w0,delay10,2.000000,4,-1.000000,0,REJECTED,,,,,,,,,""',
        "3,w0,nothing,30.000000,1,-1.000000,1,COMPLETED_SUCCESSFULLY,30.000000,0.000010,30.000010,0.000000,0.000010,"
        '1.000000,0,-1.000000,""',
    ]


def test_names_that_would_break_a_row_are_quoted(tmp_path: Path) -> None:
    odd = JobRecord('a,"b"', "w0", "p", 0.0, 1, None, False, "REJECTED")
    write_jobs_csv(tmp_path / "jobs.csv", [odd])
    (row,) = rows(tmp_path / "jobs.csv")
    assert row["job_id"] == 'a,"b"'
    assert row["final_state"] == "REJECTED"


def test_the_summary_counts_hosts_up_to_their_last_change(tmp_path: Path) -> None:
    path = tmp_path / "schedule.csv"
    write_schedule_csv(path, [DELAY, REJECTED, STOPPED], nb_machines=4)
    (row,) = rows(path)
    assert row["makespan"] == "25.000000"
    assert (row["nb_jobs"], row["nb_jobs_finished"], row["nb_jobs_success"]) == ("3", "2", "1")
    assert (row["nb_jobs_killed"], row["nb_jobs_rejected"], row["success_rate"]) == ("1", "1", "0.333333")
    # Host 0: 3 to 13. Host 1: 3 to 13 and 20 to 25. Hosts 2 and 3 never changed.
    assert (row["time_computing"], row["time_unavailable"], row["time_idle"]) == ("25.000000", "0.000000", "13.000000")
    assert (row["scheduling_time"], row["simulation_time"]) == ("0.000000", "0.000000")


def test_the_summary_says_what_machines_did_where_that_is_known(tmp_path: Path) -> None:
    totals = MachineTotals({"idle": 5.0, "switching_on": 1.5}, 1234.5, nb_grouped_switches=2, nb_machine_switches=3)
    write_schedule_csv(tmp_path / "schedule.csv", [DELAY], nb_machines=4, totals=totals)
    (row,) = rows(tmp_path / "schedule.csv")
    assert (row["time_computing"], row["time_idle"], row["time_switching_on"]) == ("0.000000", "5.000000", "1.500000")
    assert (row["consumed_joules"], row["nb_grouped_switches"], row["nb_machine_switches"]) == ("1234.500000", "2", "3")


def test_mean_watts_are_those_since_the_row_before(tmp_path: Path) -> None:
    path = tmp_path / "energy.csv"
    write_consumed_energy_csv(path, [(2.0, 100.0, "s", 40.0), (2.0, 100.0, "p", 30.0), (4.0, 350.0, "e", 30.0)])
    assert path.read_text().splitlines()[1:] == [
        "2.000000,100.000000,s,40.000000,50.000000",
        "2.000000,100.000000,p,30.000000,NA",
        "4.000000,350.000000,e,30.000000,125.000000",
    ]


def test_dates_of_states_and_pstates_have_six_digits(tmp_path: Path) -> None:
    write_machine_states_csv(tmp_path / "states.csv", [(1234567.8, [0, 0, 0, 3, 1])])
    write_pstate_changes_csv(tmp_path / "pstates.csv", [(26.1044001, "0-1 3", -2)])
    assert (tmp_path / "states.csv").read_text().splitlines()[1] == "1.23457e+06,0,0,0,3,1"
    assert (tmp_path / "pstates.csv").read_text().splitlines()[1] == "26.1044,0-1 3,-2"


def test_means_over_no_job_are_batsims_nan(tmp_path: Path) -> None:
    write_schedule_csv(tmp_path / "schedule.csv", [], nb_machines=4)
    (row,) = rows(tmp_path / "schedule.csv")
    assert (row["mean_waiting_time"], row["success_rate"], row["makespan"]) == ("-nan", "-nan", "0.000000")


def test_evalys_reads_jobs_csv(tmp_path: Path) -> None:
    jobset = pytest.importorskip("evalys.jobset")
    path = tmp_path / "jobs.csv"
    write_jobs_csv(path, [DELAY, REJECTED, STOPPED])
    frame = jobset.JobSet.from_csv(str(path)).df
    by_id = frame.set_index(frame["jobID"].astype(str))
    assert by_id.loc["0", "starting_time"] == 3.0
    assert by_id.loc["0", "finish_time"] == 13.0
    assert str(by_id.loc["2", "allocated_resources"]) == "1"
    assert by_id.loc["0", "waiting_time"] == 2.0
