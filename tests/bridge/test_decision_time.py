"""Decision time: what reactions last, and what is dated by it."""

from pathlib import Path

import pytest

from batkube.batsim.messages import Message
from batkube.bridge.decision_time import DecisionTime, Reactions
from batkube.bridge.time import SimulatedTime, whole_microseconds
from tests.bridge.world import JSON, World, delays, first_fit

CONSTANT = DecisionTime.parse("2")


@pytest.mark.parametrize(
    ("text", "model", "lasts"),
    [("zero", "zero", 0), ("0", "zero", 0), ("2.5", "2.5", 2.5), ("real", "real:1", 0.25), ("real:8", "real:8", 2)],
)
def test_models_as_the_user_names_them(text: str, model: str, lasts: float) -> None:
    decision_time = DecisionTime.parse(text)
    assert str(decision_time) == model
    assert decision_time.lasts(0.25) == lasts


@pytest.mark.parametrize("text", ["", "soon", "-1", "nan", "inf", "real:", "real:0", "real:-2", "real:inf", "2:3"])
def test_nonsense_is_no_model(text: str) -> None:
    with pytest.raises(ValueError, match="expected zero, a number of simulated seconds, or real:FACTOR"):
        DecisionTime.parse(text)


class RealClock:
    """Stands in for ``time.monotonic``."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_reaction_ends_as_much_later_as_it_took_in_real_time() -> None:
    clock, real = SimulatedTime(0.0), RealClock()
    clock.advance(10)
    reactions = Reactions(DecisionTime.parse("real:10"), clock, real)
    reactions.begin()
    real.now += 0.05
    reactions.decided()
    assert clock.now == 10.5
    real.now += 0.2
    # At rest 0.1 s ago: silence that only we waited for is no work.
    assert reactions.end(real.now - 0.1, acted=True)
    assert clock.now == 11.5
    assert (reactions.count, reactions.total, reactions.longest) == (1, 1.5, 1.5)


def test_a_reaction_without_a_decision_takes_no_time() -> None:
    clock, real = SimulatedTime(0.0), RealClock()
    reactions = Reactions(CONSTANT, clock, real)
    reactions.begin()
    assert not reactions.end(real.now + 1, acted=False)
    reactions.decided()
    assert (clock.now, reactions.count) == (0, 0)


def test_dates_can_go_over_the_wire() -> None:
    """Batsim prints six decimals: a date that it rounds down would lie in our past."""
    assert whole_microseconds(1.0000021) == 1.000003
    for date in (1.000002, 0.1 + 0.2, 123456.789012, 31_536_000.000001):
        assert f"{whole_microseconds(date):.6f}" == f"{date:.6f}"
        assert float(f"{whole_microseconds(date):.6f}") == whole_microseconds(date)


async def test_bindings_are_dated_after_their_cause(tmp_path: Path) -> None:
    world = World(tmp_path, [1], delays({"id": "a", "subtime": 5}), decision_time=CONSTANT)
    said: list[Message] = []
    send = world.simulator.send

    async def tapped(reply: Message) -> None:
        said.append(reply)
        await send(reply)

    world.simulator.send = tapped  # type: ignore[method-assign]
    seen: list[JSON] = []

    async def schedule(world: World) -> None:
        await first_fit(world)
        seen[:] = world.server.list("pods") or seen

    await world.run(schedule)
    job, record = world.simulation.control.jobs["w0!a"], world.simulation.control.pods["w0-a"]
    assert (record.created_time, record.bound_time, record.starting_time) == (5, 7, 7)
    assert (job.life.starting_time, job.life.finish_time) == (7, 17)
    (reply,) = [reply for reply in said if any(event.type == "EXECUTE_JOB" for event in reply.events)]
    assert (reply.now, reply.events[0].timestamp) == (7, 7)
    status = seen[0]["status"]
    (scheduled,) = [one for one in status["conditions"] if one["type"] == "PodScheduled"]
    assert scheduled["lastTransitionTime"] == "1970-01-01T00:00:07Z"
    assert status["startTime"] == "1970-01-01T00:00:07.000000000Z"
    (record_row,) = world.simulator.records
    assert (record_row.starting_time, record_row.finish_time) == (7, 17)


async def test_what_happens_during_a_decision_is_told_after_it_and_keeps_its_date(tmp_path: Path) -> None:
    given = delays({"id": "short", "profile": "p"}, {"id": "next", "subtime": 2.5, "profile": "p"}, p=1)
    world = World(tmp_path, [1, 1], given, decision_time=CONSTANT)
    told: list[tuple[float, str, str]] = []

    async def schedule(world: World) -> None:
        told.extend(
            (world.time.now, pod["metadata"]["name"], pod["status"]["phase"]) for pod in world.server.list("pods")
        )
        await first_fit(world)

    await world.run(schedule)
    jobs = world.simulation.control.jobs
    # Decided on from 0 to 2 and run from 2 to 3, while the scheduler is busy with the other from 2.5 to 4.5.
    assert (jobs["w0!short"].life.starting_time, jobs["w0!short"].life.finish_time) == (2, 3)
    assert (jobs["w0!next"].life.starting_time, jobs["w0!next"].life.finish_time) == (4.5, 5.5)
    assert min(date for date, name, phase in told if (name, phase) == ("w0-short", "Succeeded")) == 4.5
    finished = next(pod for pod in world.server.list("pods") if pod["metadata"]["name"] == "w0-short")
    terminated = finished["status"]["containerStatuses"][0]["state"]["terminated"]
    assert (terminated["startedAt"], terminated["finishedAt"]) == ("1970-01-01T00:00:02Z", "1970-01-01T00:00:03Z")
    ours = [(job.name, job.life.starting_time, job.life.finish_time) for job in world.simulation.control.ended]
    assert ours == [(row.job_id, row.starting_time, row.finish_time) for row in world.simulator.records]


async def test_each_reaction_of_a_step_takes_its_time(tmp_path: Path) -> None:
    """A pod that is deleted rejects its job, which makes room: what is bound then is a second reaction."""
    world = World(tmp_path, [1, 1], delays({"id": "gang", "res": 2}, {"id": "other"}), decision_time=CONSTANT)

    async def schedule(world: World) -> None:
        names = [pod["metadata"]["name"] for pod in world.waiting()]
        if "w0-gang-1" in names:
            await world.client.delete("/api/v1/namespaces/default/pods/w0-gang-1")
        elif names == ["w0-other"]:
            await first_fit(world)

    await world.run(schedule)
    dates = {event["event"]: event["time"] for event in world.logged()}
    assert (dates["job_rejected"], dates["job_started"], dates["job_completed"]) == (2, 4, 14)
