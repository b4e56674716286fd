"""What has happened and was not told yet, in a fixed order.

By date; at one date completions first (in order of the jobs' starts), then what was killed, hosts that came and went,
submissions, the notice that no more will come, and calls that were asked for.
"""

from itertools import count

from batkube.batsim.messages import Event, Message
from batkube.simulator.dates import seconds

COMPLETED, KILLED, HOSTS, SUBMITTED, NOTICE, CALL = range(6)


class Outbox:
    """Gathers events until the next message."""

    def __init__(self) -> None:
        self.events: list[tuple[int, int, int, int, Event]] = []
        """Date, category, place, number, event."""
        self._numbers = count()

    def add(self, date: int, category: int, event: Event, place: int = 0) -> None:
        """``place`` orders what is of one category, then what was added first goes first."""
        self.events.append((date, category, place, next(self._numbers), event))

    def take(self, now: int) -> Message:
        """All of it, as a message sent ``now``."""
        if len(self.events) > 1:
            self.events.sort()
        events = [entry[4] for entry in self.events]
        self.events = []
        return Message(now=seconds(now), events=events)
