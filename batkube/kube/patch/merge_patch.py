"""JSON merge patch, RFC 7396."""

from __future__ import annotations

from typing import Any

JSON = dict[str, Any]


def apply(obj: JSON, patch: JSON) -> JSON:
    """The object with the patch merged into it."""
    merged = dict(obj)
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, dict):
            old = merged.get(key)
            merged[key] = apply(old if isinstance(old, dict) else {}, value)
        else:
            merged[key] = value
    return merged
