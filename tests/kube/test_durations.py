"""Durations as Go reads and writes them."""

from __future__ import annotations

import pytest

from batkube.kube.apimachinery.durations import DurationError, go_duration, nanoseconds


@pytest.mark.parametrize(
    ("text", "nanos", "written"),
    [
        ("1h30m", 5_400_000_000_000, "1h30m0s"),
        ("-1.5s", -1_500_000_000, "-1.5s"),
        (".5ms", 500_000, "500µs"),
        ("1us1ns", 1_001, "1.001µs"),
        ("0", 0, "0s"),
        ("-0s", 0, "0s"),
        ("0.1234567899s", 123_456_789, "123.456789ms"),
        ("9223372036854775807ns", 2**63 - 1, "2562047h47m16.854775807s"),
    ],
)
def test_durations(text: str, nanos: int, written: str) -> None:
    assert nanoseconds(text) == nanos
    assert go_duration(nanos) == written


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", 'invalid duration ""'),
        ("-", 'invalid duration "-"'),
        ("1", 'missing unit in duration "1"'),
        ("1x", 'unknown unit "x" in duration "1x"'),
        ("s", 'invalid duration "s"'),
        ("10000000h", 'invalid duration "10000000h"'),
    ],
)
def test_what_is_none_is_refused_in_gos_words(text: str, why: str) -> None:
    with pytest.raises(DurationError) as refused:
        nanoseconds(text)
    assert str(refused.value) == why


def test_a_number_without_end_is_refused_at_once() -> None:
    with pytest.raises(DurationError):
        nanoseconds("9" * 1_000_000 + "h")
