"""The run time of a container whose command sleeps: ``sleep 30``, ``sh -c 'sleep 1m; exit 3'``."""

import re
from typing import Any

from batkube.startup.durations import RunTime

JSON = dict[str, Any]

LONGEST = 3_155_760_000.0
"""The length in seconds of a process that never ends by itself, for the simulator: a hundred years."""

_SHELLS = ("sh", "bash", "ash", "dash")
_STEP = re.compile(r"\s*(?:;|&&|\n)\s*")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def slept(container: JSON) -> RunTime | None:
    """Return the run time of a container by its command; None if that does not sleep, or does more."""
    words = [*container.get("command", ()), *container.get("args", ())]
    if not words:
        return None
    program = words[0].rpartition("/")[2]
    if program in _SHELLS and len(words) >= 3 and words[1] in ("-c", "-ec", "-exc"):
        steps = [step.split() for step in _STEP.split(words[2].strip()) if step]
    else:
        steps = [words]
    total, sleeps, code = 0.0, False, 0
    for step in steps:
        match [step[0].rpartition("/")[2], *step[1:]]:
            case ["sleep", *lengths] if lengths:
                sleeps = True
                seconds = [_seconds(length) for length in lengths]
                if None in seconds:
                    return None
                total += sum(second for second in seconds if second is not None)
            case ["exit", number] if number.isdecimal():
                code = int(number) & 0xFF
    if not sleeps:
        return None
    return RunTime(None if total == float("inf") else total, code)


def _seconds(text: str) -> float | None:
    """Return the seconds of one word of ``sleep`` (GNU coreutils); None where it is none."""
    if text in ("infinity", "inf"):
        return float("inf")
    unit = _UNITS.get(text[-1:], 1)
    number = text[:-1] if text[-1:] in _UNITS else text
    try:
        seconds = float(number) * unit
    except ValueError:
        return None
    return seconds if 0 <= seconds <= LONGEST else None
