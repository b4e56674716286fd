"""How kubectl moves an object from its own apply to the server's.

Client-side apply keeps the last configuration in an annotation. When `kubectl` applies on the server an object that has
it, what the annotation says is its own, whoever is on record for it; and the annotation follows, so that both ways can
be used in turns (`lastAppliedManager`, `lastAppliedUpdater` of k8s.io/apimachinery).
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


def last_applied(its: Type, live: JSON, api_version: str) -> Fields:
    """The fields of the last client-side apply that are still as it left them; none where there was none, or one of
    another version.
    """
    text = (live["metadata"].get("annotations") or {}).get(ANNOTATION)
    try:
        config = json.loads(text) if text else {}
    except ValueError:
        return frozenset()
    if not isinstance(config, dict) or config.get("apiVersion") != api_version:
        return frozenset()
    said, is_now = ({key: obj[key] for key in obj if key not in ("kind", "apiVersion")} for obj in (config, live))
    changes = compare(its, said, is_now)
    return paths.owned(fields_of(its, said) - changes.modified - changes.removed)


def follow(config: JSON, live: JSON, merged: JSON) -> None:
    """Let the annotation say what is applied now, if the object has it."""
    annotations = live["metadata"].get("annotations") or {}
    if ANNOTATION in annotations:
        text = json.dumps(config, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"
        merged["metadata"].setdefault("annotations", {})[ANNOTATION] = text
