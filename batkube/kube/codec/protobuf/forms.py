"""The forms of whole objects and of their metadata in protobuf, which Go clients ask for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from ...schema.resources import ResourceType
from ...storage.form import ListMeta
from ...storage.store import Version
from ..conversion import metadata_alone, to_served
from ..forms import metadata_bookmark, object_bookmark
from .encode import encode, encode_list, encode_object, encode_type, encode_watch_event, enveloped
from .wire import varint

JSON = dict[str, Any]


class ProtobufForm:
    """The form of whole objects in protobuf, in the API version that was asked for."""

    def __init__(self, resource: ResourceType) -> None:
        self.resource = resource
        self.key = (resource.api_version, "protobuf")

    def encode(self, obj: JSON) -> bytes:
        return encode_object(self.resource.api_version, self.resource.kind, to_served(self.resource, obj))

    def one(self, version: Version) -> bytes:
        return enveloped(self.resource.api_version, self.resource.kind, version.rendered(self))

    def many(self, versions: Sequence[Version], meta: ListMeta) -> bytes:
        items = [version.rendered(self) for version in versions]
        return encode_list(self.resource.api_version, self.resource.list_kind, meta.json(), items)

    def event(self, kind: str, version: Version, first: bool) -> bytes:
        return encode_watch_event(kind, self.one(version))

    def bookmark(self, revision: int, marked: bool, first: bool) -> bytes:
        return encode_watch_event("BOOKMARK", encode(object_bookmark(self.resource, revision, marked)))

    def error(self, status: JSON) -> bytes:
        return encode_watch_event("ERROR", encode(status))


class ProtobufMetadataForm:
    """The form PartialObjectMetadata in protobuf: the metadata of each object only."""

    def __init__(self, version: str) -> None:
        self.api_version = f"meta.k8s.io/{version}"
        self.key = (self.api_version, "PartialObjectMetadata", "protobuf")

    def encode(self, obj: JSON) -> bytes:
        metadata = encode_type("meta/v1.ObjectMeta", metadata_alone(obj))
        return b"\x0a" + varint(len(metadata)) + metadata  # the only field of PartialObjectMetadata

    def one(self, version: Version) -> bytes:
        return self._enveloped(version.rendered(self))

    def many(self, versions: Sequence[Version], meta: ListMeta) -> bytes:
        items = [version.rendered(self) for version in versions]
        return encode_list(self.api_version, "PartialObjectMetadataList", meta.json(), items)

    def event(self, kind: str, version: Version, first: bool) -> bytes:
        return encode_watch_event(kind, self.one(version))

    def bookmark(self, revision: int, marked: bool, first: bool) -> bytes:
        mark = metadata_bookmark(self.api_version, revision, marked)
        return encode_watch_event("BOOKMARK", self._enveloped(self.encode(mark)))

    def error(self, status: JSON) -> bytes:
        return encode_watch_event("ERROR", encode(status))

    def _enveloped(self, raw: bytes) -> bytes:
        return enveloped(self.api_version, "PartialObjectMetadata", raw)


@lru_cache(maxsize=1024)
def protobuf_form(resource: ResourceType) -> ProtobufForm:
    return ProtobufForm(resource)


@lru_cache(maxsize=8)
def protobuf_metadata_form(version: str) -> ProtobufMetadataForm:
    return ProtobufMetadataForm(version)
