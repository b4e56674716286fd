"""A server on a free port, and clients of it."""

from __future__ import annotations

import json
import struct
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from batkube.kube.apimachinery.status import ApiError
from batkube.kube.codec.protobuf.values import read_fields
from batkube.kube.http.listener import Listener
from batkube.kube.server import ApiServer
from tests.waiting import wait_until_async

EPOCH = 1_767_225_600.0  # 2026-01-01T00:00:00Z


class Clock:
    """Simulated time that a test moves by hand."""

    def __init__(self) -> None:
        self.seconds = EPOCH

    def now(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def server(clock: Clock) -> AsyncIterator[ApiServer]:
    server = ApiServer(now=clock.now, seed=7)
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
async def client(server: ApiServer) -> AsyncIterator[httpx.AsyncClient]:
    # Without TLS there is nothing to verify, and it takes long to load all authorities of the world.
    async with httpx.AsyncClient(base_url=server.url, trust_env=False, timeout=60, verify=False) as client:
        yield client


@pytest.fixture
def patient_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a server that stops wait for its clients for longer than a test lasts, as far as it waits for them at all."""
    stop = Listener.stop
    monkeypatch.setattr(Listener, "stop", lambda listener: stop(listener, patience=3600.0))


async def done(server: ApiServer) -> None:
    """Wait until the server has nothing left to do. It clears up a moment after the last byte or connection."""
    await wait_until_async("the server has nothing left to do", lambda: not server.busy())


CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"


def config_map(name: str, data: dict[str, str] | None = None, **labels: str) -> dict[str, Any]:
    return {
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "metadata": {"name": name, "labels": labels},
        "data": data or {},
    }


def pod(name: str, **labels: str) -> dict[str, Any]:
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": name, "labels": labels},
        "spec": {"containers": [{"name": "main", "image": "job"}]},
    }


class Stream:
    """A watch, read event by event."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self._lines = response.aiter_lines()

    async def next(self) -> dict[str, Any]:
        event: dict[str, Any] = json.loads(await anext(self._lines))
        return event

    async def brief(self, count: int) -> list[str]:
        """The next events as `TYPE name`."""
        events = [await self.next() for _ in range(count)]
        return [f"{event['type']} {event['object']['metadata'].get('name', '')}".strip() for event in events]

    async def rest(self) -> list[dict[str, Any]]:
        """All events up to the end of the stream."""
        return [json.loads(line) async for line in self._lines]


def watch_events(stream: bytes) -> Iterator[tuple[str, bytes]]:
    """The type and the object's body of each event of a stream in protobuf."""
    while stream:
        (size,) = struct.unpack(">I", stream[:4])
        event = read_fields(stream, 4, 4 + size)
        yield event[1].decode(), read_fields(event[2], 0, len(event[2]))[1]
        stream = stream[4 + size :]


def refused_fields(server: ApiServer, storage: str, obj: dict[str, Any]) -> list[str]:
    """The fields that are wrong with a new object; none if it is taken."""
    try:
        server.create(storage, obj)
    except ApiError as refused:
        return [cause["field"] for cause in (refused.details or {})["causes"]]
    return []


@asynccontextmanager
async def watching(client: httpx.AsyncClient, path: str, **params: Any) -> AsyncIterator[Stream]:
    """Open a watch."""
    async with client.stream("GET", path, params={"watch": "true", **params}) as response:
        assert response.status_code == 200, await response.aread()
        yield Stream(response)
