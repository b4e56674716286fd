"""PodTolerationRestriction: namespaces name the tolerations that their pods get, and those that their pods may have."""

from __future__ import annotations

import json
from typing import Any

from ..apimachinery.status import ApiError
from ..kinds.pods.quality import quality_of_service
from .plugin import Attributes, Plugin

JSON = dict[str, Any]

DEFAULTS = "scheduler.alpha.kubernetes.io/defaultTolerations"
ALLOWED = "scheduler.alpha.kubernetes.io/tolerationsWhitelist"

_MEMORY_PRESSURE = {"key": "node.kubernetes.io/memory-pressure", "operator": "Exists", "effect": "NoSchedule"}


class PodTolerationRestriction(Plugin):
    name = "PodTolerationRestriction"
    by_default = False
    handles = ("pods", "pods/resize", "pods/ephemeralcontainers")

    def admit(self, write: Attributes) -> None:
        """Give a new pod the tolerations of its namespace, and that of memory pressure if it requests resources.

        Raise ApiError if the pod has tolerations that the namespace does not allow.
        """
        spec = write.obj["spec"]
        namespace = write.context.store.get("namespaces", "", write.context.namespace) or {}
        annotations = namespace.get("metadata", {}).get("annotations") or {}
        added = _tolerations(annotations, DEFAULTS) if write.old is None else []
        if quality_of_service(spec) != "BestEffort":
            added = [*added, _MEMORY_PRESSURE]
        if added:
            spec["tolerations"] = _merged([*(spec.get("tolerations") or ()), *added])
        allowed = _tolerations(annotations, ALLOWED)
        if allowed and not all(
            any(_covers(one, toleration) for one in allowed) for toleration in spec.get("tolerations") or ()
        ):
            why = (
                "pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace "
                "whitelist"
            )
            raise ApiError.unforeseen(why)


def _tolerations(annotations: JSON, key: str) -> list[JSON]:
    """Return the tolerations in an annotation. As in the real server an unreadable one is an unforeseen error (500)."""
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
    """Return the tolerations without those that another one covers. Of equal ones the first stays."""
    merged: list[JSON] = []
    for index, one in enumerate(tolerations):
        if any(_covers(kept, one) for kept in merged):
            continue
        if any(other != one and _covers(other, one) for other in tolerations[index + 1 :]):
            continue
        merged.append(one)
    return merged


def _covers(one: JSON, other: JSON) -> bool:
    """Return True if `one` tolerates all that `other` does."""
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
