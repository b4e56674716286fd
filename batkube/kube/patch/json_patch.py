"""JSON patch, RFC 6902."""

from __future__ import annotations

from typing import Any

from ..status import ApiError

JSON = dict[str, Any]


def apply(obj: JSON, patch: list[JSON]) -> JSON:
    """The object after the operations of the patch."""
    raise ApiError.unprocessable("JSON patches are not served yet")
