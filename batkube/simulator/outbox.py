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
        self._events: list[tuple[int, int, int, int, Event]] = []
        self._numbers = count()

    def __bool__(self) -> bool:
        return bool(self._events)

    def add(self, date: int, category: int, event: Event, place: int = 0) -> None:
        """``place`` orders what is of one category, then what was added first goes first."""
        self._events.append((date, category, place, next(self._numbers), event))

    def take(self, now: int) -> Message:
        """All of it, as a message sent ``now``."""
        self._events.sort()
        events = [entry[4] for entry in self._events]
        self._events = []
        return Message(now=seconds(now), events=events)
