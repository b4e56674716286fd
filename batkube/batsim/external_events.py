"""Files of external events (``--events``): a JSON object on each line, for hosts that go and come, or the user's own.

https://batsim.readthedocs.io/en/latest/input-EVENTS.html
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from batkube.batsim.allocation import format_intervals, parse_intervals
from batkube.batsim.input_file import parse_json, quote, read_text
from batkube.batsim.unstable_sort import unstable_sort

UNAVAILABLE = "machine_unavailable"
AVAILABLE = "machine_available"
_ORDER = {AVAILABLE: 0, UNAVAILABLE: 1}
"""The order of events at one date, as Batsim sorts them; other types come last."""


class ExternalEventError(ValueError):
    """An events file that cannot be used. The text, one line, names file and line."""


@dataclass(frozen=True)
class ExternalEvent:
    """Something that happens to the platform at a date, in simulated seconds."""

    timestamp: float
    type: str
    hosts: tuple[int, ...]
    """The hosts concerned by UNAVAILABLE and AVAILABLE; empty for others."""
    raw: dict[str, Any]
    """The whole event as in the file."""
    file: str = ""
    """The file it was read from: Batsim has an actor for each file."""


def read_external_events(path: Path, *, keep_unknown: bool = False) -> list[ExternalEvent]:
    """Return the events of a file, in order of date, and in Batsim's order at one date (``std::sort``).

    Types that Batsim does not know are refused unless ``keep_unknown``. Raises ExternalEventError.
    """
    path = Path(path)
    try:
        lines = read_text(path).splitlines()
    except ValueError as error:
        raise ExternalEventError(f"{path}: {error}") from None
    events = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                events.append(replace(_event(parse_json(line), keep_unknown), file=str(path)))
            except ValueError as error:
                raise ExternalEventError(f"{path}: line {number}: {str(error).removeprefix('line 1, ')}") from None
    return unstable_sort(events, lambda event: (event.timestamp, _ORDER.get(event.type, len(_ORDER))))


def check_external_events(events: Iterable[ExternalEvent], nb_hosts: int) -> None:
    """Refuse events, in order of date, on which Batsim aborts when they happen. Raises ExternalEventError.

    A host must exist, and must not go when it has gone, nor come back when it is there.
    """
    down: set[int] = set()
    for event in events:
        if event.type not in (UNAVAILABLE, AVAILABLE):
            continue
        where = f"external event {event.type} at {event.timestamp:g}"
        if event.hosts[-1] >= nb_hosts:
            raise ExternalEventError(f"{where}: there is no host {event.hosts[-1]} among {nb_hosts}")
        hosts = set(event.hosts)
        wrong = hosts - down if event.type == AVAILABLE else hosts & down
        if wrong:
            state = "available" if event.type == AVAILABLE else "unavailable"
            raise ExternalEventError(f"{where}: hosts {format_intervals(wrong)} are {state} already")
        down = down - hosts if event.type == AVAILABLE else down | hosts


def _event(raw: Any, keep_unknown: bool) -> ExternalEvent:
    if not isinstance(raw, dict):
        raise ValueError(f"expected an object, not {quote(raw)}")
    timestamp, kind = raw.get("timestamp"), raw.get("type")
    if isinstance(timestamp, bool) or not isinstance(timestamp, int | float) or not 0 <= timestamp <= 1e18:
        raise ValueError(f"timestamp: expected seconds not below 0, not {quote(timestamp)}")
    if not isinstance(kind, str):
        raise ValueError(f"type: expected the name of an event, not {quote(kind)}")
    if kind not in (UNAVAILABLE, AVAILABLE):
        if not keep_unknown:
            raise ValueError(f"type: expected {UNAVAILABLE} or {AVAILABLE}, not {quote(kind)}")
        if not isinstance(raw.get("resources", ""), str):
            raise ValueError(f"resources: expected a text, not {quote(raw['resources'])}")
        return ExternalEvent(float(timestamp), kind, (), raw)
    resources = raw.get("resources")
    if not isinstance(resources, str):
        raise ValueError(f"resources: expected an interval set such as '0-1 3', not {quote(resources)}")
    try:
        hosts = parse_intervals(resources)
    except ValueError as error:
        raise ValueError(f"resources: {error}") from None
    if not hosts:
        raise ValueError("resources: names no host")
    return ExternalEvent(float(timestamp), kind, hosts, raw)
