"""The decisions sent to Batsim: their order and dates, and those that are never sent."""

import pytest

from batkube.batsim import messages as m
from batkube.batsim.jobs import JobState
from batkube.bridge.decisions import Decisions
from batkube.bridge.errors import InvariantBroken
from batkube.bridge.time import SimulatedTime

LATENCY = 0.0016


def decisions(latency: float = LATENCY) -> tuple[Decisions, SimulatedTime]:
    time = SimulatedTime(0.0)
    return Decisions(time, latency), time


def execute(job_id: str, alloc: str) -> m.ExecuteJobData:
    return m.ExecuteJobData(job_id=job_id, alloc=alloc)


def test_calls_go_first_so_that_no_decision_keeps_them_waiting() -> None:
    owed, time = decisions()
    time.advance(20.0)
    owed.told(20.0)
    for number in range(50):
        owed.table.submitted(f"w0!{number}")
        owed.execute(execute(f"w0!{number}", str(number)))
    owed.call_later(20.001)
    reply = owed.reply()
    assert [event.type for event in reply.events] == ["CALL_ME_LATER"] + ["EXECUTE_JOB"] * 50
    call = reply.events[0]
    assert isinstance(call, m.CallMeLater)
    # Whatever is decided before it, and whatever else is under way, is handled by then.
    assert call.data.timestamp > 20.0 + 51 * LATENCY
    assert [event.timestamp for event in reply.events] == sorted(event.timestamp for event in reply.events)


def test_a_call_leaves_room_for_the_end_of_each_running_job() -> None:
    owed, time = decisions()
    for number in range(1000):
        owed.table.submitted(f"w0!{number}")
        owed.execute(execute(f"w0!{number}", str(number)))
    owed.reply()
    time.advance(5.0)
    owed.told(5.0)
    owed.call_later(5.5)
    (call,) = owed.reply().events
    assert isinstance(call, m.CallMeLater)
    assert call.data.timestamp > 5.0 + 1000 * LATENCY


def test_a_call_leaves_room_for_what_was_decided_at_the_same_date_before() -> None:
    """Several messages may have one date; Batsim's server is still at work on the replies to the first."""
    owed, _ = decisions()
    owed.told(20.0)
    for number in range(100):
        owed.table.submitted(f"w0!{number}")
        owed.reject(f"w0!{number}")
    owed.reply()
    owed.told(20.0)
    owed.call_later(20.001)
    (call,) = owed.reply().events
    assert isinstance(call, m.CallMeLater)
    assert call.data.timestamp > 20.0 + 101 * LATENCY


def test_a_look_is_no_call_that_is_expected() -> None:
    owed, _ = decisions(0.0)
    owed.look_at(5.0)
    assert owed.calls == []
    look = m.Message(now=5.0, events=[m.RequestedCall(timestamp=5.0)])
    assert owed.is_look(look)
    owed.call_later(5.0)
    assert not owed.is_look(look)


def test_a_call_is_not_put_off_where_decisions_cost_nothing() -> None:
    owed, _ = decisions(0.0)
    owed.call_later(0.001)
    (call,) = owed.reply().events
    assert isinstance(call, m.CallMeLater)
    assert call.data.timestamp == 0.001


def test_one_call_is_enough() -> None:
    owed, _ = decisions(0.0)
    owed.call_later(5)
    owed.call_later(7)
    assert len(owed.reply().events) == 1
    owed.call_later(3)
    assert len(owed.reply().events) == 1
    owed.told(5.0)
    assert owed.calls == []


def test_decisions_on_which_batsim_aborts_are_never_sent() -> None:
    def reply(*said: str) -> None:
        owed, _ = decisions()
        owed.table.submitted("w0!a")
        owed.table.submitted("w0!b")
        for word in said:
            what, _, job = word.partition(" ")
            match what:
                case "start":
                    owed.execute(execute(f"w0!{job}", "3"))
                case "kill":
                    owed.kill(f"w0!{job}")
                case "reject":
                    owed.reject(f"w0!{job}")
                case "ends":
                    owed.reply()
                    owed.table.completed(f"w0!{job}", JobState.COMPLETED_SUCCESSFULLY)
                case "down":
                    owed.table.close_host(3, "unavailable")
                case "up":
                    owed.table.open_host(3)
        owed.reply()

    for fine in (["start a", "kill a"], ["start a", "ends a", "start b"], ["down", "up", "start a"], ["reject a"]):
        reply(*fine)
    for said, why in {
        ("start a", "start a"): "EXECUTE_JOB of w0!a would make Batsim abort: the job was started",
        ("start a", "start b"): "EXECUTE_JOB of w0!b would make Batsim abort: host 3 is in use",
        ("start c",): "the job was never submitted",
        ("down", "start a"): "host 3 is unavailable",
        ("kill a",): "KILL_JOB of w0!a would make Batsim abort: the job was submitted and not started",
        ("start a", "ends a", "kill a"): "the job has completed, and Batsim has told so",
        ("reject a", "reject a"): "REJECT_JOB of w0!a would make Batsim abort: the job was rejected",
        ("start a", "reject a"): "the job was started",
    }.items():
        with pytest.raises(InvariantBroken, match=why):
            reply(*said)


def test_hosts_that_are_shared_take_several_jobs() -> None:
    owed, _ = decisions()
    owed.table.exclusive = False
    for job in ("w0!a", "w0!b"):
        owed.table.submitted(job)
        owed.execute(execute(job, "0"))
    assert len(owed.reply().events) == 2
