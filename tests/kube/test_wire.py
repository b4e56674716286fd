"""The notes on a connection's traffic, which spare questions to the kernel."""

import asyncio

import httpx

from batkube.kube.server import ApiServer
from tests.waiting import wait_until_async


async def test_each_request_and_answer_moves_it(server: ApiServer, client: httpx.AsyncClient) -> None:
    await client.get("/healthz")
    (wire,) = server.connections()
    before = wire.moves
    await client.get("/healthz")
    assert server.connections() == [wire]
    assert wire.moves >= before + 2
    assert wire.answered


async def test_a_request_that_is_not_answered(server: ApiServer, client: httpx.AsyncClient) -> None:
    await client.get("/healthz")
    (wire,) = server.connections()
    heard: list[bool] = []
    server.when_bytes_come(lambda: heard.append(wire.answered))
    await client.get("/healthz")
    assert heard[0] is False


async def test_who_has_moved_is_told_once(server: ApiServer, client: httpx.AsyncClient) -> None:
    await client.get("/healthz")
    (wire,) = server.connections()
    assert server.active() == {wire}
    assert server.active() == set()
    await client.get("/healthz")
    assert server.active() == {wire}


async def test_a_connection_is_told_of_before_it_has_sent_anything(server: ApiServer) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    await wait_until_async("a connection is open", lambda: bool(server.connections()))
    assert server.active() == set(server.connections())
    writer.close()
    assert await reader.read() == b""
    await wait_until_async("no connection is open", lambda: not server.connections())
    assert server.active() == set()


async def test_who_does_not_read_is_held_up_and_keeps_nobody_busy(server: ApiServer) -> None:
    server.create("configmaps", {"metadata": {"name": "much"}, "data": {"text": "x" * 500_000}}, "default")
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=2**10)
    path = b"/api/v1/namespaces/default/configmaps/much"
    writer.write(b"GET %s HTTP/1.1\r\nhost: x\r\n\r\n" % path * 30)
    await wait_until_async("bytes wait to be read", lambda: bool(server.held_up()))
    assert server.held_up() == server.connections()
    left = 30 * 500_000
    while left > 0:
        left -= len(await reader.read(2**20))
    await wait_until_async("all is read", lambda: not server.held_up() and not server.busy())
    writer.close()
