"""Requests that a trace gives as shares of a machine, whose size it does not tell."""

from decimal import Decimal
from math import ceil
from typing import Any

CORES, MEMORY_MIB = 64, 256 * 1024
"""The machine that such a trace is read with: 64 cores and 256 GiB."""


def wants(cpu: float, memory: float) -> dict[str, Any]:
    """Return the requests for these shares, in whole thousandths of a core and whole MiB, rounded up."""
    return {"cpu": f"{_parts(cpu, CORES * 1000)}m", "memory": f"{_parts(memory, MEMORY_MIB)}Mi"}


def _parts(share: float, whole: int) -> int:
    # The shares of these traces are decimals that floats only come near to: 0.1 of 1000 is 100, not 101.
    return ceil(Decimal(repr(share)) * whole)
