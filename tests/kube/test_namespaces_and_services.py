"""Namespaces end in two steps; services get addresses; jobs say which failures count."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from batkube.kube.apimachinery.status import ApiError
from batkube.kube.kinds.batch.job_policies import count_indexes, validate_failure_policy
from batkube.kube.server import ApiServer

from .conftest import pod

JSON = dict[str, Any]


async def test_a_namespace_is_terminating_until_it_is_finalized(client: httpx.AsyncClient, server: ApiServer) -> None:
    server.create("namespaces", {"metadata": {"name": "team"}})
    server.create("pods", {**pod("p"), "metadata": {"name": "p", "namespace": "team"}})
    answer = (await client.delete("/api/v1/namespaces/team")).json()
    assert (answer["kind"], answer["status"]) == ("Namespace", {"phase": "Terminating"})
    assert "deletionTimestamp" in answer["metadata"]
    refused = await client.post("/api/v1/namespaces/team/pods", json=pod("q"))
    assert (refused.status_code, refused.json()["details"]["causes"][0]["reason"]) == (403, "NamespaceTerminating")

    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}, "spec": {"finalizers": []}}
    assert (await client.put("/api/v1/namespaces/team/finalize", json=body)).status_code == 200
    assert (await client.get("/api/v1/namespaces/team")).status_code == 404


async def test_the_finalizers_of_a_namespace_change_through_finalize_alone(client: httpx.AsyncClient) -> None:
    await client.post("/api/v1/namespaces", json={"metadata": {"name": "team"}})
    body = {"metadata": {"name": "team"}, "spec": {"finalizers": []}}
    answer = (await client.put("/api/v1/namespaces/team", json=body)).json()
    assert answer["spec"] == {"finalizers": ["kubernetes"]}
    assert (await client.delete("/api/v1/namespaces/default")).status_code == 403


def test_services_get_different_addresses_and_node_ports(server: ApiServer) -> None:
    ports = [{"port": 80}]
    made = [
        server.create("services", {"metadata": {"name": name}, "spec": {"type": "NodePort", "ports": ports}})
        for name in ("a", "b")
    ]
    assert len({service["spec"]["clusterIP"] for service in made}) == 2
    assert len({service["spec"]["ports"][0]["nodePort"] for service in made}) == 2
    assert made[0]["spec"]["ports"][0]["targetPort"] == 80
    again = server.update("services", {"metadata": {"name": "a"}, "spec": {"type": "NodePort", "ports": ports}})
    assert again["spec"] == made[0]["spec"]


def test_a_headless_service_has_no_address(server: ApiServer) -> None:
    spec = {"clusterIP": "None", "selector": {"a": "b"}, "ports": [{"port": 80}]}
    made = server.create("services", {"metadata": {"name": "h"}, "spec": spec})
    assert (made["spec"]["clusterIP"], made["spec"]["clusterIPs"]) == ("None", ["None"])
    with pytest.raises(ApiError) as refused:
        server.create("services", {"metadata": {"name": "x"}, "spec": {"ports": [{"port": 1}, {"port": 2}]}})
    assert [cause["field"] for cause in refused.value.to_status()["details"]["causes"]] == [
        "spec.ports[0].name",
        "spec.ports[1].name",
    ]


@pytest.mark.parametrize(
    ("text", "total", "wrong"),
    [("", 0, False), ("0,2-4", 4, False), ("5-1", 0, True), ("1,1", 0, True), ("9", 0, True), ("a", 0, True)],
)
def test_indexes_of_a_job(text: str, total: int, wrong: bool) -> None:
    count, problem = count_indexes(text, 6)
    assert (count, bool(problem)) == (total, wrong)


def test_rules_for_failed_pods() -> None:
    template = {"spec": {"containers": [{"name": "c"}]}}

    def fields(rule: JSON) -> list[str]:
        spec = {"template": template, "podFailurePolicy": {"rules": [rule]}}
        return [error.field for error in validate_failure_policy(spec, "p")]

    assert fields({"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1, 2]}}) == []
    assert fields({"action": "FailIndex", "onExitCodes": {"operator": "In", "values": [1]}}) == ["p.rules[0].action"]
    assert fields({"action": "Count"}) == ["p.rules[0]"]
    codes = {"containerName": "z", "operator": "In", "values": [2, 0]}
    assert fields({"action": "Count", "onExitCodes": codes}) == [
        "p.rules[0].onExitCodes.containerName",
        "p.rules[0].onExitCodes.values[1]",
        "p.rules[0].onExitCodes.values",
    ]
