"""`matchLabelKeys` and `mismatchLabelKeys`: selectors that take a value from the pod itself."""

from __future__ import annotations

from typing import Any

JSON = dict[str, Any]

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def merge_label_keys(spec: JSON, labels: JSON) -> None:
    """Merge the values that a new pod has for these keys into the selectors beside them (`mutatePodAffinity`,
    `mutateTopologySpreadConstraints` in `pkg/registry/core/pod/strategy.go`).
    """
    affinity = spec.get("affinity") or {}
    for kind in ("podAffinity", "podAntiAffinity"):
        terms = affinity.get(kind) or {}
        weighted = [each.get("podAffinityTerm") or {} for each in terms.get(_PREFERRED) or ()]
        for term in (*(terms.get(_REQUIRED) or ()), *weighted):
            _merge(term, "matchLabelKeys", "In", labels)
            _merge(term, "mismatchLabelKeys", "NotIn", labels)
    for constraint in spec.get("topologySpreadConstraints") or ():
        _merge(constraint, "matchLabelKeys", "In", labels)


def _merge(term: JSON, keys: str, operator: str, labels: JSON) -> None:
    selector = term.get("labelSelector")
    if selector is None:
        return
    for key in term.get(keys) or ():
        if key in labels:
            requirement = {"key": key, "operator": operator, "values": [labels[key]]}
            selector.setdefault("matchExpressions", []).append(requirement)
