"""The messages of the embedded simulator, and their dates."""

import pytest

from batkube.batsim import messages as m
from batkube.batsim.errors import ProtocolError, SimulatorError
from batkube.batsim.external_events import ExternalEvent, ExternalEventError
from batkube.batsim.platform import PlatformError
from batkube.batsim.workload import WorkloadError
from batkube.simulator.conversation.errors import Deadlock, InvalidDecision
from batkube.simulator.embedded import EmbeddedSimulator
from tests.simulator.cluster import Game, job, named, platform, workload

NO_MORE_JOBS = "no_more_static_job_to_submit"


def test_a_job_starts_and_ends_at_exact_dates() -> None:
    game = Game(workload(job("a", 0.1), job("b", 0.3), d={"type": "delay", "delay": 0.1}))
    assert game.then() == [(0.1, "submitted w0!a")]
    assert game.then(game.execute("a", "2")) == [(0.3, "submitted w0!b"), (0.3, NO_MORE_JOBS)]
    assert game.then(game.execute("b", "0")) == [(10.1, "successfully w0!a 0 on 2")]
    assert game.then() == [(10.3, "successfully w0!b 0 on 0")]
    assert game.then() == [(10.3, "simulation_ends")]
    game.say()
    with pytest.raises(SimulatorError, match="the simulation is over"):
        game.next()


def test_no_error_of_rounding_grows_over_many_parts() -> None:
    tenths = {"type": "composed", "seq": ["tenth"], "repeat": 100_000}
    game = Game(workload(job("a", profile="long"), tenth={"type": "delay", "delay": 0.1}, long=tenths))
    game.then()
    assert game.then(game.execute("a", "0")) == [(10_000.0, "successfully w0!a 0 on 0")]


def test_dates_far_away_are_exact() -> None:
    game = Game(workload(job("a", 1e15)))
    assert game.then() == [(1e15, "submitted w0!a"), (1e15, NO_MORE_JOBS)]
    assert game.then(game.execute("a", "0")) == [(1e15 + 10, "successfully w0!a 0 on 0")]


def test_what_happens_at_one_date_is_told_in_one_message_in_a_fixed_order() -> None:
    down = ExternalEvent(10.0, "machine_unavailable", (3,), {})
    jobs = [job("a"), job("b"), job("x10", 10), job("x9", 10)]
    game = Game(workload(*jobs), external_events=[down])
    assert game.then() == [(0.0, "submitted w0!a"), (0.0, "submitted w0!b")]
    assert game.then(game.call(10), game.execute("b", "1"), game.execute("a", "0")) == [
        (10.0, "successfully w0!b 0 on 1"),
        (10.0, "successfully w0!a 0 on 0"),
        (10.0, "event_machine_unavailable 3"),
        (10.0, "submitted w0!x10"),
        (10.0, "submitted w0!x9"),
        (10.0, "no_more_external_event_to_occur"),
        (10.0, NO_MORE_JOBS),
        (10.0, "call"),
    ]


def test_ids_are_ordered_as_strings_within_a_date_and_workloads_as_given() -> None:
    game = Game(workload(job("9"), job("10"), job("1", -5)), named("w1", job("0")))
    assert [what for _, what in game.then()] == [
        "submitted w0!1",
        "submitted w0!10",
        "submitted w0!9",
        "submitted w1!0",
        NO_MORE_JOBS,
    ]


def test_a_delay_as_long_as_its_walltime_is_stopped_a_task_is_not() -> None:
    task = {"type": "parallel_homogeneous", "cpu": 10e9, "com": 0}
    jobs = [job("delay", walltime=10), job("task", walltime=10, profile="task"), job("short", walltime=9.5)]
    game = Game(workload(*jobs, task=task))
    game.then()
    starts = [game.execute(name, str(host)) for host, name in enumerate(("delay", "task", "short"))]
    assert game.then(*starts) == [(9.5, "walltime_reached w0!short -1 on 2")]
    assert game.then() == [(10.0, "walltime_reached w0!delay -1 on 0"), (10.0, "successfully w0!task 0 on 1")]


def test_a_profile_that_returns_a_code_fails_and_stops_its_sequence() -> None:
    profiles = {
        "fails": {"type": "delay", "delay": 2, "ret": 42},
        "twice": {"type": "composed", "seq": ["d10", "fails", "d10"], "repeat": 2},
    }
    game = Game(workload(job("a", profile="fails"), job("b", profile="twice"), **profiles))
    game.then()
    assert game.then(game.execute("a", "0"), game.execute("b", "1")) == [(2.0, "failed w0!a 42 on 0")]
    assert game.then() == [(12.0, "failed w0!b 42 on 1")]


def test_a_killed_job_tells_how_far_it_was() -> None:
    profiles = {
        "inner": {"type": "composed", "seq": ["d10"], "repeat": 3},
        "outer": {"type": "composed", "seq": ["d10", "inner"]},
    }
    game = Game(workload(job("a", profile="outer"), job("b"), **profiles))
    game.then()
    game.then(game.execute("a", "0"), game.call(24))
    game.say(game.kill("a"))
    completed, killed = game.next()
    assert isinstance(completed, m.JobCompleted)
    assert (completed.timestamp, completed.data.job_state, completed.data.return_code) == (24.0, "COMPLETED_KILLED", -1)
    assert isinstance(killed, m.JobKilled)
    leaf = m.LeafProgress(profile_name="d10", progress=0.4)
    inner = m.SequenceProgress(profile_name="inner", current_task_index=1, current_task=leaf)
    outer = m.SequenceProgress(profile_name="outer", current_task_index=1, current_task=inner)
    assert killed.data == m.JobKilledData(job_ids=["w0!a"], job_progress={"w0!a": outer})
    # Its host is free again at once.
    assert game.then(game.execute("b", "0")) == [(34.0, "successfully w0!b 0 on 0")]


def test_a_killed_task_returns_another_code_and_tells_its_share() -> None:
    game = Game(workload(job("a", profile="t"), t={"type": "parallel_homogeneous", "cpu": 10e9, "com": 0}))
    game.then()
    game.then(game.execute("a", "0"), game.call(4))
    game.say(game.kill("a"))
    completed, killed = game.next()
    assert isinstance(completed, m.JobCompleted)
    assert completed.data.return_code == -2
    assert isinstance(killed, m.JobKilled)
    assert killed.data.job_progress["w0!a"].model_dump() == {"profile_name": "t", "progress": 0.4}


def test_a_second_kill_of_one_job_is_dropped() -> None:
    game = Game(workload(job("a"), job("b")))
    game.then()
    game.say(game.execute("a", "0"), game.execute("b", "1"), game.kill("a"), game.kill("a"), game.kill("b", "a"))
    assert [event.type for event in game.next()] == ["JOB_COMPLETED", "JOB_COMPLETED", "JOB_KILLED", "JOB_KILLED"]


def test_a_kill_may_come_upon_a_job_that_ended_before_it_was_told() -> None:
    game = Game(workload(job("a")))
    game.then()
    # While we are busy until 12 the job ends at 10; the kill dated 11 finds it gone.
    game.say(game.execute("a", "0"), game.kill("a", at=11), now=12)
    completed, killed = game.next()
    assert (completed.timestamp, killed.timestamp, game.now) == (10.0, 11.0, 12.0)
    assert isinstance(completed, m.JobCompleted)
    assert completed.data.job_state == "COMPLETED_SUCCESSFULLY"
    assert isinstance(killed, m.JobKilled)
    assert killed.data == m.JobKilledData(job_ids=["w0!a"], job_progress={})


def test_decisions_take_effect_at_their_dates_and_never_in_the_past() -> None:
    game = Game(workload(job("a", 1), job("b", 1), job("c", 1)))
    game.then()
    game.say(game.execute("a", "0", at=3), game.execute("b", "1", at=2), game.execute("c", "2", at=0), now=5)
    assert [(event.timestamp, game.now) for event in game.next()] == [(13.0, 13.0)] * 3


def test_events_wait_while_the_decision_process_is_busy() -> None:
    game = Game(workload(job("a", 1), job("b", 2)))
    game.say(now=5)
    assert [(event.timestamp, event.type) for event in game.next()] == [
        (1.0, "JOB_SUBMITTED"),
        (2.0, "JOB_SUBMITTED"),
        (2.0, "NOTIFY"),
    ]
    assert game.now == 5.0


def test_the_simulation_waits_for_a_call() -> None:
    game = Game(workload(job("a")))
    game.then()
    assert game.then(game.reject("a"), game.call(1000), game.call(1000)) == [(1000.0, "call"), (1000.0, "call")]
    assert game.then() == [(1000.0, "simulation_ends")]
    assert [record.final_state for record in game.simulator.records] == ["REJECTED"]


def test_no_workload_at_all_is_no_reason_to_wait() -> None:
    assert Game().then() == [(0.0, "simulation_ends")]


def test_a_workload_without_jobs_is_announced_as_over() -> None:
    game = Game(workload())
    assert game.then() == [(0.0, NO_MORE_JOBS)]
    assert game.then() == [(0.0, "simulation_ends")]


# Hosts that go and come


def test_jobs_run_on_through_an_outage_and_none_starts_in_it() -> None:
    events = [
        ExternalEvent(4.0, "machine_unavailable", (0, 1), {}),
        ExternalEvent(6.0, "machine_available", (0, 1), {}),
    ]
    game = Game(workload(job("a"), job("b")), external_events=events)
    game.then()
    assert game.then(game.execute("a", "0")) == [(4.0, "event_machine_unavailable 0-1")]
    with pytest.raises(InvalidDecision, match=r"EXECUTE_JOB.* job w0!b: host 1 \(h01\) is unavailable"):
        game.say(game.execute("b", "1"))
    game = Game(workload(job("a"), job("b")), external_events=events)
    game.then()
    game.then(game.execute("a", "0"))
    assert game.then() == [(6.0, "event_machine_available 0-1"), (6.0, "no_more_external_event_to_occur")]
    assert game.then(game.execute("b", "1")) == [(10.0, "successfully w0!a 0 on 0")]
    assert game.simulator.books.totals.times["unavailable"] == 4.0


@pytest.mark.parametrize(
    ("events", "complaint"),
    [
        ([ExternalEvent(1.0, "machine_available", (0,), {})], "machine_available at 1: hosts 0 are available already"),
        (
            [ExternalEvent(t, "machine_unavailable", (0, 1, 3), {}) for t in (1.0, 2.0)],
            "machine_unavailable at 2: hosts 0-1 3 are unavailable already",
        ),
        ([ExternalEvent(1.0, "machine_unavailable", (4,), {})], "at 1: there is no host 4 among 4"),
    ],
)
def test_events_that_cannot_be_are_refused_before_the_simulation(events: list[ExternalEvent], complaint: str) -> None:
    with pytest.raises(ExternalEventError, match=complaint):
        Game(workload(), external_events=events)


# Sharing


def test_compute_work_is_shared_fairly_and_delays_are_not_slowed() -> None:
    profiles = {"t": {"type": "parallel_homogeneous", "cpu": 10e9, "com": 0}}
    jobs = [job("a", profile="t"), job("b", 5, profile="t"), job("c", 5)]
    game = Game(workload(*jobs, **profiles), compute_sharing=True)
    game.then()
    game.then(game.execute("a", "0"))
    # From 5 to 15 both have half of the host.
    assert game.then(game.execute("b", "0"), game.execute("c", "0")) == [
        (15.0, "successfully w0!a 0 on 0"),
        (15.0, "successfully w0!c 0 on 0"),
    ]
    assert game.then() == [(20.0, "successfully w0!b 0 on 0")]


def test_a_task_has_one_core_of_many_and_more_tasks_share_them() -> None:
    profiles = {"t": {"type": "parallel_homogeneous", "cpu": 5e9, "com": 0}}
    game = Game(
        workload(*(job(f"j{n}", profile="t") for n in range(6)), **profiles),
        on=platform(1, cores=4),
        compute_sharing=True,
    )
    game.then()
    ended = game.then(*(game.execute(f"j{n}", "0") for n in range(6)))
    assert [date for date, _ in ended] == [7.5] * 6
    game = Game(workload(job("a", profile="t"), **profiles), on=platform(1, cores=4))
    game.then()
    assert game.then(game.execute("a", "0")) == [(5.0, "successfully w0!a 0 on 0")]


def test_several_executors_may_share_a_host_by_a_mapping() -> None:
    profiles = {"t": {"type": "parallel_homogeneous", "cpu": 5e9, "com": 0}}
    game = Game(workload(job("a", profile="t", res=4), **profiles))
    game.then()
    mapping = {"0": 0, "1": 0, "2": 1, "3": 0}
    assert game.then(game.execute("a", "2-3", mapping=mapping)) == [(15.0, "successfully w0!a 0 on 2-3")]


# Dynamic jobs


def test_a_registered_job_runs_in_the_reply_that_registers_it() -> None:
    game = Game(dynamic_jobs=True)
    assert game.then(game.profile("p"), game.register("dyn!a"), game.execute("dyn!a", "0")) == [
        (5.0, "successfully dyn!a 0 on 0")
    ]
    assert game.then(game.notify("registration_finished")) == [(5.0, "simulation_ends")]


def test_a_registered_job_is_acknowledged_on_demand_with_all_its_fields() -> None:
    game = Game(dynamic_jobs=True, acknowledge_dynamic_jobs=True, forward_profiles=True)
    game.say(game.profile("p"), game.register("dyn!a", colour="blue"))
    (event,) = game.next()
    assert isinstance(event, m.JobSubmitted)
    assert event.data.job == {"id": "dyn!a", "subtime": 0, "res": 1, "profile": "p", "colour": "blue"}
    assert event.data.profile == {"type": "delay", "delay": 5}


def test_registration_goes_on_in_a_later_reply_than_says_so() -> None:
    game = Game(dynamic_jobs=True)
    game.then(game.notify("registration_finished"), game.notify("continue_registration"), game.call(1))
    assert game.then(game.profile("p"), game.register("dyn!a"), game.execute("dyn!a", "0")) == [
        (6.0, "successfully dyn!a 0 on 0")
    ]


def test_a_profile_is_forgotten_with_its_last_job_unless_reuse_is_on() -> None:
    for reuse in (False, True):
        game = Game(dynamic_jobs=True, profile_reuse=reuse)
        game.then(game.profile("p"), game.register("dyn!a"), game.execute("dyn!a", "0"))
        if reuse:
            assert game.then(game.register("dyn!b"), game.execute("dyn!b", "0")) == [
                (10.0, "successfully dyn!b 0 on 0")
            ]
        else:
            with pytest.raises(InvalidDecision, match="profile 'p' existed and was forgotten"):
                game.say(game.register("dyn!b"))


# Ends that are none


def test_a_deadlock_names_the_jobs_that_wait() -> None:
    game = Game(workload(*(job(f"j{n}") for n in range(7))))
    game.then()
    with pytest.raises(Deadlock, match=r"jobs wait .*: w0!j0, w0!j1, w0!j2, w0!j3, w0!j4 and 2 more"):
        game.then()


def test_a_registration_that_is_never_finished_is_a_deadlock() -> None:
    game = Game(dynamic_jobs=True)
    with pytest.raises(Deadlock, match="registration_finished was never said"):
        game.then()


def test_messages_and_answers_take_turns() -> None:
    game = Game(workload(job("a")))
    with pytest.raises(SimulatorError, match="has not been answered"):
        game.next()
    game.say()
    with pytest.raises(SimulatorError, match="no message to answer"):
        game.say()


def test_a_reply_may_not_be_older_than_its_decisions() -> None:
    game = Game(workload(job("a")))
    game.then()
    with pytest.raises(ProtocolError, match=r"event 0 \(EXECUTE_JOB\): timestamp 2.0 is after now 1.0"):
        game.say(game.execute("a", "0", at=2), now=1.0)


async def test_the_interface_of_simulators() -> None:
    simulator = EmbeddedSimulator(platform(), [workload(job("a"))])
    first = await simulator.receive()
    assert isinstance(first.events[0], m.SimulationBegins)
    await simulator.send(m.Message(now=0, events=[]))
    assert isinstance((await simulator.receive()).events[0], m.JobSubmitted)
    await simulator.close()
    await simulator.close()


def test_a_trace_that_is_not_there_is_refused_at_load_with_its_profile() -> None:
    profiles = {"x": {"type": "smpi", "trace": "no/traces.txt"}}
    with pytest.raises(WorkloadError, match=r"profile 'x': trace: there is no file .*traces.txt"):
        Game(workload(job("a", profile="x"), **profiles))


def test_a_platform_without_master_is_refused() -> None:
    with pytest.raises(PlatformError, match="expected one master host"):
        Game(workload(), master="h00", roles={"h01": ["master"]})
