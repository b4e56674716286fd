"""Answers in protobuf, as Go clients ask for them: the same objects as in JSON."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from batkube.kube.codec import protobuf
from batkube.kube.codec.protobuf.decode import decode_type
from batkube.kube.codec.protobuf.values import read_fields
from batkube.kube.server import ApiServer

from .conftest import PODS, pod, watch_events

PROTOBUF = "application/vnd.kubernetes.protobuf"
GO = {"Accept": f"{PROTOBUF},application/json"}
METADATA = {"Accept": f"{PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"}


def without_zeros(value: Any) -> Any:
    """Without what Go's encoder writes though it is not set, and JSON leaves out."""
    if isinstance(value, dict):
        kept = {key: without_zeros(item) for key, item in value.items()}
        return {key: item for key, item in kept.items() if item not in (None, "", {}, [], 0, False)}
    return [without_zeros(item) for item in value] if isinstance(value, list) else value


async def test_an_object_is_the_same_as_in_json(server: ApiServer, client: httpx.AsyncClient) -> None:
    server.create("pods", pod("a", tier="front"))
    answer = await client.get(f"{PODS}/a", headers=GO)
    assert answer.headers["content-type"] == PROTOBUF
    plain = (await client.get(f"{PODS}/a")).json()
    assert without_zeros(protobuf.decode(answer.content)) == without_zeros(plain)


async def test_a_write_is_answered_in_protobuf(client: httpx.AsyncClient) -> None:
    answer = await client.post(PODS, json=pod("a"), headers=GO)
    assert (answer.status_code, answer.headers["content-type"]) == (201, PROTOBUF)
    assert protobuf.decode(answer.content)["metadata"]["name"] == "a"


async def test_a_refusal_is_answered_in_protobuf(client: httpx.AsyncClient) -> None:
    answer = await client.get(f"{PODS}/missing", headers=GO)
    assert (answer.status_code, answer.headers["content-type"]) == (404, PROTOBUF)
    status = protobuf.decode(answer.content)
    assert (status["kind"], status["reason"], status["code"]) == ("Status", "NotFound", 404)
    assert status["details"]["name"] == "missing"


async def test_a_list(server: ApiServer, client: httpx.AsyncClient) -> None:
    for name in "abc":
        server.create("pods", pod(name))
    answer = await client.get(PODS, params={"limit": 2}, headers=GO)
    page = protobuf.decode(answer.content)
    assert page["kind"] == "PodList"
    assert [item["metadata"]["name"] for item in page["items"]] == ["a", "b"]
    assert page["metadata"]["remainingItemCount"] == 1
    assert page["metadata"]["resourceVersion"] == str(server.store.revision)


async def test_a_watch_with_its_bookmark(server: ApiServer, client: httpx.AsyncClient) -> None:
    server.create("pods", pod("a"))
    query = {
        "watch": "true",
        "sendInitialEvents": "true",
        "resourceVersionMatch": "NotOlderThan",
        "allowWatchBookmarks": "true",
        "timeoutSeconds": "1",
    }
    answer = await client.get(PODS, params=query, headers={"Accept": f"{PROTOBUF};stream=watch"})
    assert answer.headers["content-type"] == f"{PROTOBUF};stream=watch"
    seen = [(kind, protobuf.decode(body)) for kind, body in watch_events(answer.content)]
    assert [(kind, obj["metadata"].get("name")) for kind, obj in seen[:2]] == [("ADDED", "a"), ("BOOKMARK", None)]
    assert seen[1][1]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


async def test_metadata_alone(server: ApiServer, client: httpx.AsyncClient) -> None:
    created = server.create("pods", pod("a", tier="front"))
    answer = await client.get(f"{PODS}/a", headers=METADATA)
    envelope = read_fields(answer.content, 4, len(answer.content))
    assert b"PartialObjectMetadata" in envelope[1]
    fields = read_fields(envelope[2], 0, len(envelope[2]))
    assert list(fields) == [1]
    metadata = decode_type("meta/v1.ObjectMeta", fields[1])
    assert (metadata["uid"], metadata["labels"]) == (created["metadata"]["uid"], {"tier": "front"})


async def test_a_table_has_no_protobuf_form(server: ApiServer, client: httpx.AsyncClient) -> None:
    table = "as=Table;g=meta.k8s.io;v=v1"
    answer = await client.get(PODS, headers={"Accept": f"{PROTOBUF};{table},application/json;{table}"})
    assert answer.json()["kind"] == "Table"


@pytest.mark.parametrize("accept", [GO["Accept"], f"{PROTOBUF};q=0.5,application/json;q=0.4"])
async def test_custom_resources_are_sent_as_json(server: ApiServer, client: httpx.AsyncClient, accept: str) -> None:
    version = {"name": "v1", "served": True, "storage": True}
    version["schema"] = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    server.create(
        "customresourcedefinitions",
        {
            "metadata": {"name": "queues.example.com"},
            "spec": {
                "group": "example.com",
                "scope": "Cluster",
                "names": {"plural": "queues", "singular": "queue", "kind": "Queue", "listKind": "QueueList"},
                "versions": [version],
            },
        },
    )
    answer = await client.get("/apis/example.com/v1/queues", headers={"Accept": accept})
    assert json.loads(answer.content)["kind"] == "QueueList"
