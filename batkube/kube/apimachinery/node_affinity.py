"""The test whether a node is one of those that a pod names: its nodeSelector, and the affinity that it requires.

This is `k8s.io/component-helpers/scheduling/corev1/nodeaffinity`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

JSON = dict[str, Any]


def required_terms(spec: JSON) -> list[JSON] | None:
    """Return the terms of which a pod of this spec requires one of its node; None if it requires nothing."""
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    return None if required is None else list(required.get("nodeSelectorTerms") or ())


def names(spec: JSON, node: str, labels: Mapping[str, str]) -> bool:
    """Tell whether a pod of this spec may be on the node of this name, as far as selector and affinity say."""
    selector = spec.get("nodeSelector") or {}
    if any(labels.get(key) != value for key, value in selector.items()):
        return False
    return fits_one(required_terms(spec), node, labels)


def fits_one(terms: list[JSON] | None, node: str, labels: Mapping[str, str]) -> bool:
    """Tell whether the node fits one of the terms, or there are none to fit."""
    return terms is None or any(_fits(term, node, labels) for term in terms)


def _fits(term: JSON, node: str, labels: Mapping[str, str]) -> bool:
    expressions, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    if not expressions and not fields:
        return False
    named = all(_holds(each, {"metadata.name": node}.get(each["key"])) for each in fields)
    return named and all(_holds(each, labels.get(each["key"])) for each in expressions)


def _holds(requirement: JSON, value: str | None) -> bool:
    values = requirement.get("values") or []
    match requirement["operator"]:
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt" as operator:
            try:
                number, limit = int(value or ""), int(values[0])
            except (ValueError, IndexError):
                return False
            return number > limit if operator == "Gt" else number < limit
        case _:
            return False
