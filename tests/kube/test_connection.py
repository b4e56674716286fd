"""Requests over one connection: answers come in order and whole, however the requests arrive."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from typing import Any

import pytest

from batkube.kube.server import ApiServer

from ..conformance.servers import TOKEN, batkube
from .conftest import done

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"


class Wire:
    """A client that decides itself which bytes go when."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    def send(self, *pieces: bytes) -> None:
        self.writer.write(b"".join(pieces))

    async def answer(self) -> tuple[int, Any]:
        """Status and body of the next answer."""
        head = (await asyncio.wait_for(self.reader.readuntil(b"\r\n\r\n"), 60)).lower()
        status = int(head.split()[1])
        if status == 100:
            return status, None
        length = int(head.partition(b"content-length: ")[2].split()[0])
        return status, json.loads(await asyncio.wait_for(self.reader.readexactly(length), 60))


@asynccontextmanager
async def wire_to(server: ApiServer) -> AsyncIterator[Wire]:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    try:
        yield Wire(reader, writer)
    finally:
        writer.close()


@pytest.fixture
async def server() -> AsyncIterator[ApiServer]:
    api = ApiServer(now=lambda: 0.0)
    await api.start()
    yield api
    await api.stop()


def head(method: str, path: str, *headers: str) -> bytes:
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: x", *headers, "", ""]).encode()


def configmap(name: str, size: int = 0) -> bytes:
    return json.dumps({"metadata": {"name": name}, "data": {"filler": "x" * size}}).encode()


def create(name: str, size: int = 0) -> bytes:
    body = configmap(name, size)
    return head("POST", CONFIGMAPS, "Content-Type: application/json", f"Content-Length: {len(body)}") + body


async def test_requests_sent_without_waiting_are_answered_in_order(server: ApiServer) -> None:
    async with wire_to(server) as wire:
        wire.send(create("a"), head("GET", f"{CONFIGMAPS}/a"), create("b", 300_000), create("c"), create("a"))
        answers = [await wire.answer() for _ in range(5)]
    assert [status for status, _ in answers] == [201, 200, 201, 201, 409]
    assert [body["metadata"].get("name") for _, body in answers] == ["a", "a", "b", "c", None]


@pytest.mark.parametrize("size", [10, 300_000])
async def test_a_request_that_arrives_in_pieces_is_work_until_it_is_answered(server: ApiServer, size: int) -> None:
    request = create("a", size)
    async with wire_to(server) as wire:
        wire.send(request[:-10])
        async with wire_to(server) as other:  # when this one is answered, what came before it has been read
            other.send(head("GET", f"{CONFIGMAPS}/none"))
            assert (await other.answer())[0] == 404
        assert server.busy()
        wire.send(request[-10:])
        status, body = await wire.answer()
        assert (status, len(body["data"]["filler"])) == (201, size)
        await done(server)


@pytest.mark.parametrize("way", ["Content-Length", "Transfer-Encoding"])
def test_watches_have_the_event_when_who_wrote_has_the_answer(way: str) -> None:
    """Tests of schedulers write, and when they have the answer count on the scheduler seeing what they wrote. The
    kernel hands over loopback traffic in the order in which it was sent; with so many watches it would show.
    """
    bearer = f"Authorization: Bearer {TOKEN}"
    with batkube() as server, ExitStack() as stack:
        address = ("127.0.0.1", int(server.url.rpartition(":")[2]))
        client, *watches = (stack.enter_context(socket.create_connection(address, 10)) for _ in range(50))
        for watch in watches:
            watch.sendall(head("GET", f"{CONFIGMAPS}?watch=1&resourceVersion=0", bearer))
        for watch in watches:
            seen = b""
            while not seen.endswith(b"\r\n\r\n"):
                seen += watch.recv(1 << 20)
            watch.setblocking(False)
        for number in range(5):
            body = configmap(f"c{number}")
            if way == "Content-Length":
                how = f"Content-Length: {len(body)}"
            else:
                how, body = "Transfer-Encoding: chunked", b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
            client.sendall(head("POST", CONFIGMAPS, bearer, "Content-Type: application/json", how) + body)
            seen = client.recv(1 << 20)
            assert seen.startswith(b"HTTP/1.1 201 ")
            for watch in reversed(watches):
                assert f'"name":"c{number}"'.encode() in watch.recv(1 << 20)  # BlockingIOError where nothing is there
            while not seen.endswith(b"}"):  # head and body may come apart
                seen += client.recv(1 << 20)


async def test_a_delete_is_answered_after_watches_had_time_to_read(
    server: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As kube-apiserver does: a test of a scheduler then lets its clock jump, and its scheduler must know by then."""
    monkeypatch.setattr("batkube.kube.http.endpoint.DELETE_LAG", 3.0)
    async with wire_to(server) as watch, wire_to(server) as wire:
        wire.send(create("a"), create("b"), head("DELETE", f"{CONFIGMAPS}/b"))
        assert [(await wire.answer())[0] for _ in range(3)] == [201, 201, 200]  # nobody watches yet
        watch.send(head("GET", f"{CONFIGMAPS}?watch=1"))
        await watch.reader.readuntil(b'"name":"a"')
        wire.send(head("DELETE", f"{CONFIGMAPS}/a"))
        answer = asyncio.ensure_future(wire.answer())
        await asyncio.wait_for(watch.reader.readuntil(b'"type":"DELETED"'), 60)
        assert not answer.done()
        assert server.busy()
        assert (await answer)[0] == 200
        await done(server)


@pytest.mark.parametrize("how", ["at once", "ASGI"])
async def test_a_delete_takes_effect_a_moment_after_it_came(
    server: ApiServer, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """As kube-apiserver's: of two pods that preempt the same victims kube-scheduler forgets one if it is too fast."""
    monkeypatch.setattr("batkube.kube.http.endpoint.DELETE_LEAD", 3.0)
    async with wire_to(server) as watch, wire_to(server) as wire, wire_to(server) as other:
        wire.send(create("a"))
        assert (await wire.answer())[0] == 201
        watch.send(head("GET", f"{CONFIGMAPS}?watch=1"))
        await watch.reader.readuntil(b'"name":"a"')
        close = [] if how == "at once" else ["Connection: close"]
        wire.send(head("DELETE", f"{CONFIGMAPS}/a", *close))
        deleted = asyncio.ensure_future(wire.answer())
        other.send(head("GET", f"{CONFIGMAPS}/a"))
        assert (await other.answer())[0] == 200
        assert server.busy()
        assert not deleted.done()
        assert (await deleted)[0] == 200
        other.send(head("GET", f"{CONFIGMAPS}/a"))
        assert (await other.answer())[0] == 404


async def test_the_next_request_of_a_connection_comes_after_the_one_before(
    server: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("batkube.kube.http.endpoint.DELETE_LEAD", 60)
    async with wire_to(server) as watch, wire_to(server) as wire:
        watch.send(head("GET", f"{CONFIGMAPS}?watch=1"))
        await watch.reader.readuntil(b"\r\n\r\n")
        wire.send(create("a"), head("DELETE", f"{CONFIGMAPS}/a"), create("a"))
        assert [(await wire.answer())[0] for _ in range(3)] == [201, 200, 201]


async def test_what_comes_after_a_refused_upgrade_is_no_request(server: ApiServer) -> None:
    """A body in a packet of its own, as clients send it."""
    async with wire_to(server) as wire:
        upgrade = ("Connection: Upgrade", "Upgrade: SPDY/3.1", "Content-Length: 2")
        wire.send(head("POST", "/api/v1/namespaces/default/pods/nothing/exec?command=ls", *upgrade))
        await wire.writer.drain()
        wire.send(b"{}")
        assert (await wire.answer())[0] == 404
        assert await asyncio.wait_for(wire.reader.read(), 60) == b""


async def test_a_body_of_unknown_length_is_read(server: ApiServer) -> None:
    body = configmap("a")
    async with wire_to(server) as wire:
        wire.send(head("POST", CONFIGMAPS, "Content-Type: application/json", "Transfer-Encoding: chunked"))
        wire.send(b"%x\r\n%s\r\n" % (len(body), body), b"0\r\n\r\n", create("b"))
        assert [(await wire.answer())[0] for _ in range(2)] == [201, 201]


async def test_a_client_that_asks_before_it_sends_the_body_is_told_to_go_on(server: ApiServer) -> None:
    body = configmap("a")
    expect = head("POST", CONFIGMAPS, "Expect: 100-continue", f"Content-Length: {len(body)}")
    async with wire_to(server) as wire:
        wire.send(expect)
        assert (await wire.answer())[0] == 100
        wire.send(body)
        assert (await wire.answer())[0] == 201


async def test_a_connection_is_closed_after_the_answer_if_the_client_wants_it(server: ApiServer) -> None:
    body = configmap("a")
    async with wire_to(server) as wire:
        wire.send(head("POST", CONFIGMAPS, "Connection: close", f"Content-Length: {len(body)}"), body)
        assert (await wire.answer())[0] == 201
        assert await asyncio.wait_for(wire.reader.read(), 60) == b""


async def test_a_body_larger_than_the_server_takes_is_refused(server: ApiServer) -> None:
    async with wire_to(server) as wire:
        wire.send(create("a", 4_000_000), create("b"))
        assert [(await wire.answer())[0] for _ in range(2)] == [413, 201]


async def test_a_method_that_nobody_knows_is_not_allowed(server: ApiServer) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(f"NONSENSE {CONFIGMAPS} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    answer = await asyncio.wait_for(reader.read(), 60)
    assert answer.startswith(b"HTTP/1.1 405 ")
    assert b'"reason":"MethodNotAllowed"' in answer
    writer.close()
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(b"\x16\x03\x01 this is no HTTP\r\n\r\n")
    assert (await asyncio.wait_for(reader.read(), 60)).startswith(b"HTTP/1.1 400 ")
    writer.close()
