"""The store: every object of the cluster, and the history of its changes.

One integer revision counts all writes. A write makes one Change (old and new version of an object). The change is kept
in a bounded history and handed to the watchers and listeners at once, in order of revision. Stored objects are plain
dictionaries that nobody changes any more: a write brings a new one. The bytes of a version, in each form that is asked
for, are made once and shared by all lists and watches. Of past versions only the bytes of the last few thousand are
kept.

The store knows no rule of Kubernetes: the verbs decide what an object may be.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Protocol

import orjson

from ..schema.resources import ResourceType

JSON = dict[str, Any]
Key = tuple[str, str]  # namespace ("" for cluster-scoped objects) and name
FieldLabels = Callable[[JSON], dict[str, str] | None]

Writer = tuple[str, str, str]  # field manager, API version, time of the first write
NOBODY: Writer = ("", "", "")  # all ownership was let go of

ADDED, MODIFIED, DELETED = "ADDED", "MODIFIED", "DELETED"

REMEMBERED = 4_000  # versions of the past whose bytes are kept: watchers that keep up have sent them long before


class Rendering(Protocol):
    """A form in which versions are sent: another API version, or metadata only."""

    @property
    def key(self) -> Hashable:
        """The key of the form: two forms with equal keys give equal bytes."""
        ...

    def encode(self, obj: JSON) -> bytes: ...


class Version:
    """One version of one object. `resource` is the type it is stored as."""

    __slots__ = ("_fields", "_json", "_past", "_renderings", "key", "obj", "resource", "revision", "writer")

    def __init__(self, resource: ResourceType, key: Key, obj: JSON, revision: int) -> None:
        self.resource = resource
        self.key = key
        self.obj = obj
        self.revision = revision
        self.writer: Writer | None = None  # who wrote all versions of the object so far, if it was but one
        self._json: bytes | None = None
        self._renderings: dict[Hashable, bytes] | None = None
        self._fields: dict[str, str] | None = None
        self._past: Past | None = None  # where it is remembered once it is not the newest of its object

    @property
    def json(self) -> bytes:
        if self._json is None:
            if self._past is not None:
                self._past.remember(self)
            self._json = orjson.dumps(self.obj)
        return self._json

    def rendered(self, rendering: Rendering) -> bytes:
        """Return the object in that form. The bytes are made when first asked for."""
        return self.remembered(rendering.key, lambda: rendering.encode(self.obj))

    def remembered(self, key: Hashable, make: Callable[[], bytes]) -> bytes:
        if self._renderings is None:
            if self._past is not None:
                self._past.remember(self)
            self._renderings = {}
        found = self._renderings.get(key)
        if found is None:
            found = self._renderings[key] = make()
        return found

    def reread(self, obj: JSON) -> None:
        """Replace the content of the version: what is stored is read in another way from now on."""
        self.obj = obj
        self._json = self._renderings = self._fields = None

    def fields(self, labels: FieldLabels) -> dict[str, str]:
        """Return the fields of the object that field selectors use."""
        if self._fields is None:
            fields = {"metadata.name": self.key[1], "metadata.namespace": self.key[0]}
            fields.update(labels(self.obj) or {})
            self._fields = fields
        return self._fields

    def at(self, revision: int) -> Version:
        """Return the same state with a later revision, as a watcher gets it of an object that left its selector."""
        then = Version(self.resource, self.key, with_revision(self.obj, revision), revision)
        if self._past is not None:
            self._past.take(then)
        return then


class Past:
    """The versions that are not the newest of their object any more. History keeps them long, their bytes only for a
    while.

    The bytes of all forms together are several times as large as the objects.
    """

    def __init__(self, limit: int = REMEMBERED) -> None:
        self._limit = limit
        self._remembered: deque[Version] = deque()

    def take(self, version: Version) -> None:
        """Take over a version that is no longer the newest."""
        version._past = self
        self.remember(version)

    def remember(self, version: Version) -> None:
        """Note that bytes of the version are about to be made. If too many versions have bytes, drop those of the one
        noted first (perhaps of this one, noted long ago).
        """
        self._remembered.append(version)
        if len(self._remembered) > self._limit:
            oldest = self._remembered.popleft()
            oldest._json = oldest._renderings = oldest._fields = None


class Change:
    """One write. `before` is None for ADDED; for DELETED `version` is the last state, dated with the deletion."""

    __slots__ = ("_left", "before", "resource", "revision", "type", "version")

    def __init__(self, revision: int, kind: str, version: Version, before: Version | None) -> None:
        self.revision = revision
        self.type = kind
        self.resource = version.resource
        self.version = version
        self.before = before
        self._left: Version | None = None

    @property
    def object(self) -> JSON:
        return self.version.obj

    @property
    def previous(self) -> JSON | None:
        return self.before.obj if self.before else None

    @property
    def left(self) -> Version:
        """The event object for watchers that saw the old version and may not see the new one.

        It is the old state, with the revision of this change.
        """
        if self.type == DELETED:
            return self.version
        if self._left is None:
            assert self.before is not None
            self._left = self.before.at(self.revision)
        return self._left


Listener = Callable[[Change], None]


class Collection:
    """All objects of one storage key, and their history. Objects are identified by their path (see `path_of`)."""

    def __init__(self, storage: str, history: int) -> None:
        self.storage = storage
        self.versions: dict[str, Version] = {}
        self.field_labels: FieldLabels = lambda obj: None
        self.listeners: dict[Listener, None] = {}
        self.forgotten = 0  # the newest revision that is no longer in the log
        self.begun = 0  # the revision at which the kind came to be: no watch begins before it
        self.newest = 0  # the revision of the last change
        self.writes = {ADDED: 0, MODIFIED: 0, DELETED: 0}  # how many there were
        self._history = history
        self._log: list[Change] = []
        self._paths: list[str] = []  # sorted
        self._past = Past()

    def __len__(self) -> int:
        return len(self._paths)

    def select(self, namespace: str | None = None) -> list[Version]:
        """Return the versions of one namespace or of all, sorted by path."""
        if not self._paths:  # most writes ask for limit ranges and quotas that nobody made
            return []
        return [self.versions[path] for path in paths_within(self._paths, namespace)]

    def since(self, revision: int) -> list[Change]:
        """Return the changes after that revision. The caller has compared it with `forgotten`."""
        return self._log[bisect_right(self._log, revision, key=lambda change: change.revision) :]

    def as_of(self, revision: int, namespace: str | None = None, after: str = "") -> Snapshot:
        """Return what `select` returned at that revision, for paths after `after`. The revision must not be
        forgotten.
        """
        paths = paths_within(self._paths, namespace, after)
        then: dict[str, Version | None] = {}
        for change in self.since(revision):
            then.setdefault(path_of(*change.version.key), change.before)
        if then:
            made = {path for path, before in then.items() if before is None}
            gone = sorted(path for path in then if path not in made and path not in self.versions)
            paths = [path for path in paths if path not in made]
            paths = sorted([*paths, *paths_within(gone, namespace, after)])
        return Snapshot(paths, self.versions, then)

    def record(self, change: Change, path: str) -> None:
        self.newest = change.revision
        self.writes[change.type] += 1
        if change.before is not None:
            self._past.take(change.before)
        if change.type == DELETED:
            self._past.take(change.version)
            del self.versions[path]
            del self._paths[bisect_left(self._paths, path)]
        else:
            self.versions[path] = change.version
            if change.before is None:
                insort(self._paths, path)
        self._log.append(change)
        if len(self._log) >= 2 * self._history:  # half at a time, so that forgetting costs next to nothing
            self.forgotten = self._log[-self._history - 1].revision
            del self._log[: -self._history]


class Snapshot:
    """The versions of a collection at one revision, sorted by path. A snapshot is valid until the next write.

    The versions are looked up one by one, so that a page of a large collection costs no more than one of a small
    collection.
    """

    def __init__(self, paths: Sequence[str], newest: dict[str, Version], then: dict[str, Version | None]) -> None:
        """Create a snapshot; `then` has the versions that are not the newest any more."""
        self._paths = paths
        self._newest = newest
        self._then = then

    def __len__(self) -> int:
        return len(self._paths)

    def __iter__(self) -> Iterator[Version]:
        for path in self._paths:
            yield self._then.get(path) or self._newest[path]


class Store:
    """All collections under one revision.

    `history` is the least number of changes of a collection that are kept. A watch from before them gets the error
    Expired.
    """

    def __init__(self, *, history: int = 10_000) -> None:
        self.revision = 1
        self._history = history
        self._collections: dict[str, Collection] = {}
        self._listeners: list[tuple[Listener, Sequence[str] | None]] = []
        self._concerned: dict[str, tuple[Listener, ...]] = {}  # those who listen to a storage key, as far as known
        self._unheard: deque[tuple[Collection, Change]] = deque()
        self._publishing = False

    def collection(self, storage: str) -> Collection:
        found = self._collections.get(storage)
        if found is None:
            found = self._collections[storage] = Collection(storage, self._history)
        return found

    def collections(self) -> list[Collection]:
        return list(self._collections.values())

    def version(self, storage: str, namespace: str, name: str) -> Version | None:
        collection = self._collections.get(storage)
        return collection.versions.get(path_of(namespace, name)) if collection is not None else None

    def get(self, storage: str, namespace: str, name: str) -> JSON | None:
        found = self.version(storage, namespace, name)
        return found.obj if found is not None else None

    def list(self, storage: str, namespace: str | None = None) -> list[JSON]:
        return [version.obj for version in self.collection(storage).select(namespace)]

    def put(self, resource: ResourceType, obj: JSON, writer: Writer | None = None) -> Version:
        """Store a new object, or a new version of one. From now on `obj` belongs to the store, which sets the
        resourceVersion.
        """
        obj = {"kind": resource.kind, "apiVersion": resource.api_version, **obj}  # in this order: forms.py cuts it off
        metadata = obj["metadata"]
        key = (metadata.get("namespace", ""), metadata["name"])
        collection = self.collection(resource.storage)
        path = path_of(*key)
        before = collection.versions.get(path)
        self.revision += 1
        metadata["resourceVersion"] = str(self.revision)
        version = Version(resource, key, obj, self.revision)
        if before is None or writer == NOBODY:
            version.writer = writer
        elif before.writer == NOBODY:
            version.writer = NOBODY
        elif before.writer is not None and writer is not None and before.writer[:2] == writer[:2]:
            version.writer = before.writer
        kind = ADDED if before is None else MODIFIED
        self._publish(collection, Change(self.revision, kind, version, before), path)
        return version

    def remove(self, resource: ResourceType, key: Key, final: JSON | None = None) -> Version:
        """Delete an object. `final` is the state to show to watchers, if it differs from the stored one."""
        collection = self.collection(resource.storage)
        path = path_of(*key)
        before = collection.versions[path]
        self.revision += 1
        last = with_revision(final if final is not None else before.obj, self.revision)
        version = Version(resource, key, last, self.revision)
        self._publish(collection, Change(self.revision, DELETED, version, before), path)
        return version

    def subscribe(self, listener: Listener, storages: Sequence[str] | None = None) -> None:
        """Call `listener` with every change from now on, in order of revision, before the write returns.

        `storages` are the storage keys of the changes that concern it, if not all do.
        """
        self._listeners.append((listener, storages))
        self._concerned.clear()

    def unsubscribe(self, listener: Listener) -> None:
        """Stop calling `listener`."""
        del self._listeners[[heard for heard, _ in self._listeners].index(listener)]
        self._concerned.clear()

    def _listening(self, storage: str) -> tuple[Listener, ...]:
        """Return those who listen to changes of that storage key, in order of their subscription."""
        found = self._concerned.get(storage)
        if found is None:
            found = tuple(listener for listener, only in self._listeners if only is None or storage in only)
            self._concerned[storage] = found
        return found

    def _publish(self, collection: Collection, change: Change, path: str) -> None:
        collection.record(change, path)
        self._unheard.append((collection, change))
        if self._publishing:  # a listener writes: what it wrote is told after what it was told, to all
            return
        self._publishing = True
        try:
            while self._unheard:
                concerned, told = self._unheard.popleft()
                for watcher in list(concerned.listeners):
                    watcher(told)
                for listener in self._listening(concerned.storage):
                    listener(told)
        finally:
            self._publishing = False


def path_of(namespace: str, name: str) -> str:
    """Return the key that identifies and sorts the objects of a collection, as in etcd: the bytes of
    `namespace/name`.
    """
    return f"{namespace}/{name}"


def paths_within(paths: Sequence[str], namespace: str | None, after: str = "") -> Sequence[str]:
    """Return those of the sorted paths that are in the namespace and after the path `after`."""
    if not namespace and not after:
        return paths
    start, end = bisect_right(paths, after), len(paths)
    if namespace:
        start = max(start, bisect_left(paths, namespace + "/"))
        end = bisect_left(paths, namespace + "0")  # "0" follows "/"
    return paths[start:end]


def with_revision(obj: JSON, revision: int) -> JSON:
    """Return a copy of the object with another resourceVersion."""
    return {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(revision)}}
