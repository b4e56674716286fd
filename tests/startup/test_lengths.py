"""Lengths of time as people write them."""

import pytest

from batkube.startup.lengths import LONGEST, length_in_units, read_length


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("1.5", 1.5),
        ("1h30m", 5400),
        ("7d", 604_800),
        ("500ms", 0.5),
        ("1w1s", 604_801),
        (" 2m ", 120),
        ("0", 0),
    ],
)
def test_a_length_is_seconds_or_units(text: str, seconds: float) -> None:
    assert read_length(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "1h 30m", "-5", "1y", "nan", "inf", "1e10", "h", "1h30"])
def test_what_is_no_length_is_shown_as_it_is(text: str) -> None:
    with pytest.raises(
        ValueError, match=r"expected seconds or a length such as 1h30m, from 0 to 1e\+09 s, not "
    ) as told:
        read_length(text)
    assert str(told.value).endswith(repr(text))
    assert LONGEST == 1e9


def test_numbers_have_no_units() -> None:
    assert length_in_units("90") is None
    assert length_in_units("90s") == 90
