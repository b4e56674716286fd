"""Power of hosts, from the properties of a platform file that energy simulation (``-E``) reads.

``wattage_per_state`` and ``wattage_off`` are SimGrid's (plugin ``host_energy``), ``sleep_pstates`` is Batsim's.
https://batsim.readthedocs.io/en/latest/input-platform.html
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from batkube.batsim.topology import Host, PlatformError

WATTAGE = "wattage_per_state"
SLEEP = "sleep_pstates"


class PstateKind(Enum):
    """The use of a pstate."""

    COMPUTATION = "computation"
    SLEEP = "sleep"
    TRANSITION = "transition"
    """A host that is switched on or off computes one flop in such a pstate."""


@dataclass(frozen=True, slots=True)
class PowerRange:
    """The watts of a host in a pstate."""

    idle: float
    epsilon: float
    """The watts as the load of a busy host goes to zero. With all cores loaded they are ``full``, in between a straight
    line."""
    full: float


@dataclass(frozen=True, slots=True)
class Transitions:
    """The pstates that a host goes through to a sleep pstate, and back."""

    off: int
    on: int


@dataclass(frozen=True)
class HostPower:
    """The power data of a host for energy simulation."""

    ranges: tuple[PowerRange, ...]
    """The watts by pstate."""
    kinds: tuple[PstateKind, ...]
    """The use by pstate."""
    sleep: dict[int, Transitions]
    """The transitions by sleep pstate."""


def host_power(host: Host) -> HostPower:
    """Return the power of a host.

    Raises PlatformError for properties that Batsim or SimGrid refuses, or that are missing.
    """
    if WATTAGE not in host.properties:
        raise PlatformError(f"host {host.name!r}: {WATTAGE}: missing, energy simulation needs it")
    sleep = _sleep_pstates(host)
    kinds = [PstateKind.COMPUTATION] * len(host.speeds)
    for transitions in sleep.values():
        kinds[transitions.off] = kinds[transitions.on] = PstateKind.TRANSITION
    for pstate in sleep:
        if kinds[pstate] is PstateKind.TRANSITION:
            raise PlatformError(f"host {host.name!r}: {SLEEP}: pstate {pstate} is for sleep and for a transition")
        kinds[pstate] = PstateKind.SLEEP
    return HostPower(_power_ranges(host), tuple(kinds), sleep)


def check_power(hosts: Iterable[Host]) -> None:
    """Check all hosts as SimGrid does when it loads a platform for energy simulation. Raises PlatformError."""
    for host in hosts:
        if WATTAGE in host.properties:
            _power_ranges(host)
        if "wattage_off" in host.properties:
            _watts(host, "wattage_off", host.properties["wattage_off"])


def _power_ranges(host: Host) -> tuple[PowerRange, ...]:
    parts = host.properties[WATTAGE].split(",")
    if len(parts) != len(host.speeds):
        raise PlatformError(
            f"host {host.name!r}: {WATTAGE}: has {len(parts)} pstates, and the host has {len(host.speeds)}"
        )
    return tuple(_power_range(host, part) for part in parts)


def _power_range(host: Host, text: str) -> PowerRange:
    watts = [_watts(host, WATTAGE, part) for part in text.split(":")]
    if len(watts) == 2:
        return PowerRange(watts[0], watts[0], watts[1])
    if len(watts) != 3:
        raise PlatformError(f"host {host.name!r}: {WATTAGE}: expected IDLE:FULL or IDLE:EPSILON:FULL, not {text!r}")
    return PowerRange(*watts)


def _watts(host: Host, name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise PlatformError(f"host {host.name!r}: {name}: expected watts, not {text!r}") from None


def _sleep_pstates(host: Host) -> dict[int, Transitions]:
    found = {}
    for triplet in host.properties[SLEEP].split(",") if SLEEP in host.properties else ():
        parts = [part.strip() for part in triplet.split(":")]
        if len(parts) != 3 or not all(part.isdecimal() for part in parts):
            raise PlatformError(f"host {host.name!r}: {SLEEP}: expected SLEEP:OFF:ON pstates, not {triplet!r}")
        pstate, off, on = map(int, parts)
        for number in (pstate, off, on):
            if number >= len(host.speeds):
                raise PlatformError(f"host {host.name!r}: {SLEEP}: there is no pstate {number}")
        found[pstate] = Transitions(off, on)
    return found
