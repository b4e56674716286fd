"""The step loop at a pace: what a scheduler on the real clock does is dated when it does it; pauses trip nothing."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from batkube.batsim.jobs import JobState
from batkube.bridge.errors import Stuck
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
    async with asyncio.timeout(120):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.002)


async def test_a_binding_is_dated_as_much_after_its_cause_as_it_was_made(tmp_path: Path) -> None:
    world = World(tmp_path, [1], delays({"id": "a", "subtime": 1}, {"id": "b", "subtime": 40}))
    pace = Pace(20)
    made: dict[str, tuple[float, float]] = {}

    def have_started(count: int) -> bool:
        control = world.simulation.control
        return control.running + len(control.ended) == count

    async def slow() -> None:
        """Thinks for 0.3 real seconds about each pod; notes between which dates its binding took effect."""
        for count in (1, 2):
            await appears(lambda: bool(world.waiting()))
            await asyncio.sleep(0.3)
            pod, begun = world.waiting()[0]["metadata"]["name"], pace.now()
            await world.bind(pod, "h0")
            await appears(partial(have_started, count))
            made[pod] = begun, pace.now()

    async with beside(slow()):
        await world.run(nothing, StepSettings(patience=600), pace)
    for job in world.simulation.control.ended:
        started = job.life.starting_time or 0.0
        # 20 simulated seconds a real one: 0.3 s of thinking are 6 s. Where the machine is late, so are the looks at it.
        late = 20 * pace.most_behind
        assert started - job.description.subtime >= 6 - late
        begun, seen = made[job.pods[0]]
        assert begun - late <= started <= seen
        assert (job.life.finish_time or 0.0) == pytest.approx(started + 10)
    ours = [(job.name, job.life.starting_time, job.life.finish_time) for job in world.simulation.control.ended]
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
    assert job.life.state == "COMPLETED_KILLED"
    assert (job.life.finish_time or 0.0) <= 10 * (time.monotonic() - began)


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
    passed = 0.0
    pace = Pace(50, real=lambda: time.monotonic() + passed)
    settings = StepSettings(patience=60)

    async def user() -> None:
        nonlocal passed
        await appears(lambda: len(world.waiting()) == 2)
        pace.pause()
        await appears(lambda: pace.next is not None)
        held = world.time.now
        passed = 1000.0
        await asyncio.sleep(0.1)
        assert world.time.now == held
        pace.resume()
        await first_fit(world)
        await appears(lambda: world.states()["a"] is JobState.COMPLETED_SUCCESSFULLY)
        await first_fit(world)

    user_task = asyncio.ensure_future(user())
    await world.run(nothing, settings, pace)
    await user_task
    assert set(world.states().values()) == {JobState.COMPLETED_SUCCESSFULLY}


async def test_a_pause_at_full_speed_and_single_steps(tmp_path: Path) -> None:
    world = World(tmp_path, [1], delays({"id": "a"}, {"id": "b", "subtime": 5}))
    pace = Pace(paused=True)
    run = asyncio.ensure_future(world.run(first_fit, pace=pace))
    seen = []
    await appears(lambda: pace.state == "under way")
    while pace.state == "under way":
        pace.step()
        await appears(lambda: not pace.stepping)
        seen.append((world.time.now, sorted(world.states().values())))
    await run
    waits, runs, over = JobState.SUBMITTED, JobState.RUNNING, JobState.COMPLETED_SUCCESSFULLY
    # The beginning, each submission, each completion, the end.
    assert seen == [
        (0, []),
        (0, [runs]),
        (5, [runs, waits]),
        (10, [over, runs]),
        (20, [over, over]),
        (20, [over, over]),
    ]


async def test_patience_with_a_scheduler_does_not_run_out_while_paused(tmp_path: Path) -> None:
    world = World(tmp_path, [1], delays({"id": "a"}))
    pace = Pace()

    async def late(world: World) -> None:
        if world.waiting():
            pace.pause()

    async def user() -> None:
        await appears(lambda: pace.paused)
        await asyncio.sleep(0.6)
        await first_fit(world)
        pace.resume()

    user_task = asyncio.ensure_future(user())
    await world.run(late, StepSettings(patience=0.3), pace)
    await user_task
    assert world.states() == {"a": JobState.COMPLETED_SUCCESSFULLY}
