"""The turns of clients: their requests and events go through one by one, when somebody says so.

A program can only do the same each time if its inputs reach it in the same order, each while it rests. So a request of
such a client is neither carried out nor answered before its turn, and one event of its watches is sent in a turn. The
observer of the program calls `next` whenever the program rests.
"""

from __future__ import annotations

import asyncio
import bisect
import math
import random
import socket
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..storage.watch import Watcher

Client = tuple[str, int]  # address and port of the other end


READS = frozenset((b"GET", b"HEAD", b"OPTIONS"))


class Held(NamedTuple):
    """A request that waits. Requests are sorted in the order in which they go."""

    turn: int  # how many turns there had been when it came
    content: tuple[bytes, ...]  # method, URL, body: what is the same in each run
    place: int  # of the process that sent it
    arrival: int


class Turns:
    """The turns of clients: the clients that take turns, and all that waits for their turns."""

    def __init__(self) -> None:
        self.place_of: Callable[[socket.socket], int | None] = lambda connection: None
        """The function that returns the place of a client's process among those that take turns; None for other
        clients.
        """
        self._random: random.Random | None = None
        self.at_once = False
        """True if events of one watch, with none of another in between, have one turn. If not, each event
        has its own.
        """
        self.let_through = self.events = self.together = 0
        """The number of turns, of those in which events were sent, and of those in which several events were sent."""
        self.strangers = 0
        """The number of write requests of clients that take no turns."""
        self._places: dict[Client, int] = {}
        self._held: list[tuple[Held, Callable[[], None]]] = []  # in order; no two are equal in the first part
        self._holding: set[Client] = set()
        self._watchers: dict[Watcher, int] = {}  # and when they came
        self._followed = 0
        self._woken: set[Watcher] = set()  # those that may hold something back
        self._arrivals = 0

    def draw_by(self, seed: int) -> None:
        """Choose who goes first among those that wait, drawn from the seed. At 0 there is a fixed order."""
        self._random = random.Random(seed) if seed else None

    def meet(self, client: Client | None, connection: socket.socket) -> None:
        """Meet a client: it sends the first request on a connection."""
        if client is not None and (place := self.place_of(connection)) is not None:
            self._places[client] = place

    def part(self, client: Client | None) -> None:
        """Forget a client whose connection is closed. Its waiting request is carried out at its turn, the answer is
        lost.
        """
        if client is not None:
            self._places.pop(client, None)
            self._holding.discard(client)

    def note(self, client: Client | None, method: bytes) -> None:
        """Note a request of a client."""
        if method not in READS and not self.takes(client):
            self.strangers += 1

    def takes(self, client: Client | None) -> bool:
        """Return True if the client takes turns."""
        return client in self._places

    def holds(self, client: Client | None) -> bool:
        """Return True if a request of the client waits for its turn."""
        return client in self._holding

    def hold(self, client: Client, content: tuple[bytes, ...], carry_out: Callable[[], None]) -> None:
        """Let a request wait. `carry_out` is called when its turn comes."""
        self._arrivals += 1
        held = Held(self.let_through, content, self._places[client], self._arrivals)
        self._holding.add(client)

        def go() -> None:
            self._holding.discard(client)
            carry_out()

        bisect.insort(self._held, (held, go))

    async def turn(self, client: Client | None, *content: bytes) -> None:
        """Wait until it is the turn of a request. A client that takes no turns does not wait."""
        if client is None or not self.takes(client):
            return
        came: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def come() -> None:
            if not came.done():
                came.set_result(None)

        self.hold(client, content, come)
        await came

    def follow(self, watcher: Watcher) -> None:
        """Send the events of this watch in turn. The events that it begins with belong to the answer."""
        watcher.hold_back()
        self._followed += 1
        self._watchers[watcher] = self._followed
        watcher.note_wakes_in(self._woken)

    def leave(self, watcher: Watcher) -> None:
        """Forget a watch that is over."""
        self._watchers.pop(watcher, None)
        self._woken.discard(watcher)

    @property
    def waiting(self) -> int:
        """The number of requests that wait for their turn."""
        return len(self._held)

    @property
    def in_use(self) -> bool:
        """True if any client takes turns."""
        return bool(self._places)

    def next(self) -> bool:
        """Let the next input through. Return False if nothing waits.

        Past events are sent before anything else happens, in order of their revisions. Requests follow in the order of
        the turns in which they came. Requests of one turn are sorted by their contents: their order of arrival is a
        race within the program.

        With a seed any of the waiting inputs may be next. Only the events of one watch keep their order: networks
        promise no more.
        """
        telling = self._holding_back()
        if not telling and not self._held:
            return False
        self.let_through += 1
        if self._random is not None:
            at = self._random.randrange(len(telling) + len(self._held))
            if at < len(telling):
                self._tell(telling[at], telling)
            else:
                self._carry_out(at - len(telling))
        elif telling:
            self._tell(min(telling, key=_held_revision), telling)
        else:
            self._carry_out(0)
        return True

    def _tell(self, watcher: Watcher, telling: Sequence[Watcher]) -> None:
        """Send the next event of a watch. If several go at once, send those before the next event of another watch."""
        self.events += 1
        limit = min((_held_revision(other) for other in telling if other is not watcher), default=math.inf)
        self.together += watcher.let_through(limit if self.at_once else 0)

    def _carry_out(self, at: int) -> None:
        _, go = self._held.pop(at)
        go()

    def _holding_back(self) -> list[Watcher]:
        """Return the watches of which something waits for its turn, in the order in which the watches came."""
        holding = []
        for watcher in list(self._woken):
            if not watcher.queued or watcher not in self._watchers:
                self._woken.discard(watcher)
            elif watcher.held_revision is not None:
                holding.append(watcher)
        return sorted(holding, key=self._watchers.__getitem__)

    def end(self) -> None:
        """Let everything through. From now on nobody takes turns."""
        self.place_of = lambda connection: None
        self._places.clear()
        for watcher in self._watchers:
            watcher.hold_back(False)
        self._watchers.clear()
        self._woken.clear()
        while self._held:
            self._carry_out(0)


def _held_revision(watcher: Watcher) -> float:
    return math.inf if watcher.held_revision is None else watcher.held_revision


__all__ = ["Turns"]
