"""Outages that are to come, by the file of external events: no job must be sent to a host that is about to go.

Batsim handles a decision some control latencies after the reply that carries it. A host that goes in between makes it
abort. Without the file (for a Batsim that batkube did not start) this cannot be known.
"""

from collections.abc import Iterable, Sequence

from batkube.batsim.external_events import AVAILABLE, UNAVAILABLE, ExternalEvent
from batkube.bridge.decisions import Decisions


class Outages:
    """The events of each host that Batsim has not told of yet, in order of date."""

    def __init__(self, events: Sequence[ExternalEvent], decisions: Decisions) -> None:
        self._decisions = decisions
        self._to_come: dict[int, list[ExternalEvent]] = {}
        for event in sorted(events, key=lambda event: event.timestamp):
            if event.type in (UNAVAILABLE, AVAILABLE):
                for host in event.hosts:
                    self._to_come.setdefault(host, []).append(event)

    @property
    def known(self) -> bool:
        """True if there are any, past ones included."""
        return bool(self._to_come)

    def told(self, host: int, *, available: bool) -> None:
        """Note that Batsim has told that a host went or came back."""
        events = self._to_come.get(host)
        if events and events[0].type == (AVAILABLE if available else UNAVAILABLE):
            events.pop(0)

    def to_come(self, host: int) -> bool:
        """Tell whether the host has still to go, or to come back."""
        return bool(self._to_come.get(host))

    def before_handling(self, hosts: Iterable[int]) -> float | None:
        """Return the date at which one of ``hosts`` may go before Batsim has handled a decision of now, or None."""
        dates = [events[0].timestamp for host in hosts if (events := self._to_come.get(host))]
        handled = self._decisions.handled_by
        return next((date for date in sorted(dates) if date <= handled), None)
