"""The interface by which the parts of the simulated Batsim act and talk, in ideal and in exact simulations.

Batsim is made of actors that SimGrid plays: submitters, one for each job that runs, waiters, killers, and a server that
all of them send messages to. Here an actor is a chain of callbacks. What it does between two of them takes no time; a
Control decides when it goes on.
"""

from collections.abc import Callable, Iterator
from typing import Protocol

from batkube.batsim.topology import Host
from batkube.event_queue import Action, Entry
from batkube.simulator.time.event_queue import Rank

Time = float
"""A date or a duration in a Control's own unit: picoseconds if dates are ideal, SimGrid's seconds if they are exact.

Where Batsim compares dates, the last bit of SimGrid's clock decides.
"""


class Waiting(Protocol):
    """The wait of an actor: for a date, or for the server to take its message."""

    def cancel(self) -> None:
        """Note that the actor does not exist any more, so that it does not go on."""
        ...


class Control(Protocol):
    """The requests that actors may make. ``host`` is the host of an actor."""

    def launch(self, rank: Rank, begin: Action) -> None:
        """Make an actor that exists from the beginning."""
        ...

    def spawn(self, begin: Action) -> None:
        """Make an actor on behalf of another one."""
        ...

    def resume(self, then: Action) -> None:
        """Let an actor go on with ``then``: what it waited for is there. To be called from the queue."""
        ...

    def time(self, seconds: float) -> Time:
        """Return ``seconds`` in the control's own unit."""
        ...

    def picoseconds(self, time: Time) -> int:
        """Return ``time``, which is in the control's own unit, in picoseconds."""
        ...

    def now(self) -> Time:
        """Return the present in the control's own unit."""
        ...

    def after(self, duration: Time, rank: Rank, action: Action) -> Entry:
        """Call ``action`` after ``duration``. The action is no actor, see ``resume``."""
        ...

    def in_turn(self, actions: Iterator[Action], then: Action) -> None:
        """Let SimGrid do these actions for an actor. That takes no time, but other ready actors go on after each."""
        ...

    def end(self, task: Action, then: Action) -> None:
        """End a task by ``task``, as SimGrid does; the actor that waits for it goes on with ``then``."""
        ...

    def wait(self, duration: Time, rank: Rank, then: Action) -> Waiting:
        """Let an actor go on with ``then`` after ``duration``."""
        ...

    def sleep(self, duration: int, rank: Rank, then: Action) -> Waiting:
        """Do the same as ``wait``, for a duration in picoseconds."""
        ...

    def send(
        self, host: Host | None, handle: Action, then: Action | None = None, call_back: Action | None = None
    ) -> Waiting:
        """Send the server a message of an actor, which it handles by ``handle``. The actor then goes on with ``then``.

        ``call_back``: how another actor, a submitter on the master, goes on after the server has called it back, which
        the server does first.
        """
        ...

    def check_call(self, timestamp: float) -> None:
        """Refuse a call (CALL_ME_LATER) whose date will be past when Batsim handles it. Raises ValueError."""
        ...


Handle = Callable[[], object]
"""The server's handling of a message. Raises ValueError."""
