"""The step loop at a pace: what a scheduler on the real clock does is dated when it does it; pauses trip nothing."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from batkube.bridge.errors import Stuck
from batkube.bridge.jobs import JobState
from batkube.bridge.step_settings import OnDeadlock, StepSettings
from batkube.clock.pace import Pace
from tests.bridge.world import World, delays, first_fit


@asynccontextmanager
async def beside(work: Awaitable[None]) -> AsyncIterator[None]:
    """``work`` goes on in the background."""
    task = asyncio.ensure_future(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def nothing(world: World) -> None:
    raise AssertionError("nobody waits for quiescence at a pace")


async def appears(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110
        await asyncio.sleep(0.002)


async def test_a_binding_is_dated_as_much_after_its_cause_as_it_was_made(tmp_path: Path) -> None:
    world = World(tmp_path, [1], delays({"id": "a", "subtime": 1}, {"id": "b", "subtime": 40}))
    made: dict[str, float] = {}

    async def slow() -> None:
        """Thinks for 0.3 real seconds about each pod."""
        while True:
            await appears(lambda: bool(world.waiting()))
            seen = time.monotonic()
            await asyncio.sleep(0.3)
            pod = world.waiting()[0]["metadata"]["name"]
            await world.bind(pod, "h0")
            made[pod] = time.monotonic() - seen

    async with beside(slow()):
        await world.run(nothing, StepSettings(), Pace(20))
    for job in world.simulation.control.ended:
        started = job.starting_time or 0.0
        # 20 simulated seconds a real one: 0.3 s of thinking are 6 s, and the next look at it is not far.
        assert started - job.subtime >= 6
        assert started - job.subtime <= 20 * (made[job.pods[0]] + 0.25)
        assert (job.finish_time or 0.0) == pytest.approx(started + 10)
    ours = [(job.name, job.starting_time, job.finish_time) for job in world.simulation.control.ended]
    assert ours == [(row.job_id, row.starting_time, row.finish_time) for row in world.simulator.records]
    assert world.simulation.reactions.model == "pace"


async def test_deleting_a_running_pod_is_noticed_though_no_pod_waits(tmp_path: Path) -> None:
    world = World(tmp_path, [1], delays({"id": "a"}, p=10_000))

    async def user() -> None:
        await appears(lambda: bool(world.waiting()))
        await first_fit(world)
        await appears(lambda: world.simulation.control.running == 1)
        await world.client.delete("/api/v1/namespaces/default/pods/w0-a")

    began = time.monotonic()
    async with beside(user()):
        await world.run(nothing, StepSettings(), Pace(10))
    (job,) = world.simulation.control.ended
    assert job.batsim_state == "COMPLETED_KILLED"
    assert (job.finish_time or 0.0) <= 10 * (time.monotonic() - began)


@pytest.mark.parametrize("on_deadlock", list(OnDeadlock))
async def test_a_scheduler_that_does_nothing_is_found_out_at_a_pace_too(
    tmp_path: Path, on_deadlock: OnDeadlock
) -> None:
    world = World(tmp_path, [1], delays({"id": "a"}))
    settings = StepSettings(patience=0.2, on_deadlock=on_deadlock)
    if on_deadlock is OnDeadlock.FAIL:
        with pytest.raises(Stuck, match="job w0!a: w0-a unbound"):
            await world.run(nothing, settings, Pace(10))
        assert world.time.now >= 2
    else:
        await world.run(nothing, settings, Pace(10))
        assert world.states() == {"a": JobState.REJECTED}


async def test_a_pause_holds_the_next_message_and_uses_up_no_patience(tmp_path: Path) -> None:
    world = World(tmp_path, [1], delays({"id": "a"}, {"id": "b", "subtime": 5}))
    pace = Pace(50)
    settings = StepSettings(patience=0.3)

    async def user() -> None:
        await appears(lambda: len(world.waiting()) == 2)
        pace.pause()
        await asyncio.sleep(0.02)
        held = world.time.now
        await asyncio.sleep(1.0)
        assert world.time.now == held
        pace.resume()
        await first_fit(world)
        await appears(lambda: world.states()["a"] is JobState.ENDED)
        await first_fit(world)

    user_task = asyncio.ensure_future(user())
    await world.run(nothing, settings, pace)
    await user_task
    assert set(world.states().values()) == {JobState.ENDED}


async def test_a_pause_at_full_speed_and_single_steps(tmp_path: Path) -> None:
    world = World(tmp_path, [1], delays({"id": "a"}, {"id": "b", "subtime": 5}))
    pace = Pace(paused=True)
    run = asyncio.ensure_future(world.run(first_fit, pace=pace))
    seen = []
    await appears(lambda: pace.state == "under way")
    while pace.state == "under way":
        pace.step()
        await appears(lambda: not pace.stepping)
        seen.append((world.time.now, sorted(state.value for state in world.states().values())))
    await run
    # The beginning, each submission, each completion, the end.
    assert seen == [
        (0, []),
        (0, ["running"]),
        (5, ["running", "waiting"]),
        (10, ["ended", "running"]),
        (20, ["ended", "ended"]),
        (20, ["ended", "ended"]),
    ]


async def test_patience_with_a_scheduler_does_not_run_out_while_paused(tmp_path: Path) -> None:
    world = World(tmp_path, [1], delays({"id": "a"}))
    pace = Pace()
    turns = 0

    async def late(world: World) -> None:
        nonlocal turns
        turns += bool(world.waiting())

    async def user() -> None:
        await appears(lambda: turns > 0)
        pace.pause()
        await asyncio.sleep(0.6)
        await first_fit(world)
        pace.resume()

    user_task = asyncio.ensure_future(user())
    await world.run(late, StepSettings(patience=0.3), pace)
    await user_task
    assert world.states() == {"a": JobState.ENDED}
