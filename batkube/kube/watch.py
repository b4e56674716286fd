"""Watches: a stream of the changes of one collection, through a selector.

A watcher holds references to versions, not copies: their bytes are made once and shared by all watchers. A
client that does not read costs a bounded queue; when that is full its stream ends with 410 Expired, and the
client lists again. Nobody waits for it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .forms import Form
from .selectors import ANY_FIELDS, EVERYTHING, FieldSelector, LabelSelector
from .status import ApiError
from .store import ADDED, DELETED, MODIFIED, Change, Collection, Version

QUEUE_LIMIT = 10_000  # events that wait for a client that reads too slowly
BATCH_BYTES = 1 << 18  # written at once; more would only fill buffers


@dataclass(frozen=True, slots=True)
class Scope:
    """Which objects of a collection a list or a watch is about."""

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
    """One open watch. `next_batch` gives what there is to send; `finish` ends it after what is queued."""

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
        """Changes after the revision `after` are sent. `initial` versions come first, as ADDED, and behind
        them, if `end_mark` is a revision, the bookmark that ends them.
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
        self.bookmarks = bookmarks
        self.closed = False  # nothing is added any more
        self.fell_behind: Callable[[], object] = lambda: None  # called when the client is dropped for not reading
        collection.listeners[self._on_change] = None

    @property
    def storage(self) -> str:
        """The storage key of what is watched."""
        return self._collection.storage

    @property
    def pending(self) -> bool:
        """Something waits to be sent."""
        return bool(self._queue or self._tail) or self._initial is not None or self._end_mark is not None

    def replay(self, changes: list[Change]) -> None:
        """Queue changes of the past, however many."""
        for change in changes:
            self._filter(change)

    def next_batch(self) -> bytes:
        """The bytes to send next, b"" if there are none at the moment."""
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
        while self._queue and self._initial is None and size < BATCH_BYTES:
            kind, version = self._queue.popleft()
            size += self._add(parts, self._form.event(kind, version, self._first))
        if not self._queue and self._initial is None and self._tail:
            parts.append(self._tail)
            self._tail = b""
        return b"".join(parts)

    async def wait(self) -> None:
        """Wait until there is something to send or the watch is closed."""
        if not self.pending and not self.closed:
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter

    def finish(self, revision: int | None = None) -> None:
        """End the stream after what is queued; with a bookmark of that revision, if the client takes bookmarks."""
        if self.closed:
            return
        if revision is not None and self.bookmarks and revision >= self._after:
            self._tail = self._form.bookmark(revision, False, self._first)
        self._close()

    def _add(self, parts: list[bytes], event: bytes) -> int:
        parts.append(event)
        self._first = False
        return len(event)

    def _on_change(self, change: Change) -> None:
        if change.revision <= self._after:
            return
        self._filter(change)
        if len(self._queue) > self._limit:
            self._overflow(change.revision)

    def _filter(self, change: Change) -> None:
        """Old and new state against the selector: who enters it is ADDED, who leaves it DELETED."""
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
        status = ApiError.expired(f"the watch fell behind: {len(self._queue)} events not read at version {revision}")
        self._queue.clear()
        self._initial = self._end_mark = None
        self._tail = self._form.error(status.to_status())
        self._close()
        self.fell_behind()

    def _close(self) -> None:
        self.closed = True
        self._collection.listeners.pop(self._on_change, None)
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
