"""Watches: a stream of the changes of one collection, through a selector.

A watcher holds references to versions, not copies: their bytes are made once and shared by all watchers. For a client
that does not read only a bounded queue is kept. When the queue is full the stream ends with 410 Expired, and the client
lists again. Nobody waits for it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..apimachinery.status import ApiError
from .form import Form
from .selectors import ANY_FIELDS, EVERYTHING, FieldSelector, LabelSelector
from .store import ADDED, DELETED, MODIFIED, Change, Collection, Version

QUEUE_LIMIT = 10_000  # events that wait for a client that reads too slowly
BATCH_BYTES = 1 << 18  # written at once; more would only fill buffers
PACKET_BYTES = (
    1 << 14
)  # of events that must arrive at once: with one more of usual size they are one packet of loopback


@dataclass(frozen=True, slots=True)
class Scope:
    """The objects of a collection that a list or a watch is about."""

    namespace: str = ""  # "" for all
    labels: LabelSelector = EVERYTHING
    fields: FieldSelector = ANY_FIELDS

    @property
    def filtered(self) -> bool:
        return bool(self.labels.requirements or self.fields.terms)

    def matches(self, version: Version, collection: Collection) -> bool:
        if self.namespace and version.key[0] != self.namespace:
            return False
        if self.labels.requirements and not self.labels.matches(version.obj["metadata"].get("labels")):
            return False
        terms = self.fields.terms
        return not terms or self.fields.matches(version.fields(collection.field_labels))


class Watcher:
    """One open watch. `next_batch` returns the bytes to send; `finish` ends the watch after the queued events."""

    def __init__(
        self,
        collection: Collection,
        scope: Scope,
        form: Form,
        *,
        after: int,
        initial: Iterator[Version] | None = None,
        end_mark: int | None = None,
        bookmarks: bool = False,
        limit: int = QUEUE_LIMIT,
    ) -> None:
        """Create a watch of the changes after the revision `after`.

        `initial` versions come first, as ADDED. If `end_mark` is a revision, a bookmark follows that ends them.
        """
        self._collection = collection
        self._scope = scope
        self._form = form
        self._after = after
        self._initial = initial
        self._end_mark = end_mark
        self._limit = limit
        self._queue: deque[tuple[str, Version]] = deque()
        self._first = True
        self._tail: bytes = b""
        self._waiter: asyncio.Future[None] | None = None
        self._woken_sets: list[set[Watcher]] = []
        self._holds_back = False
        self._before = 0.0  # events before this revision may be sent though it holds back
        self.bookmarks = bookmarks
        self.closed = False  # nothing is added any more
        self.fell_behind: Callable[[], object] = lambda: None  # called when the client is dropped for not reading
        collection.listeners[self._on_change] = None

    @property
    def storage(self) -> str:
        """The storage key of the watched collection."""
        return self._collection.storage

    @property
    def pending(self) -> bool:
        """True if an event waits to be sent, and may be sent."""
        if self._initial is not None or self._end_mark is not None:
            return True
        if self._queue:
            return self._may_send
        return bool(self._tail)

    @property
    def queued(self) -> bool:
        """True if changes wait, even if they may not be sent yet."""
        return bool(self._queue)

    @property
    def over(self) -> bool:
        """True if the watch is closed, and nothing is held back."""
        return self.closed and not self._queue

    @property
    def held_revision(self) -> int | None:
        """The version of the object in the next event, if that event is held back."""
        return self._queue[0][1].revision if self._queue and not self._may_send else None

    def note_wakes_in(self, woken: set[Watcher]) -> None:
        """Add the watch to the set now, and whenever an event is queued or may be sent."""
        woken.add(self)
        self._woken_sets.append(woken)

    def hold_back(self, held_back: bool = True) -> None:
        """Hold changes back until `let_through` allows them, or stop doing so."""
        self._holds_back = held_back
        self._wake()

    def let_through(self, before: float) -> bool:
        """Allow the next event to be sent, and with it those before this revision that make one packet with it.

        Return True if there are such events.
        """
        self._before = max(before, self._queue[0][1].revision + 1)
        self._wake()
        return len(self._queue) > 1 and self._queue[1][1].revision < self._before

    def replay(self, changes: list[Change]) -> None:
        """Queue changes of the past, however many."""
        for change in changes:
            self._filter(change)

    def next_batch(self) -> bytes:
        """Return the bytes to send next; b"" if there are none at the moment."""
        parts: list[bytes] = []
        size = 0
        while self._initial is not None and size < BATCH_BYTES:
            version = next(self._initial, None)
            if version is None:
                self._initial = None
            else:
                size += self._add(parts, self._form.event(ADDED, version, self._first))
        if self._initial is None and self._end_mark is not None:
            mark, self._end_mark = self._end_mark, None
            size += self._add(parts, self._form.bookmark(mark, True, self._first))
        most = PACKET_BYTES if self._holds_back else BATCH_BYTES
        while self._queue and self._initial is None and size < most and self._may_send:
            kind, version = self._queue.popleft()
            size += self._add(parts, self._form.event(kind, version, self._first))
        self._before = 0
        if not self._queue and self._initial is None and self._tail:
            parts.append(self._tail)
            self._tail = b""
        return b"".join(parts)

    async def wait(self) -> None:
        """Wait until there is something to send or the watch is over."""
        if not self.pending and not self.over:
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter

    def finish(self, revision: int | None = None) -> None:
        """End the stream after the queued events; with a bookmark of that revision, if the client takes bookmarks."""
        if self.closed:
            return
        if revision is not None and self.bookmarks and revision >= self._after:
            self._tail = self._form.bookmark(revision, False, self._first)
        self._close()

    def fail(self, error: ApiError) -> None:
        """End the stream with one ERROR event, whose object is the Status of that error. The queued events
        are dropped.
        """
        self._queue.clear()
        self._initial = self._end_mark = None
        self._tail = self._form.error(error.to_status())
        self._close()

    @property
    def _may_send(self) -> bool:
        return not self._holds_back or (bool(self._queue) and self._queue[0][1].revision < self._before)

    def _add(self, parts: list[bytes], event: bytes) -> int:
        parts.append(event)
        self._first = False
        return len(event)

    def _on_change(self, change: Change) -> None:
        if change.revision <= self._after:
            return
        self._filter(change)
        if len(self._queue) > self._limit and not self._holds_back:
            self._overflow(change.revision)

    def _filter(self, change: Change) -> None:
        """Compare the old and the new state with the selector: an object that enters is ADDED, one that leaves is
        DELETED.
        """
        scope, collection = self._scope, self._collection
        before, kind = change.before, change.type
        matches = kind != DELETED and scope.matches(change.version, collection)
        matched = before is not None and scope.matches(before, collection)
        if matches:
            self._queue.append((MODIFIED if matched else ADDED, change.version))
        elif matched:
            self._queue.append((DELETED, change.left))
        else:
            return
        self._wake()

    def _overflow(self, revision: int) -> None:
        waiting = len(self._queue)
        self.fail(ApiError.expired(f"the watch fell behind: {waiting} events not read at version {revision}"))
        self.fell_behind()

    def _close(self) -> None:
        self.closed = True
        self._collection.listeners.pop(self._on_change, None)
        self._wake()

    def _wake(self) -> None:
        for woken in self._woken_sets:
            woken.add(self)
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
