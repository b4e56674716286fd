"""The server as a part of a program: starting, stopping, and saying whether it is busy."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import httpx
import pytest

from batkube.kube.server import ApiServer
from batkube.kube.storage.store import Change
from tests.waiting import wait_until_async

from .conftest import CONFIGMAPS, config_map, done


async def test_a_taken_port_is_named(server: ApiServer) -> None:
    other = ApiServer(now=lambda: 0.0)
    with pytest.raises(OSError, match=f"cannot listen on 127.0.0.1:{server.port}"):
        await other.start(port=server.port)


async def test_it_starts_again_on_the_same_port(free_port: Callable[[], int]) -> None:
    server, port = ApiServer(now=lambda: 0.0), free_port()
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=60) as client:
        for _ in range(2):
            await server.start(port=port)
            assert (await client.get("/healthz")).text == "ok"
            await server.stop()


async def test_stop_before_start() -> None:
    await ApiServer(now=lambda: 0.0).stop()


async def test_connections_and_listener(server: ApiServer, client: httpx.AsyncClient) -> None:
    assert server.connections() == []
    listener = server.listener()
    assert listener is not None
    assert listener.getsockname()[1] == server.port
    await client.get("/healthz")
    (connection,) = server.connections()
    assert connection.getsockname()[1] == server.port
    await server.stop()
    assert server.listener() is None
    assert server.connections() == []


async def test_busy_while_a_request_is_in_work(server: ApiServer) -> None:
    assert not server.busy()
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(f"POST {CONFIGMAPS} HTTP/1.1\r\nHost: x\r\nContent-Length: 30\r\n\r\n".encode())
    await wait_until_async("a request is in work", server.busy)  # its head has come, its body has not
    writer.write(b'{"metadata":{"name":"a"}}     ')
    assert b" 201 " in await reader.readline()
    await done(server)
    writer.close()


async def test_what_happened_is_counted(server: ApiServer, client: httpx.AsyncClient) -> None:
    await client.post(CONFIGMAPS, json=config_map("a"))
    await client.get(CONFIGMAPS)
    assert server.requests["create", "configmaps"] == 1
    assert server.requests["list", "configmaps"] == 1
    assert server.writes["ADDED", "configmaps"] == 3  # the cluster has two of its own


async def test_a_subscriber_hears_requests_and_own_calls_alike(server: ApiServer, client: httpx.AsyncClient) -> None:
    heard: list[Change] = []
    server.subscribe(heard.append)
    await client.post(CONFIGMAPS, json=config_map("a"))
    server.delete("configmaps", "a")
    assert [(change.type, change.resource.plural) for change in heard] == [
        ("ADDED", "configmaps"),
        ("DELETED", "configmaps"),
    ]
    assert [change.revision for change in heard] == [server.store.revision - 1, server.store.revision]


async def test_its_own_routes_live_beside_the_api(server: ApiServer, client: httpx.AsyncClient) -> None:
    @server.app.get("/batkube/v1/hello")
    async def hello() -> dict[str, str]:
        return {"hello": "world"}

    assert (await client.get("/batkube/v1/hello")).json() == {"hello": "world"}


async def test_the_application_serves_the_api_without_a_socket() -> None:
    server = ApiServer(now=lambda: 0.0)
    transport = httpx.ASGITransport(app=server.app)
    async with httpx.AsyncClient(transport=transport, base_url="http://server") as client:
        assert (await client.get("/api/v1/namespaces/default")).json()["kind"] == "Namespace"
