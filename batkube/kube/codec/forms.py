"""The forms in which objects are sent: as they are, as metadata only, as a table.

A form turns stored versions into the bytes of an answer, of an item of a list, or of the object of a watch event. Bytes
that depend only on the version and the form are made once and kept with the version.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import orjson

from ..schema.resources import ResourceType
from ..storage.form import ListMeta
from ..storage.store import Version
from .conversion import metadata_alone, to_served
from .empty_objects import empty_fields

JSON = dict[str, Any]

# Kinds whose number of replicas is no pointer inside the real server: its bookmarks show it.
_COUNTED = frozenset(("Deployment", "ReplicaSet", "StatefulSet"))

INITIAL_EVENTS_END = "k8s.io/initial-events-end"


def _event(kind: str, obj: bytes) -> bytes:
    return b'{"type":"%s","object":%s}\n' % (kind.encode(), obj)


def _bookmark(kind: str, api_version: str, revision: int, marked: bool) -> JSON:
    metadata: JSON = {"resourceVersion": str(revision)}
    if marked:
        metadata["annotations"] = {INITIAL_EVENTS_END: "true"}
    return {"kind": kind, "apiVersion": api_version, "metadata": metadata}


def object_bookmark(resource: ResourceType, revision: int, marked: bool) -> JSON:
    """Return the object of a bookmark: one of the watched kind, empty except for its resourceVersion."""
    mark = {**_bookmark(resource.kind, resource.api_version, revision, marked), **empty_fields(resource)}
    if resource.kind in _COUNTED and isinstance(mark.get("spec"), dict):
        mark["spec"] = {"replicas": 0, **mark["spec"]}
    return mark


def metadata_bookmark(api_version: str, revision: int, marked: bool) -> JSON:
    """Return the object of a bookmark in a watch of metadata."""
    return _bookmark("PartialObjectMetadata", api_version, revision, marked)


def json_error(status: JSON) -> bytes:
    """Return the ERROR event of a stream in JSON."""
    return _event("ERROR", orjson.dumps(status))


class ObjectForm:
    """The form of whole objects, in the API version that was asked for."""

    def __init__(self, resource: ResourceType) -> None:
        self.resource = resource
        self.key = resource.api_version
        self._head = _type_meta(resource.kind, resource.api_version)
        self._list_head = _type_meta(resource.list_kind, resource.api_version)
        self._items_typed = resource.custom  # custom resources repeat kind and apiVersion in every item

    def encode(self, obj: JSON) -> bytes:
        return orjson.dumps(to_served(self.resource, obj))

    def one(self, version: Version) -> bytes:
        if version.resource.api_version == self.key:
            return version.json
        return version.rendered(self)

    def many(self, versions: Sequence[Version], meta: ListMeta) -> bytes:
        bodies: Iterable[bytes] = map(self.one, versions)
        if not self._items_typed:
            cut = len(self._head)
            bodies = (b"{" + body[cut:] for body in bodies)
        metadata = meta.json()
        if self._items_typed:
            metadata.setdefault("continue", "")
        return b'%s"metadata":%s,"items":[%s]}\n' % (
            self._list_head,
            orjson.dumps(metadata),
            b",".join(bodies),
        )

    def event(self, kind: str, version: Version, first: bool) -> bytes:
        return _event(kind, self.one(version))

    def bookmark(self, revision: int, marked: bool, first: bool) -> bytes:
        return _event("BOOKMARK", orjson.dumps(object_bookmark(self.resource, revision, marked)))

    def error(self, status: JSON) -> bytes:
        return json_error(status)


class MetadataForm:
    """The form PartialObjectMetadata: the metadata of each object only."""

    def __init__(self, version: str) -> None:
        self.api_version = f"meta.k8s.io/{version}"
        self.key = (self.api_version, "PartialObjectMetadata")

    def encode(self, obj: JSON) -> bytes:
        partial = {"kind": "PartialObjectMetadata", "apiVersion": self.api_version, "metadata": metadata_alone(obj)}
        return orjson.dumps(partial)

    def one(self, version: Version) -> bytes:
        return version.rendered(self)

    def many(self, versions: Sequence[Version], meta: ListMeta) -> bytes:
        items = b"[%s]" % b",".join(map(self.one, versions)) if versions else b"null"
        return b'%s"metadata":%s,"items":%s}\n' % (
            _type_meta("PartialObjectMetadataList", self.api_version),
            orjson.dumps(meta.json()),
            items,
        )

    def event(self, kind: str, version: Version, first: bool) -> bytes:
        return _event(kind, self.one(version))

    def bookmark(self, revision: int, marked: bool, first: bool) -> bytes:
        return _event("BOOKMARK", orjson.dumps(metadata_bookmark(self.api_version, revision, marked)))

    def error(self, status: JSON) -> bytes:
        return json_error(status)


@lru_cache(maxsize=1024)
def object_form(resource: ResourceType) -> ObjectForm:
    return ObjectForm(resource)


@lru_cache(maxsize=8)
def metadata_form(version: str) -> MetadataForm:
    return MetadataForm(version)


def _type_meta(kind: str, api_version: str) -> bytes:
    """Return the beginning of a JSON object of that type, as orjson writes it."""
    return b'{"kind":%s,"apiVersion":%s,' % (orjson.dumps(kind), orjson.dumps(api_version))
