"""Two hundred watches of pods that change as fast as the server takes it; the clients of twenty never read.

The server is a process of its own, as users start it.
"""

from __future__ import annotations

import asyncio
import re
import socket
import struct
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import suppress
from functools import cache
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import orjson
import pytest
from api_client import Connection, Endpoint
from servers import Server, started
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT

from batkube.kube.codec.protobuf.decode import decode_type
from batkube.kube.codec.protobuf.values import read_fields
from batkube.kube.storage.store import REMEMBERED
from batkube.kube.storage.watch import BATCH_BYTES, QUEUE_LIMIT
from tests.waiting import wait_until_async

from .churn import TEAMS, Event, Scope, Truth, Writer, churn, scopes

JSON = dict[str, Any]

READING, LATE, DEAF = 160, 20, 20
KEPT = 4
"""Of so many watches that read one does until the deaf are given up: in four times as many changes as before."""
WRITERS = 4

PROTOBUF = "application/vnd.kubernetes.protobuf"
METADATA = "as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1"
FORMS = ("application/json", PROTOBUF, f"application/json;{METADATA}", f"{PROTOBUF};{METADATA}", TABLE)

BOOKMARKS = "&allowWatchBookmarks=true"
STARTS = ("", f"&resourceVersion=0{BOOKMARKS}", f"&sendInitialEvents=true&resourceVersionMatch=NotOlderThan{BOOKMARKS}")

# Bytes. A version of these pods is 8,400 as a dictionary and at most 3,500 in any form.
VERSION, FORM, QUEUED = 10_000, 4_000, 80


class Watch:
    """A watch whose client reads."""

    def __init__(self, endpoint: Endpoint, scope: Scope, form: str, start: str) -> None:
        self.scope = scope
        self.start = start
        self.events: list[Event] = []
        self.marked: int | None = None  # how many events came before the bookmark that ends the initial ones
        self.bodies: dict[int, bytes] = {}  # by revision, where the form is JSON
        self._form = form
        self._connection = Connection(endpoint, accept=form)
        self._reading: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """The head of the answer has come when this returns."""
        chunks = await self._connection.chunks(f"{self.scope.path}?watch=true{self.start}{self.scope.query}")
        self._reading = asyncio.create_task(self._read(chunks))

    async def close(self) -> None:
        """Leave without a word, as clients do. Raises what went wrong meanwhile."""
        assert self._reading is not None
        self._reading.cancel()
        with suppress(asyncio.CancelledError):
            await self._reading
        self._connection.close()

    async def has(self, count: int) -> bool:
        """So many events have come. Raises what went wrong meanwhile."""
        if self._reading is not None and self._reading.done():
            await self._reading
        return len(self.events) >= count

    async def _read(self, chunks: AsyncIterator[bytes]) -> None:
        rest, take = b"", self._take_protobuf if self._form.startswith(PROTOBUF) else self._take_json
        async for chunk in chunks:
            rest += chunk
            position = 0
            for position in take(rest):  # noqa: B007
                pass
            rest = rest[position:]

    def _take_protobuf(self, data: bytes) -> Iterator[int]:
        """Yield where each whole event ends."""
        start, total = 0, len(data)
        while total >= start + 4 and total >= (end := start + 4 + struct.unpack_from(">I", data, start)[0]):
            event = read_fields(data, start + 4, end)
            body = read_fields(event[2], 0, len(event[2]))[1]
            raw = read_fields(body, 4, len(body))[2]
            self._take(event[1].decode(), _metadata(read_fields(raw, 0, len(raw))[1]))
            start = end
            yield end

    def _take_json(self, data: bytes) -> Iterator[int]:
        start = 0
        while (end := data.find(b"\n", start) + 1) > 0:
            line = data[start:end]
            event = orjson.loads(line)
            obj = event["object"]
            if self._form == TABLE:
                (row,) = obj["rows"]
                obj = row["object"]
            metadata = obj["metadata"]
            if self._form == FORMS[0] and event["type"] in ("ADDED", "MODIFIED"):
                self.bodies[revision_of(metadata)] = line[line.index(b'"object":') + 9 : -2]
            self._take(event["type"], metadata)
            start = end
            yield end

    def _take(self, kind: str, metadata: JSON) -> None:
        if kind == "BOOKMARK":
            assert metadata["annotations"] == {"k8s.io/initial-events-end": "true"}
            self.marked = len(self.events)
        else:
            self.events.append((kind, path_of(metadata), revision_of(metadata)))


class DeafWatch:
    """A watch of all pods whose client reads nothing behind the head of the answer."""

    def __init__(self, endpoint: Endpoint, form: str) -> None:
        self._socket = socket.create_connection(("127.0.0.1", int(endpoint.url.rpartition(":")[2])), timeout=60)
        request = f"GET /api/v1/pods?watch=true&resourceVersion=0 HTTP/1.1\r\nHost: x\r\nAccept: {form}\r\n\r\n"
        self._socket.sendall(request.encode())
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self._socket.recv(1)
        assert head.startswith(b"HTTP/1.1 200 ")

    def wait_for_end(self) -> None:
        """Behind what had come, and was not read, is the end of the connection. TimeoutError where it is not."""
        with suppress(ConnectionResetError):
            while self._socket.recv(1 << 20):
                pass

    def close(self) -> None:
        self._socket.close()


class Figures:
    """Figures of the server, from itself and from the kernel."""

    def __init__(self, server: Server) -> None:
        self._process = Path(f"/proc/{server.programs[0].pid}")
        self._connection = Connection(server.endpoint)

    async def open_watches(self) -> int:
        return await self._metric('apiserver_longrunning_requests{group="",resource="pods",verb="WATCH"}')

    async def given_up(self) -> int:
        """Watches that were ended since nobody read them."""
        return await self._metric('apiserver_terminated_watchers_total{group="",resource="pods"}')

    async def sockets(self) -> int:
        """Return how many the process holds."""
        held = 0
        for entry in (self._process / "fd").iterdir():
            with suppress(OSError):  # closed meanwhile
                held += str(entry.readlink()).startswith("socket:")
        return held

    def close(self) -> None:
        self._connection.close()

    async def _metric(self, name: str) -> int:
        text = (await self._connection.request("GET", "/metrics")).decode()
        found = re.search(f"^{re.escape(name)} (\\d+)$", text, re.MULTILINE)
        return int(found[1]) if found else 0


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with started("batkube", tmp_path) as running:
        yield running


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory, processor time and sockets of the server are from /proc")
async def test_watches_tell_all_and_in_order_while_some_never_read(server: Server) -> None:
    endpoint, figures, truth = server.endpoint, Figures(server), Truth()
    assert await figures.open_watches() == 0
    sockets = await figures.sockets()
    admin = Connection(endpoint)
    for team in TEAMS:
        await admin.request("POST", "/api/v1/namespaces", orjson.dumps({"metadata": {"name": team}}))
    writers = [Writer(endpoint, number, truth) for number in range(WRITERS)]
    await churn(writers, lambda: len(truth) >= 300)
    memory = server.peak_bytes()

    async def cost(changes: int) -> float:
        """Processor time of the server for one of so many changes, in seconds."""
        before, wanted = server.processor_seconds(), len(truth) + changes
        await churn(writers, lambda: len(truth) >= wanted)
        return (server.processor_seconds() - before) / changes

    begin = truth.revision
    kinds = zip(cycle(scopes()), cycle(FORMS), cycle(STARTS), strict=False)
    reading = []
    for scope, form, start in islice(kinds, READING):
        reading.append(Watch(endpoint, scope, form, start))
        await reading[-1].open()
    also_reading = [Watch(endpoint, scopes()[0], form, STARTS[1]) for form in islice(cycle(FORMS), DEAF)]
    for watch in also_reading:
        await watch.open()
    cost_while_all_read = await cost(1000)
    for watch in also_reading:
        await watch.close()

    deaf = [DeafWatch(endpoint, form) for form in islice(cycle(FORMS), DEAF)]
    # Who does not read delays no write; twice the time for the same is seen where others use the machine's caches.
    assert await cost(1000) < 3 * cost_while_all_read

    late = [Watch(endpoint, scope, form, f"&resourceVersion={begin}") for scope, form, _ in islice(kinds, LATE)]
    for watch in late:
        await watch.open()

    async def check(watches: list[Watch]) -> None:
        """Close the watches when all has come that was written so far: it is what they must tell, in order."""
        upto = truth.revision
        lists: dict[Scope, list[tuple[str, int]]] = {}
        pods_of = cache(lambda scope: [("ADDED", pod.path, pod.revision) for pod in truth.pods(scope.takes, begin)])
        changes_of = cache(lambda scope: truth.events(scope.takes, begin, upto))
        for watch in watches:
            pods = pods_of(watch.scope)
            initial = [] if watch in late else pods
            expected = initial + changes_of(watch.scope)
            await wait_until_async("all has come", lambda: watch.has(len(expected)))  # noqa: B023
            await watch.close()
            assert watch.events == expected
            assert watch.marked == (len(initial) if watch.start in STARTS[1:] else None)
            assert all(truth.body(revision) in (body, None) for revision, body in watch.bodies.items())
            seen = pods_after(pods + watch.events if watch in late else watch.events)
            if watch.scope not in lists:
                listed = orjson.loads(await admin.request("GET", f"{watch.scope.path}?{watch.scope.query}"))["items"]
                lists[watch.scope] = [(path_of(pod["metadata"]), revision_of(pod["metadata"])) for pod in listed]
            assert seen == lists[watch.scope]

    kept = reading[::KEPT]
    await check([watch for watch in reading if watch not in kept])
    await wait_until_async(
        "those that have left are not served any more", lambda: holds(figures.open_watches, len(kept) + LATE + DEAF)
    )
    while await figures.given_up() < DEAF:
        wanted = len(truth) + 500
        await churn(writers, lambda: len(truth) >= wanted)  # noqa: B023
        # What is not read waits in the queue; or in buffers of kernel and server, which are smaller.
        assert len(truth) < 2 * QUEUE_LIMIT
    await wait_until_async("only those that read are served", lambda: holds(figures.open_watches, len(kept) + LATE))

    await check(kept + late)
    await wait_until_async("no watch is left", lambda: holds(figures.open_watches, 0))
    admin.close()
    for writer in writers:
        writer.close()
    await wait_until_async("those are cut off that have not closed themselves", lambda: holds(figures.sockets, sockets))
    for unread in deaf:
        unread.wait_for_end()
        unread.close()

    # Versions are shared by history and queues; bytes are kept of the newest of each pod and of some of the past.
    left = len(truth.pods(scopes()[0].takes, truth.revision))
    history = len(truth) * VERSION + (REMEMBERED + left) * len(FORMS) * FORM
    buffers = BATCH_BYTES + HIGH_WATER_LIMIT + FORM
    watches = DEAF * (QUEUE_LIMIT * QUEUED + buffers) + (READING + LATE) * buffers
    assert server.peak_bytes() - memory < history + watches
    figures.close()


def _metadata(message: bytes) -> JSON:
    """Decode what is compared of the metadata of a pod, which is no more than names and revision; of bookmarks all."""
    fields = read_fields(message, 0, len(message))
    if not fields[1]:
        return decode_type("meta/v1.ObjectMeta", message)
    return {"name": fields[1].decode(), "namespace": fields[3].decode(), "resourceVersion": fields[6].decode()}


def path_of(metadata: JSON) -> str:
    return f"{metadata['namespace']}/{metadata['name']}"


def revision_of(metadata: JSON) -> int:
    return int(metadata["resourceVersion"])


async def holds(figure: Callable[[], Awaitable[int]], value: int) -> bool:
    return await figure() == value


def pods_after(events: list[Event]) -> list[tuple[str, int]]:
    """Return what an informer has of these events, in the order of a list."""
    found: dict[str, int] = {}
    for kind, path, revision in events:
        if kind == "ADDED":
            assert path not in found
        if kind == "DELETED":
            del found[path]
        else:
            found[path] = revision
    return sorted(found.items())
