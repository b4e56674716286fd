"""Lists as clients page through them."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from batkube.kube.server import ApiServer

from .conftest import CONFIGMAPS, PODS, config_map, pod


async def get(client: httpx.AsyncClient, path: str, **params: Any) -> dict[str, Any]:
    answer = await client.get(path, params=params)
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


def names(page: dict[str, Any]) -> list[str]:
    return [item["metadata"]["name"] for item in page["items"]]


async def test_an_empty_list_is_no_null(client: httpx.AsyncClient) -> None:
    page = await get(client, CONFIGMAPS)
    assert (page["kind"], page["apiVersion"], page["items"]) == ("ConfigMapList", "v1", [])


async def test_items_say_no_kind(server: ApiServer, client: httpx.AsyncClient) -> None:
    server.create("configmaps", config_map("a"))
    (item,) = (await get(client, CONFIGMAPS))["items"]
    assert "kind" not in item
    assert "apiVersion" not in item


async def test_pages_are_of_one_moment(server: ApiServer, client: httpx.AsyncClient) -> None:
    for name in "abcde":
        server.create("configmaps", config_map(name))
    first = await get(client, CONFIGMAPS, limit=2)
    assert names(first) == ["a", "b"]
    assert first["metadata"]["remainingItemCount"] == 3
    server.delete("configmaps", "d")
    server.create("configmaps", config_map("bb"))
    server.update("configmaps", config_map("c", {"late": "yes"}))
    second = await get(client, CONFIGMAPS, limit=2, **{"continue": first["metadata"]["continue"]})
    third = await get(client, CONFIGMAPS, limit=2, **{"continue": second["metadata"]["continue"]})
    assert names(second) + names(third) == ["c", "d", "e"]
    assert "data" not in second["items"][0]
    assert "continue" not in third["metadata"]
    versions = {page["metadata"]["resourceVersion"] for page in (first, second, third)}
    assert len(versions) == 1


async def test_pages_through_a_selector(server: ApiServer, client: httpx.AsyncClient) -> None:
    for number in range(10):
        server.create("configmaps", config_map(f"c{number}", even=str(number % 2 == 0).lower()))
    found: list[str] = []
    token = ""
    while True:
        page = await get(client, CONFIGMAPS, limit=2, labelSelector="even=true", **{"continue": token})
        found += names(page)
        assert "remainingItemCount" not in page["metadata"]
        token = page["metadata"].get("continue", "")
        if not token:
            break
    assert found == ["c0", "c2", "c4", "c6", "c8"]


async def test_a_page_token_of_a_forgotten_version_is_410() -> None:
    server = ApiServer(now=lambda: 0.0, history=10)
    await server.start()
    try:
        for name in "abc":
            server.create("configmaps", config_map(name))
        async with httpx.AsyncClient(base_url=server.url, trust_env=False, timeout=60) as client:
            token = (await get(client, CONFIGMAPS, limit=1))["metadata"]["continue"]
            for number in range(50):
                server.update("configmaps", config_map("a", {"x": str(number)}))
            answer = await client.get(CONFIGMAPS, params={"limit": 1, "continue": token})
            assert (answer.status_code, answer.json()["reason"]) == (410, "Expired")
    finally:
        await server.stop()


async def test_a_list_of_a_past_version(server: ApiServer, client: httpx.AsyncClient) -> None:
    server.create("configmaps", config_map("a"))
    then = server.store.revision
    server.create("configmaps", config_map("b"))
    page = await get(client, CONFIGMAPS, resourceVersion=then, resourceVersionMatch="Exact")
    assert (names(page), page["metadata"]["resourceVersion"]) == (["a"], str(then))
    page = await get(client, CONFIGMAPS, resourceVersion=then, resourceVersionMatch="NotOlderThan")
    assert names(page) == ["a", "b"]


async def test_a_version_that_is_not_there_yet(server: ApiServer, client: httpx.AsyncClient) -> None:
    answer = await client.get(CONFIGMAPS, params={"resourceVersion": server.store.revision + 1})
    assert answer.status_code == 504
    assert answer.json()["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"


async def test_all_namespaces_in_order(server: ApiServer, client: httpx.AsyncClient) -> None:
    server.create("configmaps", config_map("b", of="test"), namespace="kube-system")
    server.create("configmaps", config_map("z", of="test"))
    server.create("configmaps", config_map("a", of="test"), namespace="kube-system")
    page = await get(client, "/api/v1/configmaps", labelSelector="of=test")
    found = [(item["metadata"]["namespace"], item["metadata"]["name"]) for item in page["items"]]
    assert found == [("default", "z"), ("kube-system", "a"), ("kube-system", "b")]


async def test_pods_by_field(server: ApiServer, client: httpx.AsyncClient) -> None:
    server.create("pods", pod("a"))
    bound = pod("b")
    bound["spec"]["nodeName"] = "n1"
    server.create("pods", bound)
    assert names(await get(client, PODS, fieldSelector="spec.nodeName=")) == ["a"]
    assert names(await get(client, PODS, fieldSelector="spec.nodeName=n1")) == ["b"]
    assert names(await get(client, PODS, fieldSelector="metadata.name=b")) == ["b"]


async def test_all_addresses_of_a_pod_are_a_field_that_no_pod_has(server: ApiServer, client: httpx.AsyncClient) -> None:
    """kube-apiserver takes status.podIPs in a selector, and finds nothing by it."""
    made = server.create("pods", pod("a"))
    server.update("pods", {**made, "status": {**made["status"], "podIPs": [{"ip": "10.0.0.1"}]}}, "status")
    assert names(await get(client, PODS, fieldSelector="status.podIP=10.0.0.1")) == ["a"]
    assert names(await get(client, PODS, fieldSelector="status.podIPs=10.0.0.1")) == []
    assert names(await get(client, PODS, fieldSelector="status.podIPs!=10.0.0.1")) == ["a"]
    assert names(await get(client, PODS, fieldSelector="status.podIPs=")) == ["a"]


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"limit": "many"}, 400),
        ({"continue": "nonsense"}, 400),
        ({"labelSelector": "a in"}, 400),
        ({"fieldSelector": "spec.colour=red"}, 400),
        ({"resourceVersion": "new"}, 400),
        ({"resourceVersionMatch": "Exact"}, 422),
        ({"resourceVersion": "0", "resourceVersionMatch": "Exact"}, 422),
        ({"sendInitialEvents": "true"}, 422),
    ],
)
async def test_what_is_refused(client: httpx.AsyncClient, params: dict[str, str], code: int) -> None:
    answer = await client.get(PODS, params=params)
    assert answer.status_code == code
    assert answer.json()["kind"] == "Status"


@pytest.mark.parametrize(
    ("token", "why"),
    [
        ("a=", "illegal base64 data at input byte 1"),
        ("abcde", "illegal base64 data at input byte 4"),
        ("ab\nc", "invalid character"),
        ("e30", "server does not recognize this encoded version"),
    ],
)
async def test_tokens_that_no_list_gave(client: httpx.AsyncClient, token: str, why: str) -> None:
    answer = await client.get(PODS, params={"continue": token})
    assert answer.status_code == 400
    assert f"continue key is not valid: {why}" in answer.json()["message"]
