"""Watches from versions that the server does not know any more, or not yet."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator

import httpx
import pytest

from batkube.kube.codec import protobuf
from batkube.kube.server import ApiServer

from .conftest import CONFIGMAPS, config_map, watch_events, watching


@pytest.fixture
async def forgetful() -> AsyncIterator[httpx.AsyncClient]:
    """A client of a server that has forgotten what was at version 1, of config maps and of events."""
    server = ApiServer(now=lambda: 0.0, history=10)
    await server.start()
    for number in range(50):
        server.create("configmaps", config_map(f"c{number}"))
        event = {"involvedObject": {"namespace": "default"}, "metadata": {"name": f"e{number}", "namespace": "default"}}
        server.create("events", event)
    async with httpx.AsyncClient(base_url=server.url, trust_env=False, timeout=60) as client:
        yield client
    await server.stop()


FORGOTTEN = {"watch": "true", "resourceVersion": "1"}


@pytest.mark.parametrize(
    "accept",
    [
        "application/json",
        "application/json;as=Table;v=v1;g=meta.k8s.io",
        "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    ],
)
@pytest.mark.parametrize("more", [{}, {"fieldSelector": "metadata.name=c1"}, {"allowWatchBookmarks": "true"}])
async def test_a_version_that_is_forgotten_is_told_in_the_stream(
    forgetful: httpx.AsyncClient, accept: str, more: dict[str, str]
) -> None:
    """Clients list again when an ERROR event says Expired; an answer of 410 ends many of them."""
    answer = await forgetful.get(CONFIGMAPS, params=FORGOTTEN | more, headers={"Accept": accept})
    assert answer.status_code == 200
    [event] = [json.loads(line) for line in answer.text.splitlines()]
    message = event["object"].pop("message")
    assert re.fullmatch(r"too old resource version: 1 \(\d+\)", message)
    status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
    assert event == {"type": "ERROR", "object": status | {"reason": "Expired", "code": 410}}


async def test_a_forgotten_version_by_the_old_path_and_of_one_object(forgetful: httpx.AsyncClient) -> None:
    for path in ("watch/namespaces/default/configmaps", "watch/namespaces/default/configmaps/c1", "configmaps"):
        answer = await forgetful.get(f"/api/v1/{path}", params=FORGOTTEN)
        assert (answer.status_code, answer.json()["object"]["code"]) == (200, 410)


async def test_a_forgotten_version_of_a_kind_without_a_watch_cache(forgetful: httpx.AsyncClient) -> None:
    answer = await forgetful.get("/api/v1/events", params=FORGOTTEN)
    assert (answer.status_code, answer.json()["type"], answer.json()["object"]["code"]) == (200, "ERROR", 410)
    assert answer.json()["object"]["message"] == "The resourceVersion for the provided watch is too old."


async def test_a_forgotten_version_in_protobuf(forgetful: httpx.AsyncClient) -> None:
    headers = {"Accept": "application/vnd.kubernetes.protobuf"}
    answer = await forgetful.get(CONFIGMAPS, params=FORGOTTEN, headers=headers)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/vnd.kubernetes.protobuf;stream=watch"
    [(kind, body)] = watch_events(answer.content)
    status = protobuf.decode(body)
    assert (kind, status["kind"], status["code"], status["reason"]) == ("ERROR", "Status", 410, "Expired")


async def test_what_is_there_is_sent_from_a_forgotten_version(forgetful: httpx.AsyncClient) -> None:
    async with watching(
        forgetful,
        CONFIGMAPS,
        resourceVersion="1",
        sendInitialEvents="true",
        resourceVersionMatch="NotOlderThan",
        allowWatchBookmarks="true",
    ) as stream:
        assert [event.split()[0] for event in await stream.brief(51)] == ["ADDED"] * 50 + ["BOOKMARK"]


async def test_a_version_that_is_not_yet(server: ApiServer, client: httpx.AsyncClient) -> None:
    """Only who asks for the objects as well is refused, in the stream; others wait for it."""
    future = str(server.store.revision + 1)
    initial = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
    answer = await client.get(CONFIGMAPS, params={"watch": "true", "resourceVersion": future} | initial)
    event = answer.json()
    assert (answer.status_code, event["type"]) == (200, "ERROR")
    assert (event["object"]["code"], event["object"]["reason"]) == (504, "Timeout")
    assert event["object"]["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"
    async with watching(client, CONFIGMAPS, resourceVersion=future) as stream:
        server.create("configmaps", config_map("not-told"))
        server.create("configmaps", config_map("told"))
        assert await stream.brief(1) == ["ADDED told"]


async def test_a_version_that_is_none_is_refused_before_the_stream(client: httpx.AsyncClient) -> None:
    answer = await client.get(CONFIGMAPS, params={"watch": "true", "resourceVersion": "none"})
    assert answer.status_code == 500
