"""Tolerations cover taints as `Toleration.ToleratesTaint` of core/v1 says."""

from __future__ import annotations

from typing import Any

import pytest

from batkube.kube.apimachinery.taints import tolerates


@pytest.mark.parametrize(
    ("toleration", "covers"),
    [
        ({"operator": "Exists"}, True),
        ({"key": "", "operator": "Exists", "effect": ""}, True),
        ({"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}, True),
        ({"key": "gpu", "operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "other", "operator": "Exists"}, False),
        ({"key": "gpu", "value": "a100"}, True),
        ({"key": "gpu", "operator": "Equal", "value": "h100"}, False),
        ({"key": "gpu"}, False),
        ({"key": "gpu", "operator": "Gt", "value": "a100"}, False),
    ],
)
def test_a_toleration_covers_a_taint(toleration: dict[str, Any], covers: bool) -> None:
    assert tolerates(toleration, {"key": "gpu", "value": "a100", "effect": "NoSchedule"}) is covers


def test_no_value_is_an_empty_one() -> None:
    assert tolerates({"key": "gpu", "value": ""}, {"key": "gpu", "effect": "NoSchedule"})
