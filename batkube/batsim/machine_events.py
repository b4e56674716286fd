"""Hosts that go and come back by a plan, which may have no end: external events that are made as they are asked for.

Batsim aborts where a host goes that has gone already, so spans of one host that overlap or touch become one.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from heapq import merge
from itertools import groupby
from pathlib import Path
from typing import Any

from batkube.batsim.allocation import format_intervals
from batkube.batsim.external_events import AVAILABLE, UNAVAILABLE, ExternalEvent

Span = tuple[float, float]
"""From when to when a host is gone, in simulated seconds; infinity where it never comes back."""
Course = Callable[[], Iterator[Span]]
"""The spans of a host in order of their beginnings, from the first one whenever it is called."""

_MICROSECONDS = 6
"""The decimals of dates: those that Batsim tells."""


class MachineEvents:
    """The courses of hosts, by their numbers, each of which may have several courses."""

    def __init__(self, courses: Mapping[int, Iterable[Course]]) -> None:
        self._courses = {host: tuple(given) for host, given in sorted(courses.items())}

    @property
    def hosts(self) -> tuple[int, ...]:
        """The hosts that ever go."""
        return tuple(self._courses)

    def of(self, host: int) -> Iterator[ExternalEvent]:
        """Yield the events of one host, in order of date."""
        for begin, end in _united(merge(*(course() for course in self._courses[host]))):
            yield _event(begin, UNAVAILABLE, (host,))
            if end < math.inf:
                yield _event(end, AVAILABLE, (host,))

    def __iter__(self) -> Iterator[ExternalEvent]:
        """Yield the events of all hosts, those of one date together, in Batsim's order."""
        events = merge(*(self.of(host) for host in self._courses), key=_place)
        for (date, kind), group in groupby(events, key=_place):
            yield _event(date, kind, tuple(event.hosts[0] for event in group))

    def write(self, path: Path, others: Iterable[ExternalEvent] = (), *, generic: bool = False) -> None:
        """Write a file of Batsim's (``--events``), with ``others`` in it. Raises OSError.

        ``generic``: as Batsim 5 takes them, each as the text of an event that means nothing to it.
        """
        with path.open("w", encoding="utf-8") as file:
            for event in self:
                file.write(json.dumps(_generic(event) if generic else event.raw) + "\n")
            for event in others:
                file.write(json.dumps(event.raw) + "\n")


def _united(spans: Iterable[Span]) -> Iterator[Span]:
    """Yield spans that neither overlap nor touch."""
    since, until = math.inf, -math.inf
    for begin, end in spans:
        begin, end = round(begin, _MICROSECONDS), end if end == math.inf else round(end, _MICROSECONDS)
        if begin > until:
            if since < until:
                yield since, until
            since, until = begin, end
        else:
            until = max(until, end)
        if until == math.inf:  # nothing more can come of it
            break
    if since < until:
        yield since, until


def _event(date: float, kind: str, hosts: tuple[int, ...]) -> ExternalEvent:
    raw = {"type": kind, "resources": format_intervals(hosts), "timestamp": date}
    return ExternalEvent(date, kind, hosts, raw)


def _generic(event: ExternalEvent) -> dict[str, Any]:
    what = {"type": event.type, "resources": event.raw["resources"]}
    return {"type": "generic", "timestamp": event.timestamp, "data": json.dumps(what)}


def _place(event: ExternalEvent) -> tuple[float, str]:
    """Return the place in order of date; ``machine_available`` comes first of one date, as in Batsim."""
    return event.timestamp, event.type
