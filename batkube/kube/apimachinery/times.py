"""Times in objects: RFC 3339 in whole seconds (Time) or with exactly six decimals (MicroTime), always in UTC.

They are read as Go's time.Parse reads them, by the layouts of k8s.io/apimachinery/pkg/apis/meta/v1. The errors are
Go's.
"""

from __future__ import annotations

import calendar
import re
import time
from datetime import UTC, datetime
from functools import lru_cache

from .status import quote

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII)
_MICRO_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)", re.ASCII)

# The elements of a layout, and what stands for them in a text.
_DATE = (("2006", r"\d{4}"), ("-", "-"), ("01", r"\d\d"), ("-", "-"), ("02", r"\d\d"), ("T", "T"))
_CLOCK = (("15", r"\d\d?"), (":", ":"), ("04", r"\d\d"), (":", ":"))
_ZONE = ("Z07:00", r"Z|[+-]\d\d:\d\d")
_TIME_LAYOUT = (*_DATE, *_CLOCK, ("05", r"\d\d(\.\d+)?"), _ZONE)
_MICRO_LAYOUT = (*_DATE, *_CLOCK, ("05", r"\d\d"), (".000000", r"\.\d{6}"), _ZONE)
_DAY = 86_400
_TWO_DIGITS = tuple(f"{number:02d}" for number in range(60))
_RANGES = (("month", 5, 12, 1), ("hour", 11, 23, 0), ("minute", 14, 59, 0), ("second", 17, 59, 0))


class TimeError(ValueError):
    """A text that is not a time. The message is Go's."""


@lru_cache(maxsize=64)
def write_second(unix: int) -> str:
    """Return a second of Unix time as RFC 3339 writes it, without its zone: `2026-01-01T00:00:00`."""
    day, second = divmod(unix, _DAY)
    minute, second = divmod(second, 60)
    hour, minute = divmod(minute, 60)
    return f"{_date(day)}T{_TWO_DIGITS[hour]}:{_TWO_DIGITS[minute]}:{_TWO_DIGITS[second]}"


@lru_cache(maxsize=4096)
def read_second(text: str) -> int:
    """Return the second of Unix time of a time in whole seconds, as `read_time` returns it."""
    return calendar.timegm(time.strptime(text[:19], "%Y-%m-%dT%H:%M:%S"))


@lru_cache(maxsize=64)
def _date(day: int) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(day * _DAY))


@lru_cache(maxsize=4096)
def read_time(text: str) -> str:
    """Return a time in whole seconds: `2026-01-01T00:00:00Z`."""
    if not _TIME.fullmatch(text):
        raise _unreadable(text, _TIME_LAYOUT)
    if len(text) == 20:
        _moment(text)
        return text
    return _moment(text).strftime("%Y-%m-%dT%H:%M:%SZ")


@lru_cache(maxsize=4096)
def read_micro_time(text: str) -> str:
    """Return a time with six decimals: `2026-01-01T00:00:00.000000Z`."""
    if not _MICRO_TIME.fullmatch(text):
        raise _unreadable(text, _MICRO_LAYOUT)
    moment = _moment(text)
    return text if text.endswith("Z") else moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def unix_seconds(text: str) -> float:
    """Return a date in Unix seconds; one that names no zone is in UTC. Raises ValueError."""
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()


def _moment(text: str) -> datetime:
    for what, at, most, least in _RANGES:
        if not least <= int(text[at : at + 2]) <= most:
            raise TimeError(f"parsing time {quote(text)}: {what} out of range")
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        raise TimeError(f"parsing time {quote(text)}: day out of range") from None


def _unreadable(text: str, layout: tuple[tuple[str, str], ...]) -> TimeError:
    rest = text
    for element, pattern in layout:
        found = re.match(pattern, rest, re.ASCII)
        if found is None:
            whole = quote("".join(name for name, _ in layout))
            return TimeError(f"parsing time {quote(text)} as {whole}: cannot parse {quote(rest)} as {quote(element)}")
        rest = rest[found.end() :]
    return TimeError(f"parsing time {quote(text)}: extra text: {quote(rest)}")
