"""Quantities as SimGrid's platform files write them: ``1Gf``, ``125MBps``, ``2.25Gbps``, ``50us``, ``4GiB``.

https://simgrid.org/doc/latest/XML_reference.html, "Units"; ``xbt_parse_units.cpp`` in SimGrid.
"""

import math
import re
from decimal import Decimal

_NUMBER = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([A-Za-z]*)\s*", re.ASCII)

_PREFIXES = {"": 1, "k": 10**3, "K": 10**3, "Ki": 1 << 10, "ki": 1 << 10}
for _power, _letter in enumerate("MGTPEZY", start=2):
    _PREFIXES[_letter] = 1000**_power
    _PREFIXES[_letter + "i"] = 1024**_power

_SPEED = {prefix + unit: Decimal(factor) for prefix, factor in _PREFIXES.items() for unit in ("f", "flops")}
_BANDWIDTH = {
    prefix + unit: Decimal(factor) / divisor
    for prefix, factor in _PREFIXES.items()
    for unit, divisor in (("Bps", 1), ("bps", 8))
}
_TIME = {
    "ps": Decimal("1e-12"),
    "ns": Decimal("1e-9"),
    "us": Decimal("1e-6"),
    "ms": Decimal("1e-3"),
    "s": Decimal(1),
    "m": Decimal(60),
    "h": Decimal(3600),
    "d": Decimal(86400),
    "w": Decimal(7 * 86400),
}


def parse_speed(text: str) -> float:
    """Return flops per second. Raises ValueError."""
    return _parse(text, _SPEED, "a speed such as 1Gf")


def parse_bandwidth(text: str) -> float:
    """Return bytes per second. Raises ValueError."""
    return _parse(text, _BANDWIDTH, "a bandwidth such as 125MBps")


def parse_time(text: str) -> float:
    """Return seconds. Raises ValueError."""
    return _parse(text, _TIME, "a time such as 50us")


def _parse(text: str, units: dict[str, Decimal], expected: str) -> float:
    match = _NUMBER.fullmatch(text)
    # A number without unit counts in base units: that is deprecated in SimGrid, and found in its own files.
    factor = units.get(match[2], None if match[2] else Decimal(1)) if match else None
    if match is None or factor is None:
        raise ValueError(f"expected {expected}, not {text!r}")
    # This is not the float nearest to the product, but SimGrid's: the last bit counts where dates are compared.
    value = float(match[1]) * float(factor)
    if not math.isfinite(value) or value < 0:
        raise ValueError(f"expected {expected} and not below 0, not {text!r}")
    return value
