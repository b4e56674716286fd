"""Interval sets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batkube.batsim.allocation import format_intervals, parse_intervals


@given(st.sets(st.integers(0, 300)))
def test_what_is_written_is_read_back(numbers: set[int]) -> None:
    assert parse_intervals(format_intervals(numbers)) == tuple(sorted(numbers))


@pytest.mark.parametrize(
    ("text", "numbers", "canonical"),
    [
        ("0-1 3", (0, 1, 3), "0-1 3"),
        ("3 0 1", (0, 1, 3), "0-1 3"),
        ("0-0 1 0-1", (0, 1), "0-1"),
        ("7", (7,), "7"),
        ("  2   4 ", (2, 4), "2 4"),
        ("", (), ""),
    ],
)
def test_order_and_overlaps_are_free_and_the_canonical_spelling_is_batsims(
    text: str, numbers: tuple[int, ...], canonical: str
) -> None:
    assert parse_intervals(text) == numbers
    assert format_intervals(numbers) == canonical


@pytest.mark.parametrize("text", ["a", "0,1", "1-", "-1", "3-1", "0--2", "1.5", "[0]", "0-99999999999", "٣"])
def test_what_is_no_interval_set_is_refused_by_quoting_it(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not an interval|beyond") as refused:
        parse_intervals(f"0 {text}")
    assert repr(text.split(" ")[-1]) in str(refused.value)
