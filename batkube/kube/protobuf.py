"""Protobuf request bodies: `k8s\\0` and a runtime.Unknown, from bytes to objects."""

from __future__ import annotations

from typing import Any

from .status import ApiError

JSON = dict[str, Any]


def decode(data: bytes) -> JSON:
    """The object in a protobuf body, with kind and apiVersion."""
    raise ApiError.unsupported_media_type(("application/json", "application/yaml"))
