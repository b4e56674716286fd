"""JSON merge patch (RFC 7396): maps merge, null removes a key, all else replaces."""

from __future__ import annotations

from typing import Any

from ..apimachinery.status import ApiError
from ..codec.go_json import json_type

JSON = dict[str, Any]


def apply(obj: JSON, patch: Any) -> JSON:
    """Return the object with the patch merged into it; neither is changed. Raise 400 if the patch is not a map."""
    if not isinstance(patch, dict):
        if patch is None:
            raise ApiError.bad_request("Invalid JSON Patch")
        what = json_type(patch)
        raise ApiError.bad_request(
            f"error decoding patch: json: cannot unmarshal {what} into Go value of type map[string]interface {{}}"
        )
    return _merged(obj, patch)


def _merged(obj: JSON, patch: JSON) -> JSON:
    merged = dict(obj)
    for key, value in patch.items():
        old = merged.get(key)
        if value is None:
            merged.pop(key, None)
        elif isinstance(old, dict):
            merged[key] = _merged(old, value) if isinstance(value, dict) else value
        else:
            merged[key] = without_nulls(value)
    return merged


def without_nulls(value: Any) -> Any:
    """Return the value without the keys whose value is null, in the maps of lists, too."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value
