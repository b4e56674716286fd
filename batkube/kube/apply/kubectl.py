"""The move of an object from kubectl's own apply to the server's apply.

Client-side apply keeps the last configuration in an annotation. When `kubectl` applies such an object on the server,
the fields in the annotation count as its own, whoever is recorded as their owner. The annotation is updated as well, so
that a client can use both ways in turn (`lastAppliedManager`, `lastAppliedUpdater` of k8s.io/apimachinery).
"""

from __future__ import annotations

import json
from typing import Any

from . import fields as paths
from .fields import Fields
from .merge import compare, fields_of
from .types import Type

JSON = dict[str, Any]

MANAGER = "kubectl"
ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration"


def last_applied(value_type: Type, live: JSON, api_version: str) -> Fields:
    """Return the fields of the last client-side apply that did not change since.

    Return none if there was no such apply, or one of another version.
    """
    text = (live["metadata"].get("annotations") or {}).get(ANNOTATION)
    try:
        config = json.loads(text) if text else {}
    except ValueError:
        return frozenset()
    if not isinstance(config, dict) or config.get("apiVersion") != api_version:
        return frozenset()
    said, is_now = ({key: obj[key] for key in obj if key not in ("kind", "apiVersion")} for obj in (config, live))
    changes = compare(value_type, said, is_now)
    return paths.owned(fields_of(value_type, said) - changes.modified - changes.removed)


def follow(config: JSON, live: JSON, merged: JSON) -> None:
    """Update the annotation with the applied configuration, if the object has the annotation."""
    annotations = live["metadata"].get("annotations") or {}
    if ANNOTATION in annotations:
        text = json.dumps(config, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"
        merged["metadata"].setdefault("annotations", {})[ANNOTATION] = text
