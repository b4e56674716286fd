"""Server-side apply: who says what a field is, keeps it."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from batkube.kube.server import ApiServer

from .conftest import CONFIGMAPS, PODS, config_map

YAML = {"content-type": "application/apply-patch+yaml"}
TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


async def apply(
    client: httpx.AsyncClient, manager: str, data: dict[str, str], *, force: bool = False
) -> httpx.Response:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data}
    params = {"fieldManager": manager, "force": str(force).lower()}
    return await client.patch(f"{CONFIGMAPS}/a", json=body, params=params, headers=YAML)


def owners(answer: httpx.Response) -> dict[str, Any]:
    managed = answer.json()["metadata"].get("managedFields", [])
    return {entry["manager"]: entry["fieldsV1"] for entry in managed}


async def test_apply_creates(client: httpx.AsyncClient) -> None:
    answer = await apply(client, "one", {"x": "1"})
    assert answer.status_code == 201
    assert owners(answer) == {"one": {"f:data": {"f:x": {}}}}


async def test_two_managers_two_fields(client: httpx.AsyncClient) -> None:
    await apply(client, "one", {"x": "1"})
    answer = await apply(client, "two", {"y": "2"})
    assert answer.json()["data"] == {"x": "1", "y": "2"}
    assert owners(answer) == {"one": {"f:data": {"f:x": {}}}, "two": {"f:data": {"f:y": {}}}}


async def test_a_field_of_another_is_a_conflict_unless_forced(client: httpx.AsyncClient) -> None:
    await apply(client, "one", {"x": "1"})
    refused = await apply(client, "two", {"x": "2"})
    assert refused.status_code == 409
    assert refused.json()["details"]["causes"][0]["field"] == ".data.x"
    forced = await apply(client, "two", {"x": "2"}, force=True)
    assert owners(forced) == {"two": {"f:data": {"f:x": {}}}}


async def test_what_is_no_longer_applied_goes(client: httpx.AsyncClient) -> None:
    await apply(client, "one", {"x": "1", "y": "1"})
    await apply(client, "two", {"y": "1"})
    answer = await apply(client, "one", {})
    assert answer.json()["data"] == {"y": "1"}  # it is the other one's, too


async def test_who_updates_takes_over(client: httpx.AsyncClient) -> None:
    await apply(client, "one", {"x": "1", "y": "1"})
    patch = {"data": {"x": "2"}}
    headers = {"content-type": "application/merge-patch+json"}
    await client.patch(f"{CONFIGMAPS}/a", json=patch, params={"fieldManager": "editor"}, headers=headers)
    refused = await apply(client, "one", {"x": "1", "y": "1"})
    assert refused.status_code == 409
    assert 'conflict with "editor" using v1: .data.x' in refused.json()["message"]


async def test_the_same_again_is_no_write(server: ApiServer, client: httpx.AsyncClient) -> None:
    await apply(client, "one", {"x": "1"})
    before = server.store.revision
    await apply(client, "one", {"x": "1"})
    assert server.store.revision == before


async def test_lists_merge_by_their_keys(client: httpx.AsyncClient) -> None:
    def conditions(*types: str) -> dict[str, Any]:
        status = {"conditions": [{"type": kind, "status": "True"} for kind in types]}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "status": status}

    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    await client.post(PODS, json=pod)
    path = f"{PODS}/p/status"
    await client.patch(path, json=conditions("A"), params={"fieldManager": "one"}, headers=YAML)
    answer = await client.patch(path, json=conditions("B"), params={"fieldManager": "two"}, headers=YAML)
    assert [condition["type"] for condition in answer.json()["status"]["conditions"]] == ["A", "B"]


async def test_objects_that_nobody_applied_carry_no_ownership(server: ApiServer, client: httpx.AsyncClient) -> None:
    server.create("configmaps", config_map("plain"))
    assert "managedFields" not in (await client.get(f"{CONFIGMAPS}/plain")).json()["metadata"]


async def test_an_unknown_field_is_refused(client: httpx.AsyncClient) -> None:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "colour": "red"}
    answer = await client.patch(f"{CONFIGMAPS}/a", json=body, params={"fieldManager": "one"}, headers=YAML)
    assert answer.status_code == 500
    assert "colour" in answer.json()["message"]


async def test_who_is_there_need_not_be_named(client: httpx.AsyncClient) -> None:
    nameless = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"y": "1"}}
    params = {"fieldManager": "two"}
    refused = await client.patch(f"{CONFIGMAPS}/a", json=nameless, params=params, headers=YAML)
    why = "the name of the object (a based on URL) was undeterminable: name must be provided"
    assert (refused.status_code, refused.json()["message"]) == (400, why)
    await apply(client, "one", {"x": "1"})
    answer = await client.patch(f"{CONFIGMAPS}/a", json=nameless, params=params, headers=YAML)
    assert answer.json()["data"] == {"x": "1", "y": "1"}


async def test_null_is_a_value_that_others_may_hold_against(client: httpx.AsyncClient) -> None:
    await apply(client, "one", {"x": "1"})
    body: dict[str, Any] = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"x": None}}
    refused = await client.patch(f"{CONFIGMAPS}/a", json=body, params={"fieldManager": "two"}, headers=YAML)
    assert (refused.status_code, refused.json()["details"]["causes"][0]["field"]) == (409, ".data.x")
    forced = {"fieldManager": "two", "force": "true"}
    answer = await client.patch(f"{CONFIGMAPS}/a", json=body, params=forced, headers=YAML)
    assert answer.json().get("data", {}).get("x", "") == ""


async def test_an_item_that_nobody_can_tell_from_others_is_refused(client: httpx.AsyncClient) -> None:
    accounts = "/api/v1/namespaces/default/serviceaccounts/default"
    cases: list[tuple[list[Any], str]] = [
        ([{}], "element 0: associative list with keys has an element that omits all key fields"),
        ([{"name": "a"}, {"name": "a"}], "duplicate entries for key"),
    ]
    for secrets, why in cases:
        body = {"apiVersion": "v1", "kind": "ServiceAccount", "secrets": secrets}
        answer = await client.patch(accounts, json=body, params={"fieldManager": "one"}, headers=YAML)
        assert answer.status_code == 500
        assert why in answer.json()["message"]


@pytest.mark.parametrize(
    ("path", "spec", "owned"),
    [
        ("/api/v1/namespaces", {}, {"f:labels": {".": {}, "f:kubernetes.io/metadata.name": {}}}),
        (
            "/api/v1/namespaces/default/replicationcontrollers",
            {"selector": {"a": "b"}, "template": TEMPLATE},
            {"f:labels": {".": {}, "f:a": {}}},
        ),
        (
            "/apis/apps/v1/namespaces/default/daemonsets",
            {"selector": {"matchLabels": {"a": "b"}}, "template": TEMPLATE},
            {"f:annotations": {".": {}, "f:deprecated.daemonset.template.generation": {}}},
        ),
    ],
)
async def test_who_makes_an_object_owns_the_metadata_that_is_defaulted(
    client: httpx.AsyncClient, path: str, spec: dict[str, Any], owned: dict[str, Any]
) -> None:
    made = await client.post(path, params={"fieldManager": "m"}, json={"metadata": {"name": "a"}, "spec": spec})
    assert made.status_code == 201, made.text
    [entry] = made.json()["metadata"]["managedFields"]
    assert entry["fieldsV1"]["f:metadata"] == owned
    assert ("f:spec" in entry["fieldsV1"]) == bool(spec)  # the finalizers of a namespace are the server's
