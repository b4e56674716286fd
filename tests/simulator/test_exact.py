"""The exact simulator against real runs of Batsim: given the recorded replies, it says the recorded messages.

Same events, in the same messages and the same order, every date to the microsecond, and the same rows in the same order
in all files.
"""

import csv
from pathlib import Path

import pytest

from batkube.batsim.errors import SimulatorError
from batkube.batsim.external_events import ExternalEventError
from batkube.simulator.conversation.errors import Deadlock
from batkube.simulator.outputs.files import write_files
from tests.batsim.transcripts import Scenario, by_name, scenarios
from tests.simulator.verbatim import PRINTED, Exchange, difference, play

NOT_SIMULATED = {
    "v3/kill_running": "Batsim 3 returns -1 for a killed parallel task, Batsim 4 and we -2",
    "v4/simgrid_options": "SimGrid's own options",
    "v4/smpi_collective": "collective operations of SMPI",
    "v4/no_sched": "Batsim alone (--no-sched): no message at all",
    "v3/change_job_state": "jobs driven by CHANGE_JOB_STATE, which Batsim 4 no longer can",
}
"""Runs that are not played, and why."""

DEADLOCKS = {
    "v4/dynamic_never_finished": "registration_finished was never said",
    "v4/error_answer": "jobs wait that were neither started nor rejected",
    "v4/error_execute_extra_field_1": "jobs wait that were neither started nor rejected",
    "v4/error_nothing_ever": "jobs wait that were neither started nor rejected",
}
"""Runs in which Batsim came to a deadlock, said nothing any more and exited with 0."""

REAL_TIME = {"batsim_version", "scheduling_time", "simulation_time"}
"""Columns of schedule.csv that differ from run to run."""

PLAYED = [s for s in scenarios("v3", "v4") if s.dialogue and s.exit_code == 0 and s.name not in NOT_SIMULATED]
REFUSED = [s for s in scenarios("v4") if s.dialogue and s.exit_code != 0]


def messages(scenario: Scenario, exchange: Exchange) -> None:
    """Fail at the first message that is not the recorded one."""
    recorded = [sent.decode() for sent, _ in scenario.dialogue]
    for number, (ours, theirs) in enumerate(zip(exchange.said, recorded, strict=False)):
        assert not difference(ours, theirs), f"message {number}"
    assert len(exchange.said) == len(recorded), exchange.error


@pytest.mark.parametrize("scenario", PLAYED, ids=by_name)
def test_it_says_what_batsim_said_and_writes_what_batsim_wrote(scenario: Scenario, tmp_path: Path) -> None:
    exchange = play(scenario)
    if scenario.name in DEADLOCKS:
        messages(scenario, exchange)
        assert exchange.error is None
        with pytest.raises(Deadlock, match=DEADLOCKS[scenario.name]):
            exchange.simulator.next_message()
    else:
        messages(scenario, exchange)
        assert exchange.error is None
    write_files(exchange.simulator, tmp_path / "out")
    rows_alike(tmp_path / "out_jobs.csv", scenario.folder / "out_jobs.csv", by_id=scenario.name.startswith("v3"))
    for theirs in scenario.folder.glob("out_*.csv"):
        if theirs.name != "out_jobs.csv":
            rows_alike(tmp_path / theirs.name, theirs)


@pytest.mark.parametrize("scenario", PLAYED[::10], ids=by_name)
def test_dates_are_the_same_when_steps_are_forgotten_as_soon_as_can_be(
    scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("batkube.simulator.time.event_queue.KEPT_STEPS", 0)
    messages(scenario, play(scenario))


@pytest.mark.parametrize("scenario", REFUSED, ids=by_name)
def test_what_made_batsim_abort_is_refused_at_the_same_place(scenario: Scenario) -> None:
    if scenario.folder.name.startswith("error_events_"):
        # An input on which Batsim aborts later, when it comes to it.
        with pytest.raises(ExternalEventError):
            play(scenario)
        return
    exchange = play(scenario)
    messages(scenario, exchange)
    assert isinstance(exchange.error, SimulatorError)
    assert "\n" not in str(exchange.error)


def rows_alike(ours: Path, theirs: Path, *, by_id: bool = False) -> None:
    """Fail at the first field of a CSV file that differs by more than how a microsecond is rounded."""
    our_rows, their_rows = rows(ours), rows(theirs)
    assert len(our_rows) == len(their_rows)
    if by_id:
        # Batsim 3 sorts them.
        our_rows.sort(key=lambda row: row["job_id"])
        their_rows.sort(key=lambda row: row["job_id"])
    for our, their in zip(our_rows, their_rows, strict=True):
        # At a date of 1e12 s Batsim's own numbers are a tenth of a millisecond apart.
        error = 2 * PRINTED + 4e-16 * float(their.get("finish_time") or their.get("makespan") or their.get("time") or 0)
        for column in their.keys() - REAL_TIME - {"epower"}:
            allowed = error
            if column == "stretch" and their["stretch"]:
                allowed *= (1 + float(their["stretch"])) / max(1e-6, float(their["execution_time"]))
            elif "slowdown" in column:
                allowed = 1e-5 * abs(float(their[column]))
            elif (column == "time" and "nb_idle" in their) or "new_pstate" in their:
                # Batsim writes six digits.
                allowed = 1e-5 * abs(float(their["time"]))
            elif column.startswith("time_"):
                # Sums of dates.
                allowed = 1e-3 + error
            assert alike(our[column], their[column], allowed), (their.get("job_id"), column, our[column], their[column])


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def alike(ours: str, theirs: str, allowed: float) -> bool:
    if ours == theirs:
        return True
    try:
        return abs(float(ours) - float(theirs)) <= allowed + 1e-9 * abs(float(theirs))
    except ValueError:
        return False
