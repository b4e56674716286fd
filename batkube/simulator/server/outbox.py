"""The server's events that are not sent yet.

In exact simulations they have the order in which the server came to know them. In ideal ones, where all happens at
once, they have a fixed order: by date; at one date completions first (in order of the jobs' starts), then killed jobs,
hosts that came and went, submissions, the notice that no more will come, and calls that were asked for.
"""

from collections.abc import Callable
from itertools import count

from batkube.batsim.messages import Event, LeafProgress, Message, Progress
from batkube.simulator.time.dates import printed_seconds, seconds

PRINTED_DECIMALS = 6

COMPLETED, KILLED, HOSTS, SUBMITTED, NOTICE, CALL = range(6)


class Outbox:
    """Gathers events until the next message.

    ``exact``: dates, and how far jobs were, are told with the six decimals that Batsim prints, because decisions depend
    on them. Otherwise events have the fixed order.
    """

    def __init__(self, *, exact: bool) -> None:
        self._exact = exact
        self.date: Callable[[int], float] = printed_seconds if exact else seconds
        """Returns a date as it is told."""
        self.events: list[tuple[int, int, int, int, Event]] = []
        """Date, category, place, number, event."""
        self._numbers = count()

    def progress(self, tree: Progress) -> Progress:
        """Return how far a job was as it is told."""
        if not self._exact:
            return tree
        if isinstance(tree, LeafProgress):
            return tree.model_copy(update={"progress": round(tree.progress, PRINTED_DECIMALS)})
        task = tree.current_task
        return tree if task is None else tree.model_copy(update={"current_task": self.progress(task)})

    def add(self, date: int, category: int, event: Event, place: int = 0) -> None:
        """Add an event. Events of one category are ordered by ``place``, then in the order in which they were added."""
        self.events.append((date, category, place, next(self._numbers), event))

    def take(self, now: int) -> Message:
        """Take all events, as a message sent at ``now``."""
        if not self._exact and len(self.events) > 1:
            self.events.sort()
        events = [entry[4] for entry in self.events]
        self.events = []
        return Message(now=self.date(now), events=events)
