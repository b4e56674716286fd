"""Times in objects are read as Go reads them, and written in UTC."""

from __future__ import annotations

import time

import pytest

from batkube.kube.apimachinery.times import TimeError, read_micro_time, read_time, unix_seconds


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
        ("2026-01-01T00:00:00.75Z", "2026-01-01T00:00:00Z"),
        ("2026-01-01T02:00:00+02:00", "2026-01-01T00:00:00Z"),
        ("2026-01-01T00:30:00-01:30", "2026-01-01T02:00:00Z"),
    ],
)
def test_times_are_in_whole_seconds(sent: str, kept: str) -> None:
    assert read_time(sent) == kept


def test_micro_times_have_six_decimals() -> None:
    assert read_micro_time("2026-01-01T02:00:00.000001+02:00") == "2026-01-01T00:00:00.000001Z"
    assert read_micro_time("2026-01-01T00:00:00.000000Z") == "2026-01-01T00:00:00.000000Z"


@pytest.mark.parametrize(
    ("sent", "rest", "element"),
    [
        ("2026-01-01T00:00:00Z", "Z", ".000000"),
        ("2026-01-01T00:00:00.1Z", ".1Z", ".000000"),
        ("2026-01-01T00:00:00.123456789Z", "789Z", "Z07:00"),
        ("2026-01-01", "", "T"),
        ("yesterday", "yesterday", "2006"),
    ],
)
def test_a_micro_time_that_is_none(sent: str, rest: str, element: str) -> None:
    with pytest.raises(TimeError) as error:
        read_micro_time(sent)
    assert str(error.value) == (
        f'parsing time "{sent}" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "{rest}" as "{element}"'
    )


@pytest.mark.parametrize(
    ("sent", "what"),
    [
        ("2026-13-01T00:00:00Z", "month"),
        ("2026-02-30T00:00:00Z", "day"),
        ("2026-01-01T24:00:00Z", "hour"),
        ("2026-01-01T00:60:00Z", "minute"),
        ("2026-01-01T00:00:60Z", "second"),
    ],
)
def test_a_time_that_never_is(sent: str, what: str) -> None:
    with pytest.raises(TimeError, match=f"{what} out of range"):
        read_time(sent)


def test_dates_without_a_zone_mean_the_same_on_every_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert unix_seconds("1970-01-02T00:01:00") == unix_seconds("1970-01-02T00:01:00Z") == 86_460
        assert unix_seconds("1970-01-02T00:01:00+01:00") == 82_860
    finally:
        monkeypatch.undo()
        time.tzset()
