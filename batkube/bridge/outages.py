"""Outages that are to come, as far as they are known: no job must be sent to a host that is about to go.

Batsim handles a decision some control latencies after the reply that carries it. A host that goes in between makes it
abort. Without the file (for a Batsim that batkube did not start) this cannot be known.
"""

from collections.abc import Iterable, Iterator, Sequence

from batkube.batsim.external_events import AVAILABLE, UNAVAILABLE, ExternalEvent
from batkube.batsim.machine_events import MachineEvents
from batkube.bridge.decisions import Decisions


class Outages:
    """The events of each host that Batsim has not told of yet, in order of date.

    ``events``: those of files. ``planned``: those that a plan makes, perhaps without end, as they are asked for.
    """

    def __init__(
        self, events: Sequence[ExternalEvent], decisions: Decisions, planned: MachineEvents | None = None
    ) -> None:
        self._decisions = decisions
        self._to_come: dict[int, _ToCome] = {}
        self._gone: set[int] = set()
        """The hosts that have gone and come back by plan."""
        self.planned = planned is not None
        """True if nobody tells when no more is to come."""
        by_host: dict[int, list[ExternalEvent]] = {}
        for event in sorted(events, key=lambda event: event.timestamp):
            if event.type in (UNAVAILABLE, AVAILABLE):
                for host in event.hosts:
                    by_host.setdefault(host, []).append(event)
        for host, found in by_host.items():
            self._to_come[host] = _ToCome(iter(found))
        for host in planned.hosts if planned is not None else ():
            assert planned is not None
            self._to_come[host] = _ToCome(planned.of(host))

    @property
    def known(self) -> bool:
        """True if there are any, past ones included."""
        return bool(self._to_come)

    @property
    def any_to_come_back(self) -> bool:
        """True if a host has gone, and will come back, by plan."""
        return bool(self._gone)

    def told(self, host: int, *, available: bool) -> None:
        """Note that Batsim has told that a host went or came back."""
        events = self._to_come.get(host)
        if events is None or events.next is None or events.next.type != (AVAILABLE if available else UNAVAILABLE):
            return
        events.go_on()
        self._gone.discard(host)
        if self.planned and events.next is not None and events.next.type == AVAILABLE:
            self._gone.add(host)

    def to_come(self, host: int) -> bool:
        """Tell whether the host has still to go, or to come back."""
        events = self._to_come.get(host)
        return events is not None and events.next is not None

    def returns(self, host: int) -> bool:
        """Tell whether the host has gone, and will come back."""
        events = self._to_come.get(host)
        return events is not None and events.next is not None and events.next.type == AVAILABLE

    def before_handling(self, hosts: Iterable[int]) -> float | None:
        """Return the date at which one of ``hosts`` may go before Batsim has handled a decision of now, or None."""
        found = [self._to_come[host].next for host in hosts if host in self._to_come]
        dates = [event.timestamp for event in found if event is not None]
        handled = self._decisions.handled_by
        return next((date for date in sorted(dates) if date <= handled), None)


class _ToCome:
    """The events of a host, of which the next is known."""

    def __init__(self, events: Iterator[ExternalEvent]) -> None:
        self._events = events
        self.next = next(events, None)

    def go_on(self) -> None:
        self.next = next(self._events, None)
