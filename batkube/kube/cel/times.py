"""Times and durations in expressions."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from typing import Any

from ..apimachinery.durations import nanoseconds
from .declarations import Overload, overloads
from .operators import moment, span
from .values import CelError, Duration, Timestamp

_SECOND, _MINUTE, _HOUR = 10**9, 60 * 10**9, 3600 * 10**9
_MOMENT = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))", re.ASCII
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_OFFSET = re.compile(r"([+-]?)(\d{1,2}):(\d\d)", re.ASCII)


def timestamp(text: str) -> Timestamp:
    """Return a time in the text of RFC 3339; midnight for a date. Raise ValueError if the text is neither."""
    if _DATE.fullmatch(text):
        text += "T00:00:00Z"
    found = _MOMENT.fullmatch(text)
    if found is None:
        raise ValueError(f'parsing time "{text}" as "2006-01-02T15:04:05Z07:00": cannot parse')
    *fields, part, sign, hours, minutes = found.groups()
    at = datetime(*(int(field) for field in fields), tzinfo=UTC) - _EPOCH  # type: ignore[arg-type, misc]
    offset = (int(hours) * 60 + int(minutes)) * (-1 if sign == "-" else 1) if sign else 0
    seconds = at.days * 86_400 + at.seconds - offset * 60
    return moment(seconds * _SECOND + int((part or "")[:9].ljust(9, "0")))


def duration(text: str) -> Duration:
    """Return a duration: `1h30m`. Raise ValueError if the text is not one."""
    return span(nanoseconds(text))


def shown_timestamp(time: Timestamp) -> str:
    """Return the text of a time in RFC 3339, in UTC."""
    part = f".{time.nanos % _SECOND:09}".rstrip("0") if time.nanos % _SECOND else ""
    return f"{_local(time, UTC):%Y-%m-%dT%H:%M:%S}".rjust(19, "0") + part + "Z"


def shown_duration(time: Duration) -> str:
    """Return a duration in seconds: `90.5s`."""
    seconds = Decimal(time.nanos) / _SECOND
    text = f"{seconds:f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) + "s"


def _local(time: Timestamp, zone: tzinfo) -> datetime:
    try:
        return (_EPOCH + timedelta(seconds=time.nanos // _SECOND)).astimezone(zone)
    except OverflowError:
        raise CelError("timestamp overflow") from None


def _zone(name: str) -> tzinfo:
    found = _OFFSET.fullmatch(name)
    if found:
        minutes = int(found[2]) * 60 + int(found[3])
        return timezone(timedelta(minutes=-minutes if found[1] == "-" else minutes))
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name) if name else UTC
    except (ValueError, OSError, KeyError):
        raise CelError(f"unknown time zone {name}") from None


def _getter(read: Callable[[datetime], int]) -> Callable[..., int]:
    def get(time: Timestamp, *zone: str) -> int:
        return read(_local(time, _zone(zone[0]) if zone else UTC))

    return get


def _toward_zero(nanos: int, unit: int) -> int:
    return nanos // unit if nanos >= 0 else -(-nanos // unit)


def _milliseconds(time: Timestamp, *zone: str) -> int:
    if zone:
        _zone(zone[0])
    return time.nanos % _SECOND // 10**6


_GETTERS: dict[str, Callable[..., Any]] = {
    "getFullYear": _getter(lambda time: time.year),
    "getMonth": _getter(lambda time: time.month - 1),
    "getDate": _getter(lambda time: time.day),
    "getDayOfMonth": _getter(lambda time: time.day - 1),
    "getDayOfWeek": _getter(lambda time: time.isoweekday() % 7),
    "getDayOfYear": _getter(lambda time: time.timetuple().tm_yday - 1),
    "getHours": _getter(lambda time: time.hour),
    "getMinutes": _getter(lambda time: time.minute),
    "getSeconds": _getter(lambda time: time.second),
    "getMilliseconds": _milliseconds,
}
_UNITS = {"getHours": _HOUR, "getMinutes": _MINUTE, "getSeconds": _SECOND}


def _in_unit(unit: int) -> Callable[[Duration], int]:
    return lambda time: _toward_zero(time.nanos, unit)


OVERLOADS: list[Overload] = [
    *(
        overload
        for name, get in _GETTERS.items()
        for overload in overloads(name, ["timestamp: int", "timestamp, string: int"], get, method=True)
    ),
    *(
        overload
        for name, unit in _UNITS.items()
        for overload in overloads(name, ["duration: int"], _in_unit(unit), method=True)
    ),
    *overloads("getMilliseconds", ["duration: int"], lambda time: _toward_zero(time.nanos, 10**6), method=True),
]
