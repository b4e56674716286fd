"""Lengths of time as people write them: a number of seconds, or ``1h30m``."""

import math
import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|[smhdw])")
_MICROSECONDS = 6
"""The decimals that are kept: those of Batsim's dates."""
_WHOLE = re.compile(rf"(?:{_PART.pattern})+")
LONGEST = 1e9
"""The greatest length in seconds, some thirty years."""


def length_in_units(text: str) -> float | None:
    """Return the seconds of a length with units, ``1h30m``, ``500ms``; None for any other text."""
    if not _WHOLE.fullmatch(text):
        return None
    return round(sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text)), _MICROSECONDS)


def read_length(text: str) -> float:
    """Return the seconds that ``text`` stands for: ``90``, ``1.5``, ``1h30m``, ``7d``. Raises ValueError."""
    given = text.strip()
    seconds = length_in_units(given)
    if seconds is None:
        try:
            seconds = float(given)
        except ValueError:
            seconds = math.nan
    if not 0 <= seconds <= LONGEST:
        raise ValueError(f"expected seconds or a length such as 1h30m, from 0 to {LONGEST:g} s, not {text!r}")
    return seconds


def read_length_if_text(value: Any) -> Any:
    """Return the seconds of a text; what is none, such as a number, as it is. Raises ValueError."""
    return read_length(value) if isinstance(value, str) else value


Length = Annotated[Annotated[float, Field(gt=0, le=LONGEST)], BeforeValidator(read_length_if_text)]
"""A length of time in a model: more than no seconds."""
