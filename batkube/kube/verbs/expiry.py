"""The end of events: as in the real server (`--event-ttl`), each is deleted some time after its last write.

The time is simulated. Expired events are removed when the next event is written, so that the store of a long run holds
no more events than were written in that time.
"""

from __future__ import annotations

from collections import deque

from ..storage.store import DELETED, Change, Key
from .api import Api

STORAGE = "events"
EVENT_TTL = 3600.0  # simulated seconds


class EventExpiry:
    """The follower of events in the store, which removes the old ones."""

    def __init__(self, api: Api, ttl: float = EVENT_TTL) -> None:
        self._api = api
        self._ttl = ttl
        self._written: deque[tuple[float, Key, int]] = deque()  # when to go, what, at which revision

    def follow(self, change: Change) -> None:
        """Follow a change. The store must call it with every change of an event."""
        if change.type == DELETED:
            return
        now = self._api.clock.now()
        self._written.append((now + self._ttl, change.version.key, change.revision))
        while self._written and self._written[0][0] <= now:
            _, key, revision = self._written.popleft()
            version = self._api.store.version(STORAGE, *key)
            if version is not None and version.revision == revision:  # not written again since
                self._api.identities.ended(STORAGE, *key)
                self._api.store.remove(version.resource, key)
