"""Requests that are too large, too deep or too long: refused in the right words, at once, and the next is served."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import httpx
import pytest

from batkube.kube.server import ApiServer

from .conftest import CONFIGMAPS, PODS, config_map, pod

PATCHES = {
    "json": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}
PATIENCE = 10.0  # seconds of CPU; each takes a small part of it, also on a slow machine


def million(item: str) -> str:
    """A list of as many items as a body has room for; a million of the shortest."""
    return "[" + ",".join([item] * min(1_000_000, 2_900_000 // (len(item) + 1))) + "]"


def nested(opening: str, closing: str, depth: int) -> str:
    return opening * depth + "1" + closing * depth


@pytest.mark.parametrize(
    ("path", "body", "code"),
    [
        (CONFIGMAPS, million("1"), 413),
        (PODS, '{"metadata":{"name":"a"},"spec":{"containers":' + million("{}") + "}}", 413),
        (PODS, '{"metadata":{"name":"a"},"spec":{"containers":' + million("null") + "}}", 413),
        (PODS, '{"metadata":{"name":"a"},"spec":{"containers":[{"env":' + million('{"name":"A"}') + "}]}}", 413),
        (CONFIGMAPS, '{"metadata":{"name":"a","finalizers":' + million('"x"') + "}}", 413),
        (CONFIGMAPS, '{"metadata":{"name":"a"},"data":{"a":"' + "x" * 4_000_000 + '"}}', 413),
        (CONFIGMAPS, nested("[", "]", 1_400_000), 400),
        (CONFIGMAPS, "[" * 2_900_000, 400),
        (CONFIGMAPS, nested('{"a":', "}", 400_000), 400),
        (CONFIGMAPS, nested('{"a":', "}", 300), 400),  # no deeper than it can be read, but than it can be written
        (PODS, json.dumps(pod("a") | {"spec": {"overhead": {"cpu": "9" * 1_000_000}}}), 400),
    ],
    ids=lambda value: value[:60] if isinstance(value, str) else "",
)
async def test_a_body_without_measure(client: httpx.AsyncClient, path: str, body: str, code: int) -> None:
    began = time.process_time()
    answer = await client.post(path, content=body, headers={"content-type": "application/json"})
    assert time.process_time() - began < PATIENCE
    assert (answer.status_code, answer.json()["code"]) == (code, code)
    assert answer.json()["reason"] == ("RequestEntityTooLarge" if code == 413 else "BadRequest")
    assert len(answer.content) < 10_000
    assert (await client.post(CONFIGMAPS, json=config_map("next"))).status_code == 201


@pytest.mark.parametrize(
    ("kind", "patch", "code"),
    [
        ("json", [{"op": "copy", "from": "/data", "path": f"/data/{number}"} for number in range(60)], 422),
        ("json", [{"op": "add", "path": "/data" + "/a" * depth, "value": {}} for depth in range(1, 300)], 400),
        ("json", [{"op": "test", "path": "/kind", "value": "ConfigMap"}] * 20_000, 413),
        ("merge", json.loads(nested('{"a":', "}", 300)), 400),
        ("strategic", {"metadata": {"finalizers": ["x"] * 400_000}}, 413),
        ("apply", json.loads(nested('{"a":', "}", 300)), 400),
    ],
)
async def test_a_patch_without_measure(
    server: ApiServer, client: httpx.AsyncClient, kind: str, patch: Any, code: int
) -> None:
    server.create("configmaps", config_map("a", {"b": "c"}))
    began = time.process_time()
    answer = await client.patch(
        f"{CONFIGMAPS}/a?fieldManager=m", content=json.dumps(patch), headers={"content-type": PATCHES[kind]}
    )
    assert time.process_time() - began < PATIENCE
    assert answer.status_code == code, answer.text[:300]
    assert server.get("configmaps", "a")["data"] == {"b": "c"}


async def test_yaml_is_slow_to_read_and_has_a_limit_of_its_own(client: httpx.AsyncClient) -> None:
    large = "metadata: {name: a}\ndata:\n" + "".join(f"  k{number}: x\n" for number in range(100_000))
    headers = {"content-type": "application/yaml"}
    assert (await client.post(CONFIGMAPS, content=large, headers=headers)).status_code == 413
    headers = {"content-type": PATCHES["apply"]}
    applied = config_map("a", {f"k{number}": "x" * 100_000 for number in range(10)})  # JSON under that name, as kubectl
    path = f"{CONFIGMAPS}/a?fieldManager=m"
    assert (await client.patch(path, content=json.dumps(applied), headers=headers)).status_code == 201


async def test_of_very_many_faults_the_first_are_told(client: httpx.AsyncClient) -> None:
    wish = pod("a")
    wish["spec"]["containers"] = [{}] * 5_000
    answer = await client.post(PODS, json=wish)
    assert answer.status_code == 422
    assert len(answer.json()["details"]["causes"]) == 1_000


@pytest.mark.parametrize("kind", ["one header", "many headers", "the path"])
async def test_a_head_without_end(server: ApiServer, client: httpx.AsyncClient, kind: str) -> None:
    """Two megabytes and no end in sight: 431, and the connection is closed."""
    start = b"GET /" if kind == "the path" else b"GET /version HTTP/1.1\r\nHost: x\r\n"
    piece = {"one header": b"a" * 10_000, "many headers": b"a: b\r\n" * 2_000, "the path": b"a" * 10_000}[kind]
    if kind == "one header":
        start += b"x: "
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(start)
    answer = b""
    for _ in range(200):
        writer.write(piece)
        await asyncio.sleep(0)
    answer = await asyncio.wait_for(reader.read(), 60)
    assert answer.startswith(b"HTTP/1.1 431 ")
    writer.close()
    assert (await client.get("/healthz")).text == "ok"


async def test_headers_of_half_a_megabyte_are_taken(client: httpx.AsyncClient) -> None:
    assert (await client.get("/version", headers={"x-filler": "a" * 500_000})).status_code == 200


async def test_what_etcd_would_not_take_is_not_stored(server: ApiServer, client: httpx.AsyncClient) -> None:
    def large(size: int) -> dict[str, Any]:
        made = pod("a")
        made["spec"]["containers"][0]["args"] = ["x" * size]
        return made

    refused = await client.post(PODS, json=large(1_600_000))
    assert (refused.status_code, refused.json()["message"]) == (500, "etcdserver: request is too large")
    assert server.list("pods") == []
    assert (await client.post(PODS, params={"dryRun": "All"}, json=large(1_600_000))).status_code == 201
    assert (await client.post(PODS, json=large(1_500_000))).status_code == 201
    before = server.store.revision
    status = {"status": {"message": "x" * 700_000}}
    headers = {"Content-Type": "application/merge-patch+json"}
    assert (await client.patch(f"{PODS}/a/status", json=status, headers=headers)).status_code == 500
    assert server.store.revision == before


async def test_the_cause_of_too_large_a_config_map_has_a_field(client: httpx.AsyncClient) -> None:
    refused = (await client.post(CONFIGMAPS, json=config_map("a", {"a": "x" * 1_100_000}))).json()
    assert [cause["field"] for cause in refused["details"]["causes"]] == ["[]"]
