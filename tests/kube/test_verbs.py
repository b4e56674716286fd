"""The verbs that are alike for every kind: create, read, replace, delete."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from batkube.kube.apimachinery.status import ApiError
from batkube.kube.server import ApiServer

from .conftest import CONFIGMAPS, PODS, Clock, config_map, pod


def failed(answer: httpx.Response) -> tuple[int, str | None]:
    assert answer.headers["content-type"] == "application/json"
    status = answer.json()
    assert (status["kind"], status["status"], status["code"]) == ("Status", "Failure", answer.status_code)
    return answer.status_code, status.get("reason")


async def test_create_fills_in_what_only_the_server_knows(client: httpx.AsyncClient, clock: Clock) -> None:
    body = config_map("a", {"x": "1"})
    body["metadata"] |= {"uid": "mine", "creationTimestamp": "1999-01-01T00:00:00Z", "selfLink": "/x"}
    answer = await client.post(CONFIGMAPS, json=body)
    assert answer.status_code == 201
    metadata = answer.json()["metadata"]
    assert (metadata["namespace"], metadata["creationTimestamp"]) == ("default", "2026-01-01T00:00:00Z")
    assert metadata["uid"] != "mine"
    assert "selfLink" not in metadata
    assert (await client.get(f"{CONFIGMAPS}/a")).json() == answer.json()


async def test_the_same_requests_give_the_same_bytes() -> None:
    texts = []
    for _ in range(2):
        server = ApiServer(now=lambda: 0.0, seed=3)
        server.create("configmaps", {"metadata": {"generateName": "x-"}, "data": {"a": "1"}})
        server.create("pods", pod("a"))
        versions = [
            version.json for kind in ("configmaps", "pods") for version in server.store.collection(kind).select()
        ]
        texts.append(b"".join(versions))
    assert texts[0] == texts[1]


async def test_create_twice(client: httpx.AsyncClient) -> None:
    await client.post(CONFIGMAPS, json=config_map("a"))
    assert failed(await client.post(CONFIGMAPS, json=config_map("a"))) == (409, "AlreadyExists")


async def test_create_in_a_namespace_that_is_not_there(client: httpx.AsyncClient) -> None:
    answer = await client.post("/api/v1/namespaces/nowhere/configmaps", json=config_map("a"))
    assert failed(answer) == (404, "NotFound")
    assert 'namespaces "nowhere" not found' in answer.json()["message"]


async def test_a_dry_run_stores_nothing(server: ApiServer, client: httpx.AsyncClient) -> None:
    before = server.store.revision
    answer = await client.post(CONFIGMAPS, json=config_map("a"), params={"dryRun": "All"})
    assert answer.status_code == 201
    assert "resourceVersion" not in answer.json()["metadata"]
    assert server.store.revision == before


async def test_replace_with_the_version_read(client: httpx.AsyncClient) -> None:
    first = (await client.post(CONFIGMAPS, json=config_map("a", {"x": "1"}))).json()
    second = await client.put(f"{CONFIGMAPS}/a", json={**first, "data": {"x": "2"}})
    assert second.status_code == 200
    assert second.json()["metadata"]["uid"] == first["metadata"]["uid"]
    stale = await client.put(f"{CONFIGMAPS}/a", json={**first, "data": {"x": "3"}})
    assert failed(stale) == (409, "Conflict")
    blind = await client.put(f"{CONFIGMAPS}/a", json=config_map("a", {"x": "4"}))
    assert blind.json()["data"] == {"x": "4"}


async def test_a_write_that_changes_nothing_is_no_write(server: ApiServer, client: httpx.AsyncClient) -> None:
    first = (await client.post(CONFIGMAPS, json=config_map("a", {"x": "1"}))).json()
    before = server.store.revision
    again = await client.put(f"{CONFIGMAPS}/a", json=config_map("a", {"x": "1"}))
    assert again.json() == first
    assert server.store.revision == before


async def test_the_uid_may_not_change(client: httpx.AsyncClient) -> None:
    body = (await client.post(CONFIGMAPS, json=config_map("a"))).json()
    body["metadata"]["uid"] = "0" * 8
    assert failed(await client.put(f"{CONFIGMAPS}/a", json=body)) == (409, "Conflict")


async def test_the_name_must_be_that_of_the_path(client: httpx.AsyncClient) -> None:
    await client.post(CONFIGMAPS, json=config_map("a"))
    assert failed(await client.put(f"{CONFIGMAPS}/a", json=config_map("b"))) == (400, "BadRequest")


async def test_delete_answers_what_is_gone(client: httpx.AsyncClient) -> None:
    uid = (await client.post(CONFIGMAPS, json=config_map("a"))).json()["metadata"]["uid"]
    answer = await client.delete(f"{CONFIGMAPS}/a")
    assert answer.json()["status"] == "Success"
    assert answer.json()["details"] == {"name": "a", "kind": "configmaps", "uid": uid}
    assert failed(await client.get(f"{CONFIGMAPS}/a")) == (404, "NotFound")
    assert failed(await client.delete(f"{CONFIGMAPS}/a")) == (404, "NotFound")


async def test_a_finalizer_holds_an_object_until_it_is_taken_away(server: ApiServer, client: httpx.AsyncClient) -> None:
    body = config_map("a")
    body["metadata"]["finalizers"] = ["example.com/hold"]
    await client.post(CONFIGMAPS, json=body)
    marked = (await client.delete(f"{CONFIGMAPS}/a")).json()
    assert marked["metadata"]["deletionTimestamp"] == "2026-01-01T00:00:00Z"
    before = server.store.revision
    await client.delete(f"{CONFIGMAPS}/a")
    assert server.store.revision == before
    marked["metadata"]["finalizers"] = []
    assert (await client.put(f"{CONFIGMAPS}/a", json=marked)).status_code == 200
    assert failed(await client.get(f"{CONFIGMAPS}/a")) == (404, "NotFound")


@pytest.mark.parametrize(
    ("preconditions", "code"), [({"uid": "other"}, 409), ({"resourceVersion": "1"}, 409), ({}, 200)]
)
async def test_preconditions(client: httpx.AsyncClient, preconditions: dict[str, str], code: int) -> None:
    await client.post(CONFIGMAPS, json=config_map("a"))
    answer = await client.request("DELETE", f"{CONFIGMAPS}/a", json={"preconditions": preconditions})
    assert answer.status_code == code


async def test_delete_a_collection(client: httpx.AsyncClient) -> None:
    for name, on in (("a", "1"), ("b", "0"), ("c", "1")):
        await client.post(CONFIGMAPS, json=config_map(name, on=on))
    answer = await client.delete(CONFIGMAPS, params={"labelSelector": "on=1"})
    assert [item["metadata"]["name"] for item in answer.json()["items"]] == ["a", "c"]
    left = (await client.get(CONFIGMAPS)).json()["items"]
    assert [item["metadata"]["name"] for item in left] == ["b"]


async def test_unknown_fields_go_with_a_warning(client: httpx.AsyncClient) -> None:
    body: dict[str, Any] = {**config_map("a"), "colour": "red"}
    answer = await client.post(CONFIGMAPS, json=body)
    assert answer.status_code == 201
    assert "colour" not in answer.json()
    assert answer.headers["warning"] == '299 - "unknown field \\"colour\\""'
    strict = await client.post(
        CONFIGMAPS, json={**body, "metadata": {"name": "b"}}, params={"fieldValidation": "Strict"}
    )
    assert failed(strict) == (400, "BadRequest")


@pytest.mark.parametrize(
    ("content", "headers", "code"),
    [
        (b"{", {}, 400),
        (b"[]", {}, 400),
        (b'{"metadata":{"name":5}}', {}, 400),
        (b'{"data":{"a":1}}', {}, 400),
        (b'{"kind":"Pod","metadata":{"name":"a"}}', {}, 400),
        (b'{"apiVersion":"v9","metadata":{"name":"a"}}', {}, 400),
        (b'{"metadata":{}}', {}, 422),
        (b"metadata: {name: a}", {"content-type": "application/yaml"}, 201),
        (b"a: [1", {"content-type": "application/yaml"}, 400),
        (b"{}", {"content-type": "text/plain"}, 415),
        (b"{}", {"accept": "text/html"}, 406),
        (b"k8s\x00rubbish", {"content-type": "application/vnd.kubernetes.protobuf"}, 400),
    ],
)
async def test_bodies(client: httpx.AsyncClient, content: bytes, headers: dict[str, str], code: int) -> None:
    answer = await client.post(CONFIGMAPS, content=content, headers={"content-type": "application/json", **headers})
    assert answer.status_code == code, answer.text


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("GET", "/api/v1/nonsense", 404),
        ("GET", "/apis/nonsense/v1/things", 404),
        ("GET", "/nonsense", 404),
        ("POST", f"{CONFIGMAPS}/a", 405),
        ("PUT", CONFIGMAPS, 405),
        ("DELETE", "/api/v1/configmaps", 405),
        ("HEAD", CONFIGMAPS, 405),
        ("GET", "/api/v1/namespaces/default/nodes", 404),
        ("GET", f"{CONFIGMAPS}/", 200),
        ("GET", "/", 200),
        ("GET", "/healthz", 200),
        ("GET", "/version", 200),
    ],
)
async def test_paths_and_methods(client: httpx.AsyncClient, method: str, path: str, code: int) -> None:
    assert (await client.request(method, path)).status_code == code


async def test_in_process_the_same_rules_hold(server: ApiServer) -> None:
    with pytest.raises(ApiError) as refused:
        server.create("configmaps", {"metadata": {}})
    assert refused.value.code == 422
    with pytest.raises(ApiError) as missing:
        server.get("configmaps", "nobody")
    assert missing.value.code == 404


async def test_reset_gives_a_fresh_cluster_and_revisions_go_on(server: ApiServer) -> None:
    server.create("configmaps", config_map("a"))
    uid = server.get("configmaps", "a")["metadata"]["uid"]
    before = server.store.revision
    server.reset()
    assert server.store.revision > before
    assert server.list("configmaps", "default") == []
    assert [item["metadata"]["name"] for item in server.list("namespaces")] == [
        "default",
        "kube-node-lease",
        "kube-public",
        "kube-system",
    ]
    assert server.create("configmaps", config_map("a"))["metadata"]["uid"] != uid


@pytest.mark.parametrize("query", [{}, {"fieldManager": "m"}])
@pytest.mark.parametrize(
    "patch",
    [
        {"status": {"phase": "Running"}},
        {"metadata": {"generation": 7, "selfLink": "/a", "creationTimestamp": None}},
        {"metadata": {"labels": {}, "finalizers": []}},
        {},
    ],
)
async def test_a_patch_of_what_the_server_sets_makes_no_version(
    server: ApiServer, client: httpx.AsyncClient, patch: dict[str, Any], query: dict[str, str]
) -> None:
    server.create("pods", pod("a"))
    before = server.store.revision
    headers = {"Content-Type": "application/merge-patch+json"}
    answer = await client.patch(f"{PODS}/a", params=query, json=patch, headers=headers)
    assert answer.status_code == 200
    assert server.store.revision == before
    assert "selfLink" not in answer.json()["metadata"]
