"""Numbers as people read them: durations, parts of a whole, amounts."""

import math

NONE = "–"
"""Shown where there is no value."""

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def duration(seconds: float | None) -> str:
    """Return seconds in the one or two units that matter: ``12.3 s``, ``4 min 05 s``, ``3 h 20 min``, ``2 d 4 h``."""
    if seconds is None:
        return NONE
    if seconds < 0:
        return f"−{duration(-seconds)}"
    if seconds < _MINUTE - 0.05:
        return f"{_three_digits(seconds)} s"
    whole = round(seconds)
    if whole < _HOUR:
        return _two(whole // _MINUTE, "min", whole % _MINUTE, "s")
    whole = round(seconds / _MINUTE)
    if whole < _DAY // _MINUTE:
        return _two(whole // 60, "h", whole % 60, "min")
    whole = round(seconds / _HOUR)
    return _two(whole // 24, "d", whole % 24, "h")


def exact(seconds: float | None) -> str:
    """Return seconds as a number: ``4,521.332 s``."""
    return NONE if seconds is None else f"{plain(seconds)} s"


def plain(value: float | None) -> str:
    """Return a number with at most three decimals and marks between thousands."""
    if value is None:
        return NONE
    text = f"{value:,.3f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(part: float | None) -> str:
    """Return a part of 1 in percent."""
    return NONE if part is None else f"{part * 100:.1f} %"


def ratio(value: float | None) -> str:
    """Return a number without a unit, with three digits that matter at least."""
    if value is None:
        return NONE
    return f"{value:,.2f}" if value < 100 else f"{value:,.0f}"


def core_time(core_seconds: float) -> str:
    """Return core-seconds, as core-hours where they are many."""
    if core_seconds < 2 * _HOUR:
        return f"{plain(round(core_seconds, 1))} core-s"
    return f"{plain(round(core_seconds / _HOUR, 1))} core-h"


def size(number: int) -> str:
    """Return bytes in binary units."""
    if number == 0:
        return "0"
    power = min(int(math.log2(number)) // 10, 5) if number > 0 else 0
    unit = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")[power]
    return f"{_three_digits(number / 1024**power)} {unit}"


def count(number: int, one: str, many: str = "") -> str:
    """Return a number of things: ``1 job``, ``2 jobs``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _three_digits(value: float) -> str:
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(value))) if value > 0 else 0
    text = f"{value:.{min(digits, 3)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _two(large: int, large_unit: str, small: int, small_unit: str) -> str:
    return f"{large} {large_unit} {small:02d} {small_unit}" if small_unit != "h" else f"{large} d {small} h"
