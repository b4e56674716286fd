"""Deprecated labels of nodes, and the warnings of the API server about them (`pkg/api/node/util.go`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..apimachinery.names import label_value

JSON = dict[str, Any]

DEPRECATED = {
    "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
    "failure-domain.beta.kubernetes.io/region": 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
    "failure-domain.beta.kubernetes.io/zone": 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
    "beta.kubernetes.io/instance-type": 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
    "app.kubernetes.io/created-by": "deprecated since v1.9",
    "scheduler.alpha.kubernetes.io/preferAvoidPods": "deprecated since v1.22; use Taints and Tolerations instead",
    "node-role.kubernetes.io/master": 'use "node-role.kubernetes.io/control-plane" instead',
}


def warnings_of_expressions(expressions: list[JSON], path: str, *, values: bool = False) -> Iterator[str]:
    """Yield the warnings of the matchExpressions of a selector. `values`: warn of values that no label can
    have, too.
    """
    for index, requirement in enumerate(expressions):
        key, at = requirement.get("key", ""), f"{path}.matchExpressions[{index}]"
        if key in DEPRECATED:
            yield f"{at}.key: {key} is {DEPRECATED[key]}"
        if values:
            for place, value in enumerate(requirement.get("values") or ()):
                for why in label_value(value):
                    yield f"{at}.values[{place}]: {value} is invalid, {why}"


def warnings_of_selector(selector: JSON | None, path: str) -> Iterator[str]:
    """Yield the warnings of a label selector for nodes."""
    yield from warnings_of_expressions((selector or {}).get("matchExpressions") or [], path)
    for key in (selector or {}).get("matchLabels") or ():
        if key in DEPRECATED:
            yield f"{path}.matchLabels.{key}: {DEPRECATED[key]}"
