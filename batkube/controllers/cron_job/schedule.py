"""Schedules of CronJobs, as ``github.com/robfig/cron`` reads them, and their next dates."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

from batkube.kube.apimachinery.durations import DurationError, nanoseconds

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_NAMES = {
    3: {name: number for number, name in enumerate(_MONTHS, 1)},
    4: {name: number for number, name in enumerate(_DAYS)},
}
_BOUNDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))
_DESCRIPTORS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_YEARS = 5
"""The years within which there must be a next date."""

Schedule = Callable[[float], float | None]
"""Returns the next date after one, in Unix seconds; None if there is none in five years."""


class ScheduleError(ValueError):
    """A schedule that cannot be read."""


def read_schedule(text: str, zone: str | None) -> Schedule:
    """Return the schedule in the time zone, which is UTC if there is none. Raises ScheduleError."""
    if text.startswith(("TZ=", "CRON_TZ=")):
        named, _, text = text.partition(" ")
        zone, text = named.partition("=")[2], text.strip()
    try:
        where: tzinfo = ZoneInfo(zone) if zone else UTC
    except (KeyError, ValueError, OSError):
        raise ScheduleError(f"provided bad location {zone}: unknown time zone {zone}") from None
    if text.startswith("@every "):
        return _every(text.removeprefix("@every "))
    text = _DESCRIPTORS.get(text, text)
    fields = text.split()
    if text.startswith("@"):
        raise ScheduleError(f"unrecognized descriptor: {text}")
    if len(fields) != len(_BOUNDS):
        raise ScheduleError(f"expected exactly 5 fields, found {len(fields)}: [{' '.join(fields)}]")
    return _Fields(where, *(_field(field, index) for index, field in enumerate(fields))).following


def _every(text: str) -> Schedule:
    try:
        seconds = max(1, nanoseconds(text) // 1_000_000_000)
    except DurationError as error:
        raise ScheduleError(f"failed to parse duration @every {text}: {error}") from None
    return lambda date: float(int(date) + seconds)


@dataclass(frozen=True)
class _Field:
    """The values that a field allows. ``any``: it has a star."""

    values: frozenset[int]
    any: bool


def _field(text: str, index: int) -> _Field:
    values, star = set[int](), False
    for part in filter(None, text.split(",")):
        found, is_star = _range(part, index)
        values |= found
        star = star or is_star
    return _Field(frozenset(values), star)


def _range(text: str, index: int) -> tuple[set[int], bool]:
    low, high = _BOUNDS[index]
    place, slash, steps = text.partition("/")
    first, hyphen, last = place.partition("-")
    star = first in ("*", "?")
    if "-" in last or "/" in steps:
        raise ScheduleError(f"too many {'hyphens' if '-' in last else 'slashes'}: {text}")
    if star:
        start, end = low, high
    else:
        start = _number(first, index)
        end = _number(last, index) if hyphen else start
    step = 1
    if slash:
        step = _number(steps, None)
        if not hyphen:
            end = high
        star = star and step <= 1
    if start < low:
        raise ScheduleError(f"beginning of range ({start}) below minimum ({low}): {text}")
    if end > high:
        raise ScheduleError(f"end of range ({end}) above maximum ({high}): {text}")
    if start > end:
        raise ScheduleError(f"beginning of range ({start}) beyond end of range ({end}): {text}")
    if step == 0:
        raise ScheduleError(f"step of range should be a positive number: {text}")
    return set(range(start, end + 1, step)), star


def _number(text: str, index: int | None) -> int:
    if index in _NAMES and text.lower() in _NAMES[index]:
        return _NAMES[index][text.lower()]
    if not (text.isascii() and text.isdigit()):
        raise ScheduleError(f'failed to parse int from {text}: strconv.Atoi: parsing "{text}": invalid syntax')
    return int(text)


@dataclass(frozen=True)
class _Fields:
    """A schedule of five fields."""

    zone: tzinfo
    minutes: _Field
    hours: _Field
    days: _Field
    months: _Field
    weekdays: _Field

    def following(self, date: float) -> float | None:
        """Return the next date after ``date``."""
        moment = datetime.fromtimestamp(int(date) + 1, self.zone)
        if moment.second:
            moment = _later(moment.replace(second=0), minutes=1)
        limit = moment.year + _YEARS
        while moment.year <= limit:
            if moment.month not in self.months.values:
                moment = _midnight(moment, self.zone, month=True)
            elif not self._day_matches(moment):
                moment = _midnight(moment, self.zone)
            elif moment.hour not in self.hours.values:
                moment = _later(moment.replace(minute=0), hours=1)
            elif moment.minute not in self.minutes.values:
                moment = _later(moment, minutes=1)
            else:
                return moment.timestamp()
        return None

    def _day_matches(self, moment: datetime) -> bool:
        day, weekday = moment.day in self.days.values, moment.isoweekday() % 7 in self.weekdays.values
        return (day and weekday) if self.days.any or self.weekdays.any else (day or weekday)


def _later(moment: datetime, **length: int) -> datetime:
    """Return a moment so much later, as clocks on the wall that are put forward and back show it."""
    later = moment.astimezone(UTC) + timedelta(**length)
    return later.astimezone(moment.tzinfo)


def _midnight(moment: datetime, zone: tzinfo, *, month: bool = False) -> datetime:
    """Return the beginning of the next day, or month: the first moment of it that there is."""
    day = moment.replace(hour=12, minute=0, fold=0)
    day = (day.replace(day=1) + timedelta(days=32)).replace(day=1) if month else day + timedelta(days=1)
    begin = datetime(day.year, day.month, day.day, tzinfo=zone)
    return begin.astimezone(UTC).astimezone(zone)
