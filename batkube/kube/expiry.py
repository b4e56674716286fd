"""Events are not kept for ever: as in the real server (`--event-ttl`), each goes some time after its last
write.

The time is simulated. Expired events are taken away when the next event is written, so that a store of a long
run holds no more of them than were written in that time.
"""

from __future__ import annotations

from collections import deque

from .api import Api
from .store import DELETED, Change, Key

STORAGE = "events"
EVENT_TTL = 3600.0  # simulated seconds


class EventExpiry:
    """Follows the events in the store and removes the old ones."""

    def __init__(self, api: Api, ttl: float = EVENT_TTL) -> None:
        self._api = api
        self._ttl = ttl
        self._written: deque[tuple[float, Key, int]] = deque()  # when to go, what, at which revision

    def follow(self, change: Change) -> None:
        """To be called with every change of the store."""
        if change.resource.storage != STORAGE or change.type == DELETED:
            return
        now = self._api.clock.now()
        self._written.append((now + self._ttl, change.version.key, change.revision))
        while self._written and self._written[0][0] <= now:
            _, key, revision = self._written.popleft()
            version = self._api.store.version(STORAGE, *key)
            if version is not None and version.revision == revision:  # not written again since
                self._api.identities.ended(STORAGE, *key)
                self._api.store.remove(version.resource, key)
