"""The embedded simulator against real runs of Batsim: the recorded decisions give the recorded jobs.csv.

See ``replay`` for how they are played. Energy is not compared; everything else in a row is.
"""

import json
from collections.abc import Iterable

import pytest

from batkube.batsim import messages as m
from batkube.batsim.codec import decode, encode_as_batsim
from batkube.batsim.outputs import JobRecord
from batkube.simulator.conversation.errors import Deadlock
from batkube.simulator.embedded import EmbeddedSimulator
from tests.batsim.transcripts import Scenario, by_name, scenarios
from tests.simulator.replay import inputs, replay, table

CLOSE = 5e-3
"""Seconds between ideal dates and those of Batsim, which carry its control latencies."""
EXACT = 1e-6

NOT_SIMULATED = {
    "v4/error_register_after_finished": "refused here, where Batsim runs into a deadlock",
    "v4/simgrid_options": "SimGrid's own options",
    "v4/smpi_collective": "SMPI replay",
    "v4/no_sched": "Batsim alone (--no-sched): no message at all",
    "v3/change_job_state": "jobs driven by CHANGE_JOB_STATE, which Batsim 4 no longer can",
}
"""Runs that the embedded simulator does not play, and why."""

DEADLOCKS = {
    "v4/dynamic_never_finished": "registration_finished was never said",
    "v4/error_answer": "jobs wait that were neither started nor rejected",
    "v4/error_execute_extra_field_1": "jobs wait that were neither started nor rejected",
    "v4/error_nothing_ever": "jobs wait that were neither started nor rejected",
}
"""Runs in which Batsim came to a deadlock, said nothing any more and exited with 0."""

NOT_IDEAL = {
    "v4/workflow": "a task comes when those before it are known to have ended, which takes 2 ms from some hosts",
    "v4/workflow_later": "a task comes when those before it are known to have ended, which takes 2 ms from some hosts",
    "v4/external_events_at_end": "a job ends, and its host goes, within control latencies",
    "v4/pfs_cluster": "jobs contend for one storage, and shifts of control latencies change who waits for whom",
    "v4/sharing_cores": "jobs that start in one reply share hosts and links",
    "v4/sharing_mixed": "jobs that start in one reply share hosts and links",
    "v4/stencil": "jobs contend for one storage: a shift of 0.6 ms in one changes who waits for whom",
    "v4/walltime": "42 jobs start in one reply, 0.6 ms one after the other",
    "v4/tuto_stencil": "jobs contend for one storage: a shift of 0.6 ms in one changes who waits for whom",
}
"""Runs that depend on control latencies; they are played with exact dates alone."""

PLAYED = [s for s in scenarios("v3", "v4") if s.exit_code == 0 and s.name not in NOT_SIMULATED | DEADLOCKS]


Records = dict[tuple[str, str], JobRecord]
Rows = dict[tuple[str, str], dict[str, str]]


def differences(ours: JobRecord, theirs: dict[str, str], tolerance: float) -> list[str]:
    """In what a record is not as Batsim's row says."""
    found = [
        f"{name}: {our!r}, Batsim {their!r}"
        for name, our, their in (
            ("profile", ours.profile, theirs["profile"]),
            ("submission_time", f"{ours.submission_time:.6f}", theirs["submission_time"]),
            ("resources", str(ours.requested_number_of_resources), theirs["requested_number_of_resources"]),
            ("requested_time", f"{ours.requested_time or -1:.6f}", theirs["requested_time"]),
            ("success", str(int(ours.success)), theirs["success"]),
            ("final_state", ours.final_state, theirs["final_state"]),
            ("allocated_resources", ours.allocated_resources, theirs["allocated_resources"]),
            ("metadata", ours.metadata, theirs["metadata"]),
        )
        if our != their
    ]
    if ours.starting_time is None or ours.finish_time is None or not theirs["starting_time"]:
        return found if (ours.starting_time is None) is (theirs["starting_time"] == "") else [*found, "one did not run"]
    for name, our, their in (
        ("starting_time", ours.starting_time, float(theirs["starting_time"])),
        ("finish_time", ours.finish_time, float(theirs["finish_time"])),
    ):
        # At a date of 1e12 s Batsim's own numbers are a tenth of a millisecond apart.
        if abs(our - their) > tolerance + 4e-16 * their:
            found.append(f"{name}: {our}, Batsim {their}")
    return found


def check_execution_times(
    simulated: dict[tuple[str, str], JobRecord], real: dict[tuple[str, str], dict[str, str]]
) -> None:
    """Jobs that ended by themselves took as long as in Batsim, to the last decimal it prints."""
    for key, record in simulated.items():
        if record.starting_time is None or record.finish_time is None or record.final_state == "COMPLETED_KILLED":
            continue
        execution = float(real[key]["execution_time"])
        shortest = 1e-5  # what Batsim writes for no time at all
        took = record.finish_time - record.starting_time or shortest
        assert abs(took - execution) <= EXACT + 4e-16 * record.finish_time, key


def check(scenario: Scenario, tolerance: float) -> None:
    simulated = {(record.workload_name, record.job_id): record for record in replay(scenario).simulator.records}
    real = table(scenario.folder / "out_jobs.csv")
    assert simulated.keys() == real.keys()
    wrong = {key: found for key in real if (found := differences(simulated[key], real[key], tolerance))}
    assert not wrong
    if scenario.name not in SHARED_BY_PHASE:
        check_execution_times(simulated, real)


SHARED_BY_PHASE = {"v4/ptask_calibration", "v4/job_messages"}
"""Runs in which several tasks start in one reply and share: how long each takes hangs on the microseconds between;
and jobs whose own messages take time."""


@pytest.mark.parametrize("scenario", [s for s in PLAYED if s.name not in NOT_IDEAL], ids=by_name)
def test_ideal_dates_are_within_milliseconds_of_batsims(scenario: Scenario) -> None:
    check(scenario, CLOSE)


def told(messages: Iterable[m.Message]) -> dict[str, list[object]]:
    """Return what was told of each job, in order, and of none (under the empty name)."""
    found: dict[str, list[object]] = {"": []}
    for event in (event for message in messages for event in message.events):
        match event:
            case m.JobSubmitted():
                found.setdefault(event.data.job_id, []).append(("submitted", event.data.job["res"], event.data.profile))
            case m.JobCompleted():
                data = event.data
                found.setdefault(data.job_id, []).append((data.job_state, data.return_code, data.alloc))
            case m.JobKilled():
                for job_id in event.data.job_ids:
                    progress = event.data.job_progress.get(job_id)
                    found[job_id].append(("killed", rounded(progress.model_dump()) if progress else None))
            case m.Notify():
                found[""].append((event.data.type, event.data.resources))
    found[""].sort(key=str)
    return found


def rounded(progress: object) -> object:
    """The tree of a progress, its share to four decimals."""
    if isinstance(progress, dict):
        return {key: rounded(value) for key, value in progress.items()}
    return round(progress, 4) if isinstance(progress, float) else progress


TOLD_OTHERWISE = {
    "v4/external_events_at_end": "a kill that comes within microseconds of the end of its job",
    "v4/edge_kill_racing_completion": "the kill comes before the completion of another job was told; we tell sooner",
    "v3/kill_running": "Batsim 3 returns -1 for a killed parallel task, Batsim 4 and we -2",
}


@pytest.mark.parametrize("scenario", [s for s in PLAYED if s.name not in TOLD_OTHERWISE], ids=by_name)
def test_each_job_is_told_of_as_batsim_did(scenario: Scenario) -> None:
    ours = told(replay(scenario).messages)
    theirs = told(decode(sent) for sent, _ in scenario.dialogue)
    assert ours == theirs


@pytest.mark.parametrize("scenario", [s for s in scenarios("v4") if s.name in DEADLOCKS], ids=by_name)
def test_where_batsim_came_to_a_deadlock_so_do_we(scenario: Scenario) -> None:
    with pytest.raises(Deadlock, match=DEADLOCKS[scenario.name]):
        replay(scenario)


def test_nearly_all_runs_are_played() -> None:
    own = [scenario for scenario in scenarios("v4") if scenario.exit_code == 0 and not scenario.shared]
    not_played = [scenario.name for scenario in own if scenario.name in NOT_SIMULATED | DEADLOCKS]
    assert (len(own), len(not_played)) == (92, 8)


@pytest.mark.parametrize("scenario", [s for s in PLAYED if s.name.startswith("v4")], ids=by_name)
def test_simulation_begins_with_the_very_message_that_batsim_sends(scenario: Scenario) -> None:
    given = inputs(scenario)
    message = EmbeddedSimulator(given.platform, given.workloads, given.options).next_message()
    ours = encode_as_batsim(message).decode().replace(f"{scenario.folder}/", "/SCENARIO/")
    assert without_order(ours) == without_order(scenario.dialogue[0][0].decode())


def without_order(text: str) -> object:
    """The value of a JSON text; the order of members means nothing."""
    return json.loads(text, parse_float=str)
