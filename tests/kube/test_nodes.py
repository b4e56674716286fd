"""Nodes: what becomes of one that is created, and what may change."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from batkube.kube.admission.taint_nodes_by_condition import TaintNodesByCondition
from batkube.kube.apimachinery.status import ApiError
from batkube.kube.kinds.core.nodes import NOT_READY
from batkube.kube.server import ApiServer

JSON = dict[str, Any]
NODES = "/api/v1/nodes"


def node(**parts: Any) -> JSON:
    return {"metadata": {"name": "n"}, **parts}


def test_a_new_node_is_tainted_unless_that_admission_is_disabled() -> None:
    tainted = ApiServer(now=lambda: 0.0).create("nodes", node(spec={"taints": [{"key": "a", "effect": "NoSchedule"}]}))
    assert tainted["spec"]["taints"] == [
        {"key": "a", "effect": "NoSchedule"},
        {"key": NOT_READY, "effect": "NoSchedule"},
    ]
    ready = ApiServer(now=lambda: 0.0, disable_admission_plugins=(TaintNodesByCondition.name,)).create("nodes", node())
    assert "taints" not in ready["spec"]


def test_capacity_is_allocatable_where_nothing_is_said(server: ApiServer) -> None:
    created = server.create("nodes", node(status={"capacity": {"cpu": "0.0001", "memory": "1.5Gi"}}))
    assert created["status"]["allocatable"] == created["status"]["capacity"] == {"cpu": "1m", "memory": "1536Mi"}


def test_a_given_allocatable_is_not_filled_up(server: ApiServer) -> None:
    created = server.create("nodes", node(status={"capacity": {"cpu": "4", "pods": "9"}, "allocatable": {"cpu": "1"}}))
    assert created["status"]["allocatable"] == {"cpu": "1"}


async def test_status_and_spec_are_written_apart(server: ApiServer, client: httpx.AsyncClient) -> None:
    server.create("nodes", node(status={"capacity": {"cpu": "4"}}))
    headers = {"content-type": "application/merge-patch+json"}
    both = {"spec": {"unschedulable": True}, "status": {"capacity": {"cpu": "8"}}}
    await client.patch(f"{NODES}/n", json=both, headers=headers)
    assert server.get("nodes", "n")["spec"]["unschedulable"] is True
    assert server.get("nodes", "n")["status"]["capacity"] == {"cpu": "4"}
    await client.patch(f"{NODES}/n/status", json={**both, "spec": {"unschedulable": None}}, headers=headers)
    assert server.get("nodes", "n")["spec"]["unschedulable"] is True
    assert server.get("nodes", "n")["status"]["capacity"] == {"cpu": "8"}
    assert [item["metadata"]["name"] for item in server.list("nodes", field_selector="spec.unschedulable=true")] == [
        "n"
    ]


@pytest.mark.parametrize(
    ("parts", "field"),
    [
        ({"spec": {"taints": [{"key": "a"}]}}, "metadata.taints[0].effect"),
        ({"spec": {"taints": [{"key": "a", "effect": "Sometimes"}]}}, "metadata.taints[0].effect"),
        ({"spec": {"taints": [{"key": "a", "effect": "NoExecute"}] * 2}}, "metadata.taints[1]"),
        ({"spec": {"podCIDR": "10.0.0.0"}}, "spec.podCIDRs[0]"),
        ({"spec": {"podCIDRs": ["10.0.1.0/24", "10.0.2.0/24"]}}, "spec.podCIDRs"),
        ({"status": {"capacity": {"pods": "1.5"}}}, "status.capacity.pods"),
        ({"status": {"capacity": {"example.com/gpu": "500m"}}}, "status.capacity.example.com/gpu"),
        ({"status": {"capacity": {"cpu": "-1"}}}, "status.capacity.cpu"),
        ({"metadata": {"name": "N_"}}, "metadata.name"),
    ],
)
def test_what_is_wrong_is_named(server: ApiServer, parts: JSON, field: str) -> None:
    with pytest.raises(ApiError) as refused:
        server.create("nodes", node(**parts))
    assert refused.value.code == 422
    assert refused.value.details is not None
    assert field in [cause["field"] for cause in refused.value.details["causes"]]


def test_what_is_set_once(server: ApiServer) -> None:
    created = server.create("nodes", node())
    spec = {"providerID": "sim://a", "podCIDRs": ["10.0.1.0/24"]}
    assert server.update("nodes", {**created, "spec": spec})["spec"]["podCIDR"] == "10.0.1.0/24"
    for change in ({**spec, "providerID": "sim://b"}, {"providerID": "sim://a", "podCIDRs": ["10.0.2.0/24"]}):
        with pytest.raises(ApiError, match='except from "" to valid'):
            server.update("nodes", {**node(), "spec": change})


@pytest.mark.parametrize(
    ("features", "refused"),
    [
        (["A", "B/c"], None),
        (["lower"], "status.declaredFeatures[0]"),
        (["A", "A"], "status.declaredFeatures[1]"),
        (["B", "A"], "status.declaredFeatures[1]"),
    ],
)
def test_declared_features_are_names_in_order(server: ApiServer, features: list[str], refused: str | None) -> None:
    body = {**node(), "status": {"declaredFeatures": features}}
    if refused is None:
        assert server.create("nodes", body)["status"]["declaredFeatures"] == features
        return
    with pytest.raises(ApiError) as error:
        server.create("nodes", body)
    assert [cause["field"] for cause in (error.value.details or {})["causes"]] == [refused]


CONDITIONS = {
    "MemoryPressure": "memory-pressure",
    "DiskPressure": "disk-pressure",
    "PIDPressure": "pid-pressure",
    "NetworkUnavailable": "network-unavailable",
}


@pytest.fixture
def lively() -> ApiServer:
    """A server that does what the node lifecycle controller would."""
    return ApiServer(now=lambda: 0.0, node_lifecycle=True)


def say(server: ApiServer, **conditions: str) -> list[str]:
    """The node's taints, by their keys, after its status said so."""
    found = server.get("nodes", "n")
    listed = [{"type": kind, "status": status} for kind, status in conditions.items()]
    server.update("nodes", {**found, "status": {**found["status"], "conditions": listed}}, "status")
    return keys(server)


def keys(server: ApiServer) -> list[str]:
    taints = server.get("nodes", "n")["spec"].get("taints", [])
    return [taint["key"].removeprefix("node.kubernetes.io/") for taint in taints]


def test_the_taint_goes_when_the_node_is_ready_and_comes_back(lively: ApiServer) -> None:
    own = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}
    lively.create("nodes", node(spec={"taints": [own]}))
    assert keys(lively) == ["gpu", "not-ready"]
    assert say(lively, MemoryPressure="False") == ["gpu", "not-ready"]
    revision = lively.store.revision
    assert say(lively, Ready="True") == ["gpu"]
    assert lively.store.revision == revision + 1  # the same write: nobody's next one is a conflict
    assert say(lively, Ready="False") == ["gpu", "not-ready"]
    assert say(lively, Ready="Unknown") == ["gpu", "unreachable"]
    assert say(lively, Ready="True") == ["gpu"]


def test_a_node_that_is_ready_from_the_start_has_no_taint(lively: ApiServer) -> None:
    status = {"conditions": [{"type": "Ready", "status": "True"}]}
    assert "taints" not in lively.create("nodes", node(status=status))["spec"]
    without = ApiServer(now=lambda: 0.0)
    without.create("nodes", node(status=status))
    assert say(without, Ready="True") == ["not-ready"]


@pytest.mark.parametrize(("condition", "taint"), CONDITIONS.items())
def test_other_conditions_taint_as_well(lively: ApiServer, condition: str, taint: str) -> None:
    lively.create("nodes", node())
    assert say(lively, Ready="True", **{condition: "True"}) == [taint]
    assert say(lively, Ready="True", **{condition: "False"}) == []


def test_a_cordon_is_a_taint_and_others_effects_are_left(lively: ApiServer) -> None:
    evict = {"key": NOT_READY, "effect": "NoExecute"}
    lively.create("nodes", node(spec={"taints": [evict]}))
    assert say(lively, Ready="True") == ["not-ready"]
    found = lively.get("nodes", "n")
    lively.update("nodes", {**found, "spec": {**found["spec"], "unschedulable": True}})
    assert keys(lively) == ["not-ready", "unschedulable"]
    found = lively.get("nodes", "n")
    lively.update("nodes", {**found, "spec": {**found["spec"], "unschedulable": False}})
    assert lively.get("nodes", "n")["spec"]["taints"] == [evict]
