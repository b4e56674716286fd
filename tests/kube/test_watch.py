"""Watches as informers use them: over HTTP, on a real socket."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import httpx
import pytest

from batkube.kube.server import ApiServer
from batkube.kube.storage.deadlines import Deadlines
from tests.waiting import wait_until_async

from .conftest import CONFIGMAPS, PODS, Clock, config_map, done, pod, watching


async def test_headers_come_before_the_first_event(server: ApiServer, client: httpx.AsyncClient) -> None:
    async with watching(client, CONFIGMAPS) as stream:
        assert stream.response.headers["content-type"] == "application/json"
        assert stream.response.headers["transfer-encoding"] == "chunked"
        await done(server)


async def test_state_first_then_changes(server: ApiServer, client: httpx.AsyncClient) -> None:
    server.create("configmaps", config_map("b"))
    server.create("configmaps", config_map("a"))
    async with watching(client, CONFIGMAPS) as stream:
        assert await stream.brief(2) == ["ADDED a", "ADDED b"]
        server.create("configmaps", config_map("c"))
        server.update("configmaps", config_map("a", {"x": "1"}))
        server.delete("configmaps", "b")
        events = [await stream.next() for _ in range(3)]
        assert [event["type"] for event in events] == ["ADDED", "MODIFIED", "DELETED"]
        assert events[1]["object"]["data"] == {"x": "1"}
        versions = [int(event["object"]["metadata"]["resourceVersion"]) for event in events]
        assert versions == sorted(versions)
        assert versions[-1] == server.store.revision


async def test_from_a_version_all_changes_since(server: ApiServer, client: httpx.AsyncClient) -> None:
    server.create("configmaps", config_map("a"))
    since = server.store.revision
    server.create("configmaps", config_map("b"))
    server.delete("configmaps", "a")
    async with watching(client, CONFIGMAPS, resourceVersion=since) as stream:
        assert await stream.brief(2) == ["ADDED b", "DELETED a"]


async def test_initial_events_end_with_a_marked_bookmark(server: ApiServer, client: httpx.AsyncClient) -> None:
    server.create("pods", pod("a"))
    informer = {
        "sendInitialEvents": "true",
        "allowWatchBookmarks": "true",
        "resourceVersionMatch": "NotOlderThan",
        "timeoutSeconds": "400",
    }
    async with watching(client, PODS, **informer) as stream:
        assert await stream.brief(1) == ["ADDED a"]
        mark = await stream.next()
        assert mark["type"] == "BOOKMARK"
        assert (mark["object"]["kind"], mark["object"]["apiVersion"]) == ("Pod", "v1")
        assert mark["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
        assert mark["object"]["metadata"]["resourceVersion"] == str(server.store.revision)
        server.create("pods", pod("b"))
        assert await stream.brief(1) == ["ADDED b"]


async def test_a_pod_that_finishes_is_deleted_for_kube_scheduler(server: ApiServer, client: httpx.AsyncClient) -> None:
    running = server.create("pods", pod("a"))
    unfinished = "status.phase!=Succeeded,status.phase!=Failed"
    async with watching(client, "/api/v1/pods", fieldSelector=unfinished) as stream:
        assert await stream.brief(1) == ["ADDED a"]
        done = {**running, "status": {**running["status"], "phase": "Succeeded"}}
        server.update("pods", done, "status")
        event = await stream.next()
        assert event["type"] == "DELETED"
        assert event["object"]["status"]["phase"] == "Pending"  # the state it was last seen in ...
        assert event["object"]["metadata"]["resourceVersion"] == str(server.store.revision)  # ... dated now


async def test_labels_enter_and_leave(server: ApiServer, client: httpx.AsyncClient) -> None:
    async with watching(client, CONFIGMAPS, labelSelector="on=1") as stream:
        server.create("configmaps", config_map("a"))
        server.update("configmaps", config_map("a", on="1"))
        server.update("configmaps", config_map("a", {"x": "1"}, on="1"))
        server.update("configmaps", config_map("a", {"x": "1"}))
        server.delete("configmaps", "a")
        server.create("configmaps", config_map("b", on="1"))
        assert await stream.brief(4) == ["ADDED a", "MODIFIED a", "DELETED a", "ADDED b"]


async def test_one_namespace_only(server: ApiServer, client: httpx.AsyncClient) -> None:
    async with watching(client, CONFIGMAPS) as stream:
        server.create("configmaps", config_map("a"), namespace="kube-system")
        server.create("configmaps", config_map("b"))
        assert await stream.brief(1) == ["ADDED b"]


async def test_a_timeout_ends_the_stream_in_order(server: ApiServer, client: httpx.AsyncClient) -> None:
    async with watching(client, CONFIGMAPS, timeoutSeconds=3, allowWatchBookmarks="true") as stream:
        server.create("configmaps", config_map("a"))
        events = await stream.rest()
    assert [event["type"] for event in events] == ["BOOKMARK", "ADDED", "BOOKMARK"]  # the first ends what there was
    assert events[2]["object"]["metadata"]["resourceVersion"] == str(server.store.revision)


async def test_a_timeout_can_count_by_a_clock_that_jumps(
    server: ApiServer, client: httpx.AsyncClient, clock: Clock
) -> None:
    deadlines = Deadlines(clock.now)
    server.end_watches_by(deadlines)
    async with (
        watching(client, CONFIGMAPS, timeoutSeconds=60) as short,
        watching(client, CONFIGMAPS, timeoutSeconds=400) as long,
    ):
        assert deadlines.next() == clock.now() + 60
        clock.seconds += 59
        assert not deadlines.pass_next()
        server.create("configmaps", config_map("a"))
        assert await short.brief(1) == ["ADDED a"]
        clock.seconds += 36_000
        assert deadlines.pass_next()
        assert not deadlines.pass_next()
        assert server.busy()  # until the end of the short one is written
        assert await short.rest() == []
        assert deadlines.next() is None
        server.create("configmaps", config_map("b"))
        assert await long.brief(2) == ["ADDED a", "ADDED b"]
    await done(server)


async def test_a_watch_that_ends_early_leaves_no_deadline(
    server: ApiServer, client: httpx.AsyncClient, clock: Clock
) -> None:
    deadlines = Deadlines(clock.now)
    server.end_watches_by(deadlines)
    async with watching(client, CONFIGMAPS, timeoutSeconds=60):
        assert deadlines.next() is not None
    await wait_until_async("the server hears of it", lambda: deadlines.next() is None)


async def test_no_connection_ends_by_the_servers_own_clock(
    server: ApiServer, client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client on the simulated clock may be silent for real hours between two of its seconds."""
    loop = asyncio.get_running_loop()
    real, offset = loop.time, 0.0
    monkeypatch.setattr(loop, "time", lambda: real() + offset)
    async with (
        httpx.AsyncClient(base_url=server.url, trust_env=False, timeout=None) as other,
        watching(other, CONFIGMAPS) as stream,
    ):
        await other.get(CONFIGMAPS)
        before = {connection.getpeername() for connection in server.connections()}
        assert len(before) == 2
        offset = 10 * 3600.0
        for _ in range(5):
            await asyncio.sleep(0.01)
        assert {connection.getpeername() for connection in server.connections()} == before
        server.create("configmaps", config_map("a"))
        assert await stream.brief(1) == ["ADDED a"]
        assert (await other.get(CONFIGMAPS)).status_code == 200
        assert {connection.getpeername() for connection in server.connections()} == before


async def test_writes_of_one_moment_leave_in_one_piece(server: ApiServer, client: httpx.AsyncClient) -> None:
    async with watching(client, CONFIGMAPS) as stream:
        for number in range(100):
            server.create("configmaps", config_map(f"c{number:02}"))
        assert server.busy()
        chunks = stream.response.aiter_raw()
        assert (await anext(chunks)).count(b'"ADDED"') == 100


async def test_stop_ends_watches_at_once(server: ApiServer, client: httpx.AsyncClient, patient_stop: None) -> None:
    async with watching(client, CONFIGMAPS) as stream, asyncio.timeout(120):
        ending = asyncio.create_task(server.stop())
        assert await stream.rest() == []
        await ending


async def test_a_client_that_leaves_costs_nothing_more(server: ApiServer, client: httpx.AsyncClient) -> None:
    async with watching(client, CONFIGMAPS):
        assert len(server.store.collection("configmaps").listeners) == 1
    await wait_until_async("nobody listens", lambda: not server.store.collection("configmaps").listeners)


async def test_metrics_count_open_watches(client: httpx.AsyncClient) -> None:
    gauge = 'apiserver_longrunning_requests{group="coordination.k8s.io",resource="leases",verb="WATCH"} 1\n'
    async with watching(client, "/apis/coordination.k8s.io/v1/leases"):
        assert gauge in (await client.get("/metrics")).text


async def deaf(server: ApiServer, path: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A watch whose client reads nothing, not even from its socket."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=1)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    await reader.read(1)
    writer.transport.pause_reading()  # type: ignore[attr-defined]
    return reader, writer


async def test_who_does_not_read_harms_nobody(server: ApiServer, client: httpx.AsyncClient) -> None:
    readers = [await deaf(server, f"{CONFIGMAPS}?watch=true") for _ in range(5)]
    listeners = server.store.collection("configmaps").listeners
    async with watching(client, CONFIGMAPS) as stream:
        server.create("configmaps", config_map("a"))
        assert await stream.brief(1) == ["ADDED a"]
        for _ in large_updates(server):
            if len(listeners) == 1:  # the deaf were dropped, whatever the buffers on the way to them hold
                break
            assert await stream.brief(100) == ["MODIFIED a"] * 100
        else:
            pytest.fail("the deaf are still served")
        assert await stream.brief(100) == ["MODIFIED a"] * 100
    for _, writer in readers:
        writer.transport.abort()


async def test_the_server_is_not_busy_with_who_does_not_read(server: ApiServer) -> None:
    """A suspended `kubectl get -w` must not look like work in progress."""
    _, writer = await deaf(server, f"{CONFIGMAPS}?watch=true")
    server.create("configmaps", config_map("a"))
    for _ in large_updates(server):
        if server.held_up():
            break
        await asyncio.sleep(0)
    assert [sock.getpeername() for sock in server.held_up()] == [writer.get_extra_info("sockname")]
    await done(server)
    writer.transport.abort()
    await wait_until_async("nothing waits to be read", lambda: not server.held_up())


async def test_the_deaf_are_told_410_when_they_listen_again(server: ApiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("batkube.kube.http.endpoint.DEAF_SECONDS", 3600.0)
    reader, writer = await deaf(server, f"{CONFIGMAPS}?watch=true")
    await _overflow(server)
    writer.transport.resume_reading()  # type: ignore[attr-defined]
    text = await _until_end(reader)
    assert b'"type":"ERROR"' in text
    assert b'"reason":"Expired"' in text
    writer.close()


async def test_who_stays_deaf_is_cut_off(server: ApiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("batkube.kube.http.endpoint.DEAF_SECONDS", 0.01)
    _, writer = await deaf(server, f"{CONFIGMAPS}?watch=true")
    await _overflow(server)
    await wait_until_async("the connection is cut", lambda: not server.connections())
    await done(server)
    writer.transport.abort()


def large_updates(server: ApiServer) -> Iterator[None]:
    """Changes the config map `a`, a hundred times each step; in the end by far more than buffers can hold."""
    text = "x" * 4000
    for step in range(400):
        for number in range(100):
            server.update("configmaps", config_map("a", {"n": f"{step} {number}", "x": text}))
        yield


async def _overflow(server: ApiServer) -> None:
    server.create("configmaps", config_map("a"))
    listeners = server.store.collection("configmaps").listeners
    for _ in large_updates(server):
        await asyncio.sleep(0)  # the server sends what the kernel takes
        if not listeners:
            return
    pytest.fail("who does not read is still served")


async def _until_end(reader: asyncio.StreamReader) -> bytes:
    pieces = []
    while True:
        piece = await asyncio.wait_for(reader.read(1 << 16), 60)
        pieces.append(piece)
        if not piece or piece.endswith(b"0\r\n\r\n"):
            return b"".join(pieces)


async def test_no_watch_ends_by_its_timeout_while_time_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("batkube.kube.http.endpoint.STANDING_SECONDS", 0.05)
    asked = 0

    def stands() -> bool:
        nonlocal asked
        asked += 1
        return asked < 4

    server = ApiServer(now=lambda: 0.0, time_stands=stands)
    await server.start()
    try:
        async with (
            httpx.AsyncClient(base_url=server.url, timeout=60, trust_env=False) as client,
            watching(client, CONFIGMAPS, timeoutSeconds=1) as stream,
        ):
            assert await stream.rest() == []
            assert asked == 4
    finally:
        await server.stop()
