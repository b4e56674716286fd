"""Empty objects as the real server prints them: in bookmarks, in tables, in a new node."""

from __future__ import annotations

from functools import cache
from typing import Any

from ..schema.api_types import type_of
from ..schema.resources import ResourceType
from .protobuf.decode import zero

JSON = dict[str, Any]


def empty_fields(resource: ResourceType) -> JSON:
    """Return the fields of an empty object beside its metadata: `{"spec": {"containers": None}, "status": {}}` for a
    pod.
    """
    if resource.custom:
        return {}
    empty = _empty_fields(resource.api_version, resource.kind)
    if "status" in empty and "get" in resource.verbs and "status" not in resource.subresources:
        return {key: value for key, value in empty.items() if key != "status"}  # that of a later release
    return empty


@cache
def _empty_fields(api_version: str, kind: str) -> JSON:
    type_name = type_of(api_version, kind)
    empty = zero(type_name) if type_name else {}
    empty.pop("metadata", None)
    return empty
