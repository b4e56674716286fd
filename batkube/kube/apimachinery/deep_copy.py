"""Copies of objects (`runtime.Object.DeepCopyObject` of k8s.io/apimachinery)."""

from __future__ import annotations

from typing import Any

import orjson

JSON = dict[str, Any]


def deep_copy(obj: JSON) -> JSON:
    """Return a deep copy of an object of JSON values, made through its JSON, which is faster than any other way."""
    copied: JSON = orjson.loads(orjson.dumps(obj))
    return copied
