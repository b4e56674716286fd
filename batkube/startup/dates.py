"""Dates as people write them: simulated seconds, ``1h30m``, ``10:00``, or a date of the calendar."""

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationInfo

from batkube.kube.apimachinery.times import unix_seconds
from batkube.startup.lengths import LONGEST, read_length

_CLOCK = re.compile(r"([01]?[0-9]|2[0-4]):([0-5][0-9])(?::([0-5][0-9]))?")
_DAY = 86400.0
_MICROSECONDS = 6


def read_date(value: str, epoch: float) -> float:
    """Return the simulated seconds of a date. Raises ValueError.

    ``epoch``: Unix seconds at simulated second 0. Clock times are those of its day, UTC, as the calendar's are unless
    they name a zone.
    """
    text = value.strip()
    if clock := _CLOCK.fullmatch(text):
        hours, minutes, seconds = (int(part or 0) for part in clock.groups())
        date = hours * 3600 + minutes * 60 + seconds - epoch % _DAY
        if date < 0:
            raise ValueError(f"{value} of the first day is before the simulation begins, by --epoch")
        return date
    try:
        return read_length(text)
    except ValueError:
        try:
            date = unix_seconds(text) - epoch
        except ValueError:
            raise ValueError(
                f"expected seconds, a length such as 1h30m, a time such as 10:00, or a date, not {value!r}"
            ) from None
    if not 0 <= date <= LONGEST:
        raise ValueError(f"{text} is before the simulation begins (--epoch)" if date < 0 else f"{text} is too late")
    return round(date, _MICROSECONDS)


def _date_if_text(value: Any, info: ValidationInfo) -> Any:
    """Return the simulated seconds of a text; what is none as it is."""
    context: Any = info.context
    return read_date(value, context.epoch) if isinstance(value, str) else value


Date = Annotated[Annotated[float, Field(ge=0, le=LONGEST)], BeforeValidator(_date_if_text)]
"""A date in a model, in simulated seconds. The context with which it is read has the ``epoch``."""
