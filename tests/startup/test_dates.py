"""Dates: simulated seconds, lengths, clock times of the first day, dates of the calendar."""

import pytest

from batkube.startup.dates import read_date

TEN = 1_577_836_800.0 + 10 * 3600
"""2020-01-01T10:00:00Z."""


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("90", 90),
        ("1.5", 1.5),
        ("1h30m", 5400),
        ("10:00", 0),
        ("10:00:30", 30),
        ("24:00", 14 * 3600),
        ("2020-01-01T10:00:10Z", 10),
        ("2020-01-01T10:00:10", 10),
        ("2020-01-01T12:00:10.25+02:00", 10.25),
        ("2020-01-02", 14 * 3600),
    ],
)
def test_dates_are_simulated_seconds(text: str, date: float) -> None:
    assert read_date(text, TEN) == date


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("09:59", "09:59 of the first day is before the simulation begins"),
        ("2020-01-01T09:00:00Z", "is before the simulation begins"),
        ("9999-01-01", "9999-01-01 is too late"),
        ("25:00", "expected seconds, a length"),
        ("-1", "expected seconds, a length"),
        ("nan", "expected seconds, a length"),
        ("", "expected seconds, a length"),
    ],
)
def test_what_is_no_date_is_said(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read_date(text, TEN)
