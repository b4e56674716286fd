"""At which of a scheduler's timers the simulation stops, by policy."""

import pytest

from batkube.bridge.timers import FLUSH, SOONEST, TimerPolicy
from batkube.settings import Timers

WINDOW = TimerPolicy(Timers.WINDOW, window=30)
LAZY = TimerPolicy(Timers.LAZY, window=30)
ALL = TimerPolicy(Timers.ALL, window=30)


@pytest.mark.parametrize("policy", [WINDOW, LAZY])
def test_timers_do_not_matter_while_no_pod_waits(policy: TimerPolicy) -> None:
    assert policy.next_stop(now=100, changed=100, deadline=101, waiting=False) is None


def test_all_follows_timers_even_then() -> None:
    assert ALL.next_stop(now=100, changed=100, deadline=101, waiting=False) == 101


@pytest.mark.parametrize("policy", [WINDOW, LAZY, ALL])
def test_back_off_is_followed_while_pods_wait(policy: TimerPolicy) -> None:
    assert policy.next_stop(now=100, changed=100, deadline=101, waiting=True) == 101


def test_the_window_ends_some_time_after_the_last_change_and_the_flush_is_honoured() -> None:
    assert WINDOW.next_stop(now=130, changed=100, deadline=131, waiting=True) == 100 + FLUSH
    assert WINDOW.next_stop(now=400, changed=100, deadline=401, waiting=True) == 430
    assert WINDOW.next_stop(now=430, changed=100, deadline=431, waiting=True) is None


@pytest.mark.parametrize("policy", [WINDOW, LAZY, ALL])
def test_timers_alone_do_not_go_on_for_ever(policy: TimerPolicy) -> None:
    now, stops = 0.0, 0
    while (stop := policy.next_stop(now=now, changed=0, deadline=now + 1, waiting=True)) is not None:
        assert stop > now
        now, stops = stop, stops + 1
    assert stops < 500


def test_events_first() -> None:
    policy = TimerPolicy(Timers.EVENTS, window=30)
    assert policy.next_stop(now=0, changed=0, deadline=1, waiting=True, more_to_come=True) is None
    assert policy.next_stop(now=0, changed=0, deadline=1, waiting=True, more_to_come=False) == 1


def test_a_stop_is_never_too_soon_for_batsim() -> None:
    assert WINDOW.next_stop(now=5, changed=5, deadline=5, waiting=True) == 5 + SOONEST


def test_a_scheduler_that_waits_for_nothing_gives_no_stop() -> None:
    assert ALL.next_stop(now=5, changed=5, deadline=None, waiting=True) is None
