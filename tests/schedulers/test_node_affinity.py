"""The policies that are built in keep pods off nodes that their required affinity does not name."""

from typing import Any

import pytest

from batkube.kube.apimachinery.node_affinity import names
from batkube.schedulers.policies.cluster import Cluster
from batkube.schedulers.policies.placement import first_fit

JSON = dict[str, Any]


def required(*terms: JSON) -> JSON:
    """Return an affinity to nodes that fit one of the terms."""
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}}


def expression(key: str, operator: str, *values: str) -> JSON:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


@pytest.mark.parametrize(
    ("terms", "fits"),
    [
        ([{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}], True),
        ([{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n2"]}]}], False),
        ([expression("zone", "In", "b"), expression("zone", "In", "a")], True),
        ([expression("zone", "NotIn", "a")], False),
        ([expression("disk", "NotIn", "ssd")], True),
        ([expression("zone", "Exists")], True),
        ([expression("zone", "DoesNotExist")], False),
        ([expression("cores", "Gt", "4")], True),
        ([expression("cores", "Lt", "4")], False),
        ([expression("zone", "Gt", "4")], False),
        ([{}], False),
        ([], False),
    ],
)
def test_one_of_the_terms_has_to_fit(terms: list[JSON], fits: bool) -> None:
    assert names({"affinity": required(*terms)}, "n1", {"zone": "a", "cores": "8"}) is fits


def test_without_any_requirement_all_nodes_fit() -> None:
    assert names({}, "n1", {})
    assert not names({"nodeSelector": {"zone": "b"}}, "n1", {"zone": "a"})


def test_a_policy_finds_the_node_that_is_named() -> None:
    cluster = Cluster(["default-scheduler"])
    allocatable = {"cpu": "4", "memory": "4Gi", "pods": "110"}
    for name in ("n1", "n2"):
        node = {"metadata": {"name": name, "labels": {}}, "spec": {}, "status": {"allocatable": allocatable}}
        cluster.node_event("ADDED", node)
    by_name = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n2"]}]}
    spec = {"schedulerName": "default-scheduler", "containers": [{"name": "main"}], "affinity": required(by_name)}
    cluster.pod_event("ADDED", {"metadata": {"name": "p", "namespace": "default", "uid": "p"}, "spec": spec})
    placement = first_fit(cluster, list(cluster.pending.values()))
    assert placement is not None
    assert [node.name for _, node in placement] == ["n2"]
