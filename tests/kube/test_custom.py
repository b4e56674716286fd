"""Custom resources: a definition makes a kind, as a scheduler's own installation does."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from batkube.kube.apimachinery.status import ApiError
from batkube.kube.server import ApiServer

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "minMember": {"type": "integer", "minimum": 1, "default": 1},
                "queue": {"type": "string"},
            },
        },
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    },
}


def definition(status: bool = False, scope: str = "Namespaced") -> dict[str, Any]:
    version: dict[str, Any] = {
        "name": "v1beta1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": SCHEMA},
        "selectableFields": [{"jsonPath": ".spec.queue"}],
    }
    if status:
        version["subresources"] = {"status": {}}
    return {
        "metadata": {"name": "podgroups.scheduling.example.com"},
        "spec": {
            "group": "scheduling.example.com",
            "scope": scope,
            "names": {"plural": "podgroups", "kind": "PodGroup", "shortNames": ["pg"]},
            "versions": [version],
        },
    }


GROUPS = "podgroups.scheduling.example.com"
PATH = "/apis/scheduling.example.com/v1beta1/namespaces/default/podgroups"


def group(name: str, **spec: Any) -> dict[str, Any]:
    api_version = "scheduling.example.com/v1beta1"
    return {"apiVersion": api_version, "kind": "PodGroup", "metadata": {"name": name}, "spec": spec}


def define(server: ApiServer, **how: Any) -> None:
    server.create("customresourcedefinitions.apiextensions.k8s.io", definition(**how))


async def test_a_definition_is_served_at_once(server: ApiServer, client: httpx.AsyncClient) -> None:
    assert (await client.get(PATH)).status_code == 404
    define(server)
    assert (await client.get(PATH)).json()["items"] == []
    created = (await client.post(PATH, json=group("a"))).json()
    assert created["spec"] == {"minMember": 1}
    assert created["metadata"]["generation"] == 1
    found = (await client.get("/apis/scheduling.example.com/v1beta1")).json()["resources"]
    assert [resource["name"] for resource in found] == ["podgroups"]
    crd = server.get("customresourcedefinitions.apiextensions.k8s.io", GROUPS)
    conditions = {condition["type"]: condition["status"] for condition in crd["status"]["conditions"]}
    assert conditions == {"NamesAccepted": "True", "Established": "True"}


def test_the_schema_drops_fills_in_and_refuses(server: ApiServer) -> None:
    define(server)
    made = server.create(GROUPS, group("a", colour="red", minMember=None))
    assert made["spec"] == {"minMember": 1}
    with pytest.raises(ApiError) as refused:
        server.create(GROUPS, group("b", minMember=0, queue=5))
    assert refused.value.code == 422
    assert refused.value.details is not None
    fields = {cause["field"] for cause in refused.value.details["causes"]}
    assert fields == {"spec.minMember", "spec.queue"}


async def test_without_a_status_subresource_the_main_resource_has_it(
    server: ApiServer, client: httpx.AsyncClient
) -> None:
    define(server)
    made = (await client.post(PATH, json={**group("a"), "status": {"phase": "Pending"}})).json()
    assert made["status"] == {"phase": "Pending"}
    changed = (await client.put(f"{PATH}/a", json={**made, "status": {"phase": "Inqueue"}})).json()
    assert changed["status"] == {"phase": "Inqueue"}
    assert (await client.get(f"{PATH}/a/status")).status_code == 404


async def test_with_one_each_leaves_the_other(server: ApiServer, client: httpx.AsyncClient) -> None:
    define(server, status=True)
    made = (await client.post(PATH, json={**group("a"), "status": {"phase": "Pending"}})).json()
    assert "status" not in made
    made["status"] = {"phase": "Running"}
    made["spec"]["minMember"] = 9
    changed = (await client.put(f"{PATH}/a/status", json=made)).json()
    assert (changed["status"], changed["spec"]) == ({"phase": "Running"}, {"minMember": 1})
    assert changed["metadata"]["generation"] == 1


async def test_fields_that_the_definition_names_can_be_selected(server: ApiServer, client: httpx.AsyncClient) -> None:
    define(server)
    server.create(GROUPS, group("a", queue="one"))
    server.create(GROUPS, group("b", queue="two"))
    page = (await client.get(PATH, params={"fieldSelector": "spec.queue=two"})).json()
    assert [item["metadata"]["name"] for item in page["items"]] == ["b"]


async def test_with_its_definition_a_kind_goes(server: ApiServer, client: httpx.AsyncClient) -> None:
    define(server)
    server.create(GROUPS, group("a"))
    server.delete("customresourcedefinitions.apiextensions.k8s.io", GROUPS)
    assert (await client.get(PATH)).status_code == 404
    define(server)
    assert (await client.get(PATH)).json()["items"] == []


async def test_a_scale_whose_replicas_are_absent(server: ApiServer, client: httpx.AsyncClient) -> None:
    """An autoscaler may set them; only what leaves them absent is refused."""
    scaled = definition(status=True)
    scale = {"specReplicasPath": ".spec.minMember", "statusReplicasPath": ".status.members"}
    version = scaled["spec"]["versions"][0]
    version["subresources"]["scale"] = scale
    version["schema"] = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    del version["selectableFields"]
    server.create("customresourcedefinitions.apiextensions.k8s.io", scaled)
    merge = {"Content-Type": "application/merge-patch+json"}
    server.create(GROUPS, group("a"))
    assert (await client.get(f"{PATH}/a/scale")).status_code == 500
    left = await client.patch(f"{PATH}/a/scale", json={"metadata": {"labels": {"a": "b"}}}, headers=merge)
    assert (left.status_code, left.json()["reason"]) == (400, "BadRequest")
    assert left.json()["message"] == 'the spec replicas field ".spec.minMember" cannot be empty'
    patched = await client.patch(f"{PATH}/a/scale", json={"spec": {"replicas": 3}}, headers=merge)
    assert (patched.status_code, patched.json()["spec"]) == (200, {"replicas": 3})
    replaced = [{"op": "replace", "path": "/spec/replicas", "value": 2}]
    server.create(GROUPS, group("b"))
    headers = {"Content-Type": "application/json-patch+json"}
    assert (await client.patch(f"{PATH}/b/scale", json=replaced, headers=headers)).status_code == 200
    assert [server.get(GROUPS, name)["spec"] for name in "ab"] == [{"minMember": 3}, {"minMember": 2}]
