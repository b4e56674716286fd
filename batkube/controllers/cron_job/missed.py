"""The dates of a schedule that have passed, and the next (``pkg/controller/cronjob/utils.go``). All in Unix seconds."""

from dataclasses import dataclass

from batkube.controllers.cron_job.schedule import Schedule

AFTER = 0.1
"""The seconds after its date at which a Job is begun."""
MANY = 100


@dataclass(frozen=True)
class Missed:
    """The last date that has passed since ``earliest``."""

    earliest: float
    date: float | None = None
    some: bool = False
    """More than this one date have passed."""
    many: bool = False


def most_recent(now: float, earliest: float, schedule: Schedule, deadline: int | None) -> Missed:
    """Return the last date of the schedule between ``earliest`` and now.

    ``deadline``: dates that passed more seconds ago do not count.
    """
    if deadline is not None:
        earliest = max(earliest, now - deadline)
    first = schedule(earliest)
    second = schedule(first) if first is not None else None
    if first is None or now < first:
        return Missed(earliest)
    if second is None or now < second:
        return Missed(earliest, first)
    between = round(second - first)
    count = int(now - first) // between + 1
    # The dates of a schedule need not be equally far apart: begin one before the last that there should be.
    last, date = None, schedule(first + (count - 2) * between)
    while date is not None and date <= now:
        last, date = date, schedule(date)
    return Missed(earliest, last, some=True, many=count > MANY)


def until_next(now: float, earliest: float, schedule: Schedule) -> float | None:
    """Return the seconds to the next date, and a little more; None if there is none."""
    missed = most_recent(now, earliest, schedule, None)
    last = missed.date
    if last is None:
        last = now if missed.some else missed.earliest
    date = schedule(last)
    return None if date is None else date + AFTER - now
