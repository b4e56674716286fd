"""The limit to how long a scheduler may be at work with one event, on a machine that has other things to do as well."""

from collections.abc import Awaitable, Callable

import pytest

from batkube.bridge import work_limit
from batkube.bridge.work_limit import wait_within
from batkube.clock.verdict import IDLE, Verdict, not_idle

BUSY = not_idle("running", "it runs")
GONE = Verdict(False, "it has ended", "gone", gone=True)


class Scheduler:
    """A scheduler that gets the share of a processor, and needs so many seconds of one until it rests."""

    def __init__(self, share: float, needs: float, end: Verdict = IDLE) -> None:
        self.share, self.needs, self.end = share, needs, end
        self.real = 0.0
        self.used = 5.0

    async def wait(self, seconds: float) -> Verdict:
        needs = self.needs / self.share if self.share else float("inf")
        passes = min(seconds, needs)
        self.real += passes
        self.used += passes * self.share
        self.needs -= passes * self.share
        return self.end if self.needs <= 1e-9 else BUSY


Within = Callable[[Scheduler], Awaitable[Verdict]]


@pytest.fixture
def within(monkeypatch: pytest.MonkeyPatch) -> Within:
    async def wait(scheduler: Scheduler) -> Verdict:
        monkeypatch.setattr(work_limit, "monotonic", lambda: scheduler.real)
        return await wait_within(60.0, scheduler.wait, lambda: scheduler.used)

    return wait


@pytest.mark.parametrize("share", [0.02, 0.1, 1.0, 2.0])
@pytest.mark.parametrize("end", [IDLE, GONE])
async def test_what_needs_less_than_the_limit_comes_to_rest(within: Within, share: float, end: Verdict) -> None:
    assert await within(Scheduler(share, 50.0, end)) == end


@pytest.mark.parametrize("share", [0.02, 0.1, 1.0, 2.0])
async def test_what_needs_more_is_given_up(within: Within, share: float) -> None:
    scheduler = Scheduler(share, 1000.0)
    assert await within(scheduler) == BUSY
    assert 54.0 < 1000.0 - scheduler.needs < 121.0


async def test_what_neither_works_nor_rests_is_given_up_after_as_much_real_time(within: Within) -> None:
    scheduler = Scheduler(0.001, 1.0)
    assert await within(scheduler) == BUSY
    assert scheduler.real == pytest.approx(60.0)


async def test_processor_time_is_not_asked_for_where_rest_comes_soon() -> None:
    def asked() -> float:
        raise AssertionError("a reading costs more than most reactions")

    assert await wait_within(60.0, Scheduler(1.0, 0.001).wait, asked) == IDLE


async def test_a_child_that_has_ended_takes_its_time_along() -> None:
    """The sum over several processes may fall; that is no standstill."""
    scheduler = Scheduler(0.5, 50.0)
    times = iter((50.0, 3.0, 4.0, 20.0, 30.0))
    assert await wait_within(60.0, scheduler.wait, lambda: next(times)) == IDLE
