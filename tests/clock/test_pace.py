"""The pace of simulated time: its arithmetic, and who waits for what."""

import asyncio

import pytest

from batkube.clock.pace import Pace


class RealClock:
    """Stands in for ``time.monotonic``."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


async def passes(task: "asyncio.Task[None]") -> bool:
    """Tell whether a task ends without anything else happening."""
    for _ in range(5):
        await asyncio.sleep(0)
    return task.done()


async def lets_through(pace: Pace, date: float) -> bool:
    """Tell whether ``date`` is let through at once."""
    task = asyncio.ensure_future(pace.until(date))
    done = await passes(task)
    task.cancel()
    return done


async def test_simulated_time_follows_real_time_from_the_first_date_on() -> None:
    real = RealClock()
    pace = Pace(60, real=real)
    pace.begin()
    assert await lets_through(pace, 0)
    real.now += 0.5
    assert pace.now() == 30
    assert await lets_through(pace, 30)
    assert not await lets_through(pace, 30.001)


async def test_what_comes_late_is_told_at_once_and_said_to_be_late() -> None:
    real = RealClock()
    pace = Pace(2, real=real)
    await pace.until(0)
    real.now += 5
    await pace.until(4)
    assert (pace.behind, pace.most_behind) == (3, 3)
    await pace.until(10)
    assert (pace.behind, pace.most_behind) == (0, 3)


async def test_a_date_is_waited_for_in_real_time() -> None:
    pace = Pace(100)
    await pace.until(7)
    loop = asyncio.get_running_loop()
    began = loop.time()
    await pace.until(17)
    assert loop.time() - began >= 0.099


async def test_at_full_speed_nothing_is_waited_for() -> None:
    pace = Pace()
    for date in (0.0, 1e6, 2e6):
        assert await lets_through(pace, date)
    assert pace.now() == pace.told == 2e6


async def test_another_pace_goes_on_from_the_date_reached() -> None:
    real = RealClock()
    pace = Pace(1, real=real)
    await pace.until(0)
    waiting = asyncio.ensure_future(pace.until(100))
    assert not await passes(waiting)
    real.now += 40
    pace.set(10)
    assert pace.now() == 40
    real.now += 5
    assert pace.now() == 90
    pace.set(None)
    assert await passes(waiting)
    assert pace.told == 100


async def test_what_was_behind_is_not_made_up_for_at_another_pace() -> None:
    real = RealClock()
    pace = Pace(1000, real=real)
    await pace.until(0)
    real.now += 60
    pace.set(1)
    assert pace.now() == 0


async def test_no_time_passes_while_it_is_paused() -> None:
    real = RealClock()
    pace = Pace(10, real=real)
    await pace.until(0)
    waiting = asyncio.ensure_future(pace.until(50))
    await passes(waiting)
    real.now += 2
    pace.pause()
    real.now += 3600
    assert (pace.now(), pace.unpaused()) == (20, 1002)
    assert not await passes(waiting)
    pace.resume()
    assert (pace.now(), pace.unpaused()) == (20, 1002)
    real.now += 3
    assert (pace.now(), pace.unpaused()) == (50, 1005)
    waiting.cancel()


@pytest.mark.parametrize("factor", [None, 0.001])
async def test_a_step_lets_one_date_through_at_any_pace(factor: float | None) -> None:
    pace = Pace(factor, paused=True)
    pace.begin()
    told: list[float] = []

    async def simulate() -> None:
        for date in (0.0, 10.0, 20.0):
            await pace.until(date)
            told.append(date)
        pace.end()

    simulation = asyncio.ensure_future(simulate())
    assert not await passes(simulation)
    assert told == []
    assert not pace.stepping
    pace.step()
    assert pace.stepping
    assert not await passes(simulation)
    assert (told, pace.told, pace.next, pace.stepping) == ([0], 0, 10, False)
    pace.step()
    pace.step()
    assert await passes(simulation)
    assert told == [0, 10, 20]
    assert not pace.stepping


async def test_steps_that_were_asked_for_are_forgotten_when_it_goes_on() -> None:
    pace = Pace(paused=True)
    pace.begin()
    pace.step()
    pace.resume()
    pace.pause()
    assert not await lets_through(pace, 0)


@pytest.mark.parametrize("factor", [0, -1, float("inf"), float("nan")])
def test_nonsense_is_no_pace(factor: float) -> None:
    with pytest.raises(ValueError, match="a pace is a positive number"):
        Pace().set(factor)
