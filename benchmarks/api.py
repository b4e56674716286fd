"""Measure an API server: the cost of single requests, the time of a write and its events, and large clusters.

`requests`: processor time of the commonest requests of a scheduler's life. `latency`: of a write, and of its event at
a watch, while 40 watches are open. `size`: memory as pods become more, and lists of the most, whole and in pages.
"""

import argparse
import asyncio
import json
import re
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from api_client import JSON_TYPE, PROTOBUF_TYPE, Connection, Endpoint, Request, RequestError, create, send
from processes import StartError, settle
from servers import SERVERS, Server, started
from throughput import PATIENCE, PODS, node, pod

from batkube.kube.codec import protobuf
from batkube.kube.codec.protobuf.decode import decode_type
from batkube.kube.codec.protobuf.values import read_fields

GO = f"{PROTOBUF_TYPE},{JSON_TYPE}"  # what Go clients accept
MERGE_PATCH = "application/strategic-merge-patch+json"
NODES = "/api/v1/nodes"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"
CONNECTIONS = 4
PAGE = 500
WATCHES = 40
MOMENT = "2026-01-01T00:00:00.000000Z"

MEASURES = ("requests", "latency", "size")

JSON = dict[str, Any]
Result = TypeVar("Result")


# -- requests


@dataclass(frozen=True)
class Series:
    """Requests of one sort. `accept` is what the client takes."""

    name: str
    requests: list[Request]
    accept: str = JSON_TYPE


def series(count: int) -> Iterator[Series]:
    """``count`` requests of each sort (fewer lists), to be sent in this order: some need what others made."""
    numbers = range(count)
    in_json, in_protobuf = [pod(number) for number in numbers], [pod(count + number) for number in numbers]
    paths = [f"{PODS}/{one['metadata']['name']}" for one in in_json]
    others = [f"{PODS}/{one['metadata']['name']}" for one in in_protobuf]
    yield Series("create a pod, JSON", [_post(PODS, one) for one in in_json])
    yield Series("create a pod, protobuf", [_post_protobuf(PODS, one) for one in in_protobuf], GO)
    bindings = [_post_protobuf(f"{path}/binding", _binding(path, number % 100)) for number, path in enumerate(paths)]
    yield Series("bind a pod, protobuf", bindings, GO)
    yield Series("create an event, protobuf", [_post_protobuf(EVENTS, _event(number)) for number in numbers], GO)
    waits = json.dumps(_unschedulable()).encode()
    statuses = [Request("PATCH", f"{path}/status", waits, MERGE_PATCH) for path in others]
    yield Series("patch the status of a pod", statuses, GO)
    yield Series("get a pod, protobuf", [Request("GET", path) for path in paths], GO)
    lists = [Request("GET", f"{PODS}?limit={PAGE}")] * (count // 20)
    yield Series(f"list {PAGE} pods, JSON", lists)
    yield Series(f"list {PAGE} pods, protobuf", lists, GO)
    yield Series("delete a pod", [Request("DELETE", path) for path in others], GO)
    beats = [
        Request("PATCH", f"{NODES}/node-{number % 100:04}/status", _heartbeat(number), MERGE_PATCH)
        for number in numbers
    ]
    yield Series("patch the status of a node", beats, GO)


def measure_requests(server: Server, count: int) -> list[tuple[str, float]]:
    """Milliseconds of processor time of the server for one request of each sort."""
    asyncio.run(create(server.endpoint, NODES, (_body(node(number)) for number in range(100))))
    spec = {"holderIdentity": "host_1", "leaseDurationSeconds": 15, "leaseTransitions": 0, "acquireTime": MOMENT}
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "scheduler"}, "spec": spec}
    asyncio.run(create(server.endpoint, LEASES, [_body(lease)]))
    found = []

    def measure(name: str, count: int, requests: Coroutine[Any, Any, None]) -> None:
        settle(server.programs)
        before = server.processor_seconds()
        asyncio.run(requests)
        found.append((name, (server.processor_seconds() - before) / count * 1000))

    for one in series(count):
        measure(one.name, len(one.requests), send(server.endpoint, one.requests, CONNECTIONS, one.accept))
    measure("update a lease, protobuf", count, _renew(server.endpoint, count))
    return found


async def _renew(endpoint: Endpoint, count: int) -> None:
    """As a leader does that says again and again that it is there: over the version that answered the last time."""
    path = f"{LEASES}/scheduler"
    async with Connection(endpoint, GO) as connection:
        lease = protobuf.decode(await connection.request("GET", path))
        for number in range(count):
            lease["spec"]["renewTime"] = f"2026-01-01T00:{number // 60 % 60:02}:{number % 60:02}.000000Z"
            body = await connection.request("PUT", path, protobuf.encode(lease), PROTOBUF_TYPE)
            lease = protobuf.decode(body)


def _body(obj: JSON) -> bytes:
    return json.dumps(obj).encode()


def _post(path: str, obj: JSON) -> Request:
    return Request("POST", path, _body(obj))


def _post_protobuf(path: str, obj: JSON) -> Request:
    return Request("POST", path, protobuf.encode(obj), PROTOBUF_TYPE)


def _binding(path: str, number: int) -> JSON:
    name = path.rpartition("/")[2]
    target = {"kind": "Node", "name": f"node-{number:04}"}
    return {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name, "namespace": "default"}, "target": target}


def _event(number: int) -> JSON:
    """As kube-scheduler tells of a binding."""
    name = f"pod-{number:05}"
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": f"{name}.{number:016x}", "namespace": "default"},
        "eventTime": MOMENT,
        "reportingController": "default-scheduler",
        "reportingInstance": "default-scheduler-host",
        "action": "Binding",
        "reason": "Scheduled",
        "type": "Normal",
        "note": f"Successfully assigned default/{name} to node-0000",
        "regarding": {"apiVersion": "v1", "kind": "Pod", "namespace": "default", "name": name, "uid": f"{number:036x}"},
    }


def _unschedulable() -> JSON:
    """As kube-scheduler says it of a pod that fits nowhere."""
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "0/100 nodes are available: 100 Insufficient cpu.",
        "lastTransitionTime": MOMENT[:19] + "Z",
    }
    return {"status": {"$setElementOrder/conditions": [{"type": "PodScheduled"}], "conditions": [condition]}}


def _heartbeat(number: int) -> bytes:
    """As a kubelet says that it is there."""
    beat = f"2026-01-01T00:{number // 60 % 60:02}:{number % 60:02}Z"
    conditions = [
        {"type": kind, "status": "True" if kind == "Ready" else "False", "reason": "Kubelet", "lastHeartbeatTime": beat}
        for kind in ("MemoryPressure", "DiskPressure", "PIDPressure", "Ready")
    ]
    order = [{"type": condition["type"]} for condition in conditions]
    return _body({"status": {"$setElementOrder/conditions": order, "conditions": conditions}})


# -- latency


@dataclass(frozen=True)
class Latency:
    """Milliseconds from the moment a write is sent, at the median and at the 99th percentile."""

    answer_p50: float
    answer_p99: float
    event_p50: float
    event_p99: float


def measure_latency(server: Server, count: int, rate: float) -> Latency:
    """``count`` pods are created, ``rate`` a second, while WATCHES of all pods are open, half of them in protobuf."""
    return asyncio.run(_latency(server.endpoint, count, rate))


async def _latency(endpoint: Endpoint, count: int, rate: float) -> Latency:
    arrived: list[float] = []
    all_arrived = asyncio.Event()

    async def observe(chunks: AsyncIterator[bytes]) -> None:
        async for chunk in chunks:
            arrived.extend([time.perf_counter()] * chunk.count(b"\n"))
            if len(arrived) == count:
                all_arrived.set()

    watches = [Connection(endpoint, (JSON_TYPE, GO)[number % 2]) for number in range(WATCHES)]
    observed = watches[WATCHES // 2]  # neither the first nor the last to be served; its events are lines
    for watch in watches:
        chunks = await watch.chunks(f"{PODS}?watch=true")
        if watch is observed:
            task = asyncio.create_task(observe(chunks))
        else:
            watch.ignore()
    sent, answered = [], []
    async with Connection(endpoint) as writer:
        begun = time.perf_counter()
        for number in range(count):
            await asyncio.sleep(max(0.0, begun + number / rate - time.perf_counter()))
            body = _body(pod(number))
            sent.append(time.perf_counter())
            await writer.request("POST", PODS, body)
            answered.append(time.perf_counter())
        await asyncio.wait_for(all_arrived.wait(), PATIENCE)
    task.cancel()
    for watch in watches:
        watch.close()
    answers = _percentiles(end - start for start, end in zip(sent, answered, strict=True))
    events = _percentiles(end - start for start, end in zip(sent, arrived, strict=True))
    return Latency(*answers, *events)


def _percentiles(seconds: Iterable[float]) -> tuple[float, float]:
    """Median and 99th percentile, in milliseconds."""
    cuts = statistics.quantiles((one * 1000 for one in seconds), n=100)
    return cuts[49], cuts[98]


# -- size


@dataclass(frozen=True)
class Listing:
    """One way to list all pods."""

    name: str
    seconds: float
    processor_seconds: float
    bytes: int
    longest_wait: float
    """Seconds that another client waited for a single pod meanwhile, at most."""


@dataclass(frozen=True)
class Size:
    """A cluster of so many nodes and pods. Memory is what is resident, in bytes; its peak comes with the lists."""

    nodes: int
    pods: int
    memory: int
    peak: int
    listings: tuple[Listing, ...] = ()


def measure_size(server: Server, nodes: int, steps: list[int]) -> Iterator[Size]:
    """Memory with no pods, and with as many as each of ``steps`` says; at the last, lists."""
    asyncio.run(create(server.endpoint, NODES, (_body(node(number)) for number in range(nodes))))
    settle(server.programs)
    yield Size(nodes, 0, server.resident_bytes(), server.peak_bytes())
    made = 0
    for step in steps:
        asyncio.run(create(server.endpoint, PODS, (_body(pod(number)) for number in range(made, step))))
        made = step
        settle(server.programs)
        memory = server.resident_bytes()
        listings = tuple(_listings(server)) if step == steps[-1] else ()
        yield Size(nodes, made, memory, server.peak_bytes(), listings)


def _listings(server: Server) -> Iterator[Listing]:
    for name, accept in (("JSON", JSON_TYPE), ("protobuf", GO)):
        for turn in ("whole", "whole, again", f"in pages of {PAGE}"):
            before, begun = server.processor_seconds(), time.monotonic()
            size, wait = asyncio.run(_listed(server.endpoint, accept, PAGE if "pages" in turn else 0))
            took = time.monotonic() - begun
            yield Listing(f"{name}, {turn}", took, server.processor_seconds() - before, size, wait)


async def _listed(endpoint: Endpoint, accept: str, limit: int) -> tuple[int, float]:
    """Bytes of a whole list, and how long others waited meanwhile."""
    waits = [0.0]

    async def others() -> None:
        async with Connection(endpoint) as connection:
            while True:
                begun = time.monotonic()
                await connection.request("GET", f"{PODS}/pod-00000")
                waits.append(time.monotonic() - begun)
                await asyncio.sleep(0.005)

    task = asyncio.create_task(others())
    size, path = 0, f"{PODS}?limit={limit}"
    async with Connection(endpoint, accept) as connection:
        while path:
            body = await connection.request("GET", path)
            size += len(body)
            token = _continue_of(body) if limit else ""
            path = f"{PODS}?limit={limit}&continue={token}" if token else ""
    task.cancel()
    return size, max(waits)


def _continue_of(body: bytes) -> str:
    """The token with which the next page is asked for, "" on the last."""
    if not body.startswith(b"k8s\0"):
        found = re.search(rb'"continue":"([^"]*)"', body[:2000])
        return found[1].decode() if found else ""
    raw = read_fields(body, 4, len(body))[2]
    header: str = decode_type("meta/v1.ListMeta", read_fields(raw, 0, len(raw))[1]).get("continue", "")
    return header


# -- tables


def print_requests(found: dict[str, list[tuple[str, float]]]) -> None:
    """Rows are requests, columns servers."""
    _print_head("request", *(f"{name}: CPU" for name in found))
    for row in zip(*found.values(), strict=True):
        print(f"| {row[0][0]} | " + " | ".join(f"{milliseconds:.2f} ms" for _, milliseconds in row) + " |")


def print_latencies(found: dict[str, Latency]) -> None:
    """A row for each server."""
    _print_head("server", "answer, p50", "answer, p99", "event, p50", "event, p99")
    for name, one in found.items():
        cells = (one.answer_p50, one.answer_p99, one.event_p50, one.event_p99)
        print(f"| {name} | " + " | ".join(f"{cell:.2f} ms" for cell in cells) + " |")


def print_sizes(found: dict[str, list[Size]]) -> None:
    """Memory as pods become more; then lists of the most pods."""
    _print_head("server", "nodes", "pods", "memory", "each pod more", "peak, lists included")
    for name, sizes in found.items():
        for before, one in zip([sizes[0], *sizes], sizes, strict=False):
            more = one.pods - before.pods
            each = f"{(one.memory - before.memory) / more / 1024:.1f} KiB" if more else ""
            peak = f"{one.peak / 2**20:,.0f} MiB" if one.listings else ""
            print(f"| {name} | {one.nodes:,} | {one.pods:,} | {one.memory / 2**20:,.0f} MiB | {each} | {peak} |")
    _print_head("server", "list", "time", "CPU", "size", "rate", "longest wait of others")
    for name, sizes in found.items():
        for way in sizes[-1].listings:
            rate, wait = way.bytes / way.seconds / 1e6, way.longest_wait * 1000
            cells = (f"{way.seconds:.2f} s", f"{way.processor_seconds:.2f} s", f"{way.bytes / 1e6:.1f} MB")
            print(f"| {name} | {way.name} | " + " | ".join(cells) + f" | {rate:,.0f} MB/s | {wait:,.0f} ms |")


def _print_head(first: str, *others: str) -> None:
    print(f"\n| {first} | " + " | ".join(others) + " |")
    print("|---|" + "---:|" * len(others), flush=True)


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", choices=SERVERS, action="append", help="default: all, in turns")
    parser.add_argument("--measure", choices=MEASURES, action="append", help="default: all")
    parser.add_argument("--requests", type=int, default=2000, help="of each sort, and for latency (%(default)s)")
    parser.add_argument("--rate", type=float, default=100.0, help="writes a second, for latency (%(default)s)")
    parser.add_argument("--nodes", type=int, default=5000, help="for size (%(default)s)")
    parser.add_argument("--pods", type=int, action="append", help="for size; default: 10000, 30000 and 50000")
    options = parser.parse_args()
    steps = sorted(options.pods or (10_000, 30_000, 50_000))

    def each(measure: Callable[[Server], Result]) -> dict[str, Result]:
        found = {}
        for name in options.server or SERVERS:
            with (
                tempfile.TemporaryDirectory(prefix="batkube-benchmark-") as folder,
                started(name, Path(folder)) as server,
            ):
                found[name] = measure(server)
        return found

    measures = options.measure or MEASURES
    try:
        if "requests" in measures:
            print_requests(each(lambda server: measure_requests(server, options.requests)))
        if "latency" in measures:
            print_latencies(each(lambda server: measure_latency(server, options.requests, options.rate)))
        if "size" in measures:
            print_sizes(each(lambda server: list(measure_size(server, options.nodes, steps))))
    except (StartError, RequestError, OSError) as error:
        print(f"api: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
