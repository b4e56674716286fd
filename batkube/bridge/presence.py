"""A check that a scheduler that batkube did not start is still there.

A scheduler that is gone sends nothing, and so looks at rest: simulated time would go on without it.
"""

import asyncio
import logging
import time

from batkube.kube.server import ApiServer

log = logging.getLogger(__name__)

POLL = 0.02
"""Real seconds between two looks."""
REOPENS_WITHIN = 2.0
"""Real seconds within which a client that is not gone opens a watch again that has ended."""
POLLS_WITHIN = 5.0
"""Real seconds within which a scheduler without watches asks for pods again."""
_WATCHED = ("pods", "nodes")


class Presence:
    """Knows the present scheduler by its watches, or else by its requests for pods now and then."""

    def __init__(self, server: ApiServer) -> None:
        self._server = server
        self._watched: tuple[str, ...] = ()
        self._lists = 0
        self._asked = time.monotonic()

    def note(self) -> None:
        """Note the watches of a scheduler that has started up.

        Other clients, such as `kubectl get pods --watch`, watch less.
        """
        self._watched = tuple(kind for kind in _WATCHED if self._server.watching(kind))

    async def is_lost(self) -> bool:
        """Tell whether the scheduler is gone, and has not only opened its watches anew."""
        end = time.monotonic() + REOPENS_WITHIN
        while not self._here():
            if time.monotonic() > end:
                return True
            await asyncio.sleep(POLL)
        return False

    async def until_back(self) -> None:
        """Return when there is a scheduler again."""
        while not self._here():  # noqa: ASYNC110 - nobody notifies us
            await asyncio.sleep(POLL)

    def _here(self) -> bool:
        lists = self._server.requests["list", "pods"]
        if lists != self._lists:
            self._lists, self._asked = lists, time.monotonic()
        if self._watched:
            return all(self._server.watching(kind) for kind in self._watched)
        return time.monotonic() - self._asked < POLLS_WITHIN
