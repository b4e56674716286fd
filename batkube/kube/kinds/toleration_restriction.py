"""The admission plugin PodTolerationRestriction (`plugin/pkg/admission/podtolerationrestriction`): namespaces say which
tolerations their pods get, and which they may have.
"""

from __future__ import annotations

import json
from typing import Any

from ..status import ApiError
from ..strategy import Context
from .pod_quality import quality_of_service

JSON = dict[str, Any]

DEFAULTS = "scheduler.alpha.kubernetes.io/defaultTolerations"
ALLOWED = "scheduler.alpha.kubernetes.io/tolerationsWhitelist"

_MEMORY_PRESSURE = {"key": "node.kubernetes.io/memory-pressure", "operator": "Exists", "effect": "NoSchedule"}


def restrict_tolerations(pod: JSON, ctx: Context, *, new: bool) -> None:
    """Give a pod the tolerations of its namespace (`new`), and that of memory pressure if it asks for resources. Raises
    ApiError where it has others than the namespace allows.
    """
    spec = pod["spec"]
    namespace = ctx.store.get("namespaces", "", ctx.namespace) or {}
    annotations = namespace.get("metadata", {}).get("annotations") or {}
    added = _tolerations(annotations, DEFAULTS) if new else []
    if quality_of_service(spec) != "BestEffort":
        added = [*added, _MEMORY_PRESSURE]
    if added:
        spec["tolerations"] = _merged([*(spec.get("tolerations") or ()), *added])
    allowed = _tolerations(annotations, ALLOWED)
    if allowed and not all(any(_covers(one, its) for one in allowed) for its in spec.get("tolerations") or ()):
        why = (
            "pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist"
        )
        raise ApiError.unforeseen(why)


def _tolerations(annotations: JSON, key: str) -> list[JSON]:
    """What an annotation says; as in the real server one that cannot be read is an error that nobody foresaw."""
    text = annotations.get(key)
    if not text:
        return []
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ApiError.unforeseen(f"{key}: {error}") from None
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise ApiError.unforeseen(f"{key}: expected a list of tolerations")
    return found


def _merged(tolerations: list[JSON]) -> list[JSON]:
    """Without those that another covers; of equal ones the first stays."""
    merged: list[JSON] = []
    for index, one in enumerate(tolerations):
        if any(_covers(kept, one) for kept in merged):
            continue
        if any(other != one and _covers(other, one) for other in tolerations[index + 1 :]):
            continue
        merged.append(one)
    return merged


def _covers(one: JSON, other: JSON) -> bool:
    """`one` tolerates all that `other` does."""
    if one == other:
        return True
    operator = one.get("operator", "")
    if one.get("key", "") != other.get("key", "") and (one.get("key") or operator != "Exists"):
        return False
    effect = one.get("effect", "")
    if effect and effect != other.get("effect", ""):
        return False
    if effect == "NoExecute" and one.get("tolerationSeconds") is not None:
        seconds = other.get("tolerationSeconds")
        if seconds is None or seconds > one["tolerationSeconds"]:
            return False
    if operator in ("", "Equal"):
        return other.get("operator") == "Equal" and one.get("value", "") == other.get("value", "")
    return bool(operator == "Exists")
