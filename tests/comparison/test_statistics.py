"""Intervals: the same each time, and they hold what they should about as often as they should."""

from random import Random

import pytest

from batkube.comparison.statistics import (
    FEWEST,
    _student,
    difference_interval,
    mean_interval,
    serial_interval,
)


@pytest.mark.parametrize(("freedom", "quantile"), [(1, 12.706), (2, 4.303), (4, 2.776), (9, 2.262), (30, 2.042)])
def test_students_quantiles_are_those_of_the_tables(freedom: int, quantile: float) -> None:
    assert _student(freedom) == pytest.approx(quantile, abs=0.001)


def test_the_same_values_give_the_same_interval() -> None:
    values = [Random(1).gauss(3, 1) for _ in range(40)]
    assert len({mean_interval(values) for _ in range(5)}) == 1
    assert len({serial_interval(values) for _ in range(5)}) == 1


def test_too_few_values_have_no_interval() -> None:
    assert mean_interval([1.0] * (FEWEST - 1)) is None
    assert difference_interval([1.0] * FEWEST, [1.0] * (FEWEST - 1)) is None
    assert serial_interval([]) is None


def test_a_difference_in_all_pairs_is_told_and_none_is_not() -> None:
    draw = Random(2)
    noise = [draw.gauss(0, 1) for _ in range(20)]
    none, some = mean_interval(noise), mean_interval([value + 3 for value in noise])
    assert none is not None
    assert not none.tells
    assert some is not None
    assert some.tells
    assert some.low < 3 < some.high
    equal = mean_interval([0.0] * 20)
    assert equal is not None
    assert (equal.low, equal.high, equal.tells) == (0.0, 0.0, False)


def test_intervals_hold_the_mean_about_as_often_as_they_say() -> None:
    draw = Random(3)
    found = [mean_interval([draw.gauss(0, 1) for _ in range(10)]) for _ in range(100)]
    assert sum(one is not None and one.low <= 0 <= one.high for one in found) >= 90


def test_neighbours_that_are_alike_widen_the_interval() -> None:
    draw, level, row = Random(4), 0.0, []
    for _ in range(400):
        level = 0.95 * level + draw.gauss(0, 1)
        row.append(level)
    alike, alone = serial_interval(row), mean_interval(row)
    assert alike is not None
    assert alone is not None
    assert alike.high - alike.low > 2 * (alone.high - alone.low)
