"""Durations in words: `5m30s`, `3d4h` (`k8s.io/apimachinery/pkg/util/duration.HumanDuration`)."""

from __future__ import annotations

from ...apimachinery.times import unix_seconds

UNKNOWN = "<unknown>"

_MINUTE, _HOUR, _DAY, _YEAR = 60, 3600, 86_400, 31_536_000


def human_duration(seconds: float) -> str:
    """Return a duration in seconds as text, rounded down more the longer it is."""
    whole = int(seconds)
    if whole < -1:
        return "<invalid>"
    if whole < 0:
        return "0s"
    if whole < 2 * _MINUTE:
        return f"{whole}s"
    if whole < 10 * _MINUTE:
        return _pair(whole, _MINUTE, "m", 1, "s")
    if whole < 3 * _HOUR:
        return f"{whole // _MINUTE}m"
    if whole < 8 * _HOUR:
        return _pair(whole, _HOUR, "h", _MINUTE, "m")
    if whole < 2 * _DAY:
        return f"{whole // _HOUR}h"
    if whole < 8 * _DAY:
        return _pair(whole, _DAY, "d", _HOUR, "h")
    if whole < 2 * _YEAR:
        return f"{whole // _DAY}d"
    if whole < 8 * _YEAR:
        return _pair(whole, _YEAR, "y", _DAY, "d")
    return f"{whole // _YEAR}y"


def _pair(seconds: int, large: int, its_name: str, small: int, name: str) -> str:
    rest = seconds % large // small
    return f"{seconds // large}{its_name}" + (f"{rest}{name}" if rest else "")


class Ages:
    """The ages of timestamps at one moment of simulated time in Unix seconds."""

    def __init__(self, now: float) -> None:
        self._now = now

    def since(self, timestamp: str | None) -> str:
        """Return the age of a timestamp; `<unknown>` if there is none."""
        if not timestamp:
            return UNKNOWN
        return human_duration(self._now - unix_seconds(timestamp))

    @staticmethod
    def between(start: str, end: str) -> str:
        return human_duration(unix_seconds(end) - unix_seconds(start))
