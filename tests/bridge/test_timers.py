"""At which of a scheduler's timers the simulation stops, by policy."""

import pytest

from batkube.bridge.decisions import SOONEST
from batkube.bridge.step_settings import Timers, read_timers
from batkube.bridge.timers import FLUSH, FLUSH_PERIOD, TimerPolicy

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
    first = 100 + FLUSH
    second = first + FLUSH_PERIOD
    assert WINDOW.next_stop(now=130, changed=100, deadline=131, waiting=True) == first
    assert WINDOW.next_stop(now=first, changed=100, deadline=first + 1, waiting=True) == second
    assert WINDOW.next_stop(now=second, changed=100, deadline=second + 1, waiting=True) is None


def test_where_no_pod_can_be_placed_the_window_has_one_stop_at_its_end() -> None:
    assert WINDOW.next_stop(now=100, changed=100, deadline=101, waiting=True, in_vain=True) == 130
    assert WINDOW.next_stop(now=130, changed=100, deadline=130.5, waiting=True, in_vain=True) == 100 + FLUSH
    assert LAZY.next_stop(now=100, changed=100, deadline=101, waiting=True, in_vain=True) == 101


@pytest.mark.parametrize("policy", [WINDOW, LAZY, ALL])
def test_the_last_timers_are_followed_however_late_they_are(policy: TimerPolicy) -> None:
    """A scheduler that looks once an hour."""
    assert policy.next_stop(now=100, changed=100, deadline=3700, waiting=True) is None
    assert policy.next_stop(now=100, changed=100, deadline=3700, waiting=True, at_last=True) == 3700
    assert policy.next_stop(now=100, changed=100, deadline=None, waiting=True, at_last=True) is None


def test_pods_are_flushed_though_their_dates_differ_by_the_time_a_scheduler_takes() -> None:
    """More than five minutes old, and more than 30 s since it was last looked for them: exactly is not enough."""
    assert FLUSH > 300
    assert FLUSH_PERIOD > 30


def test_a_number_of_seconds_puts_stops_on_its_multiples() -> None:
    policy = TimerPolicy(5.0, window=30)
    assert policy.next_stop(now=101, changed=100, deadline=101.2, waiting=True) == 105
    assert policy.next_stop(now=105, changed=100, deadline=110, waiting=True) == 110
    assert policy.next_stop(now=105, changed=100, deadline=110.001, waiting=True) == 115
    assert policy.next_stop(now=105, changed=100, deadline=110, waiting=False) is None


@pytest.mark.parametrize("late", [0.0, 3e-7, 0.0009])
def test_a_timer_that_is_due_a_little_earlier_or_later_gives_the_same_stop(late: float) -> None:
    assert WINDOW.next_stop(now=5, changed=5, deadline=7.1230001 + late, waiting=True) == 7.124
    assert WINDOW.next_stop(now=5.0000001 + late, changed=5, deadline=5, waiting=True) == 5.002


def test_what_the_command_line_says_of_timers() -> None:
    assert read_timers("lazy") is Timers.LAZY
    assert read_timers("2.5") == 2.5
    for wrong in ("0", "-1", "nan", "inf", "often"):
        with pytest.raises(ValueError, match="events, lazy, window, all or a number of seconds"):
            read_timers(wrong)


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
