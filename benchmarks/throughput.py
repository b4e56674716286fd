"""Measure how fast a real kube-scheduler binds pods, and what the API server it talks to spends on that.

All pods wait when kube-scheduler starts; a watch sees each binding. Servers take turns, on the same cores, each time
started empty.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from api_client import Connection, Endpoint, RequestError, create
from processes import Program, StartError, settle
from servers import SERVERS, Server, built_tool, started

from batkube.schedulers.kube_scheduler import command, configuration, write_configuration

PODS = "/api/v1/namespaces/default/pods"
PATIENCE = 60.0
"""Seconds without a binding after which a measurement is given up."""


@dataclass(frozen=True)
class Measurement:
    """One server, one size of cluster."""

    server: str
    nodes: int
    pods: int
    node_creation_s: float
    pod_creation_s: float
    pods_per_s: float
    """Over the time from the first binding to the last."""
    server_cpu_ms_per_pod: float
    """From the start of kube-scheduler until the server has come to rest: its start-up lists and its events are in."""
    scheduler_cpu_ms_per_pod: float
    peak_mib: float
    """Of the server, at the end of all."""


def node(number: int) -> dict[str, Any]:
    """A node of 4 cores and 32 GiB, ready."""
    resources = {"cpu": "4", "memory": "32Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": f"node-{number:04}", "labels": {"kubernetes.io/hostname": f"node-{number:04}"}},
        "status": {
            "capacity": resources,
            "allocatable": resources,
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
        },
    }


def pod(number: int) -> dict[str, Any]:
    """A pod that asks for little, so that all fit. It tolerates that nobody has taken `not-ready` from the nodes."""
    requests = {"cpu": "100m", "memory": "500Mi"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"pod-{number:05}", "labels": {"app": "benchmark"}},
        "spec": {
            "containers": [{"name": "main", "image": "none", "resources": {"requests": requests}}],
            "tolerations": [{"operator": "Exists"}],
        },
    }


def measure(name: str, nodes: int, pods: int, scheduler: Path) -> Measurement:
    """Start the server called ``name``, fill it, let kube-scheduler bind all pods. Raises StartError, RequestError."""
    with tempfile.TemporaryDirectory(prefix="batkube-benchmark-") as temporary:
        folder = Path(temporary)
        with started(name, folder) as server:
            node_creation = asyncio.run(_timed_create(server.endpoint, "/api/v1/nodes", map(node, range(nodes))))
            pod_creation = asyncio.run(_timed_create(server.endpoint, PODS, map(pod, range(pods))))
            settle(server.programs)
            config = folder / "scheduler.yaml"
            write_configuration(config, configuration(server.kubeconfig, "default-scheduler"))
            log = folder / "kube-scheduler.log"
            before = server.processor_seconds()
            bound_in, used = asyncio.run(_schedule(server, command(scheduler, config), log, pods))
            return Measurement(
                server=name,
                nodes=nodes,
                pods=pods,
                node_creation_s=round(node_creation, 2),
                pod_creation_s=round(pod_creation, 2),
                pods_per_s=round((pods - 1) / bound_in, 1),
                server_cpu_ms_per_pod=round((server.processor_seconds() - before) / pods * 1000, 3),
                scheduler_cpu_ms_per_pod=round(used / pods * 1000, 3),
                peak_mib=round(server.peak_bytes() / 2**20, 1),
            )


async def _timed_create(endpoint: Endpoint, path: str, objects: Iterator[dict[str, Any]]) -> float:
    bodies = [json.dumps(item).encode() for item in objects]
    begun = time.monotonic()
    await create(endpoint, path, bodies)
    return time.monotonic() - begun


async def _schedule(server: Server, scheduler: list[str], log: Path, pods: int) -> tuple[float, float]:
    """Seconds from the first binding to the last, and processor seconds of the scheduler."""
    events = _bindings(server.endpoint)
    with Program(scheduler, log) as program:
        times: list[float] = []
        while len(times) < pods:
            try:
                times.append(await asyncio.wait_for(anext(events), PATIENCE))
            except TimeoutError:
                program.check()
                raise StartError(f"only {len(times)} of {pods} pods were bound") from None
        settle([*server.programs, program])
        return times[-1] - times[0], program.processor_seconds()


async def _bindings(endpoint: Endpoint) -> AsyncIterator[float]:
    """Return when each binding was seen. A server may close the watch of a client that falls behind: it goes on."""
    async with Connection(endpoint) as connection:
        version = json.loads(await connection.request("GET", f"{PODS}?limit=1"))["metadata"]["resourceVersion"]
    while True:
        query = f"watch=true&fieldSelector=spec.nodeName!=&resourceVersion={version}"
        async with Connection(endpoint) as connection:
            last = b""
            async for line in connection.lines(f"{PODS}?{query}"):
                yield time.monotonic()
                last = line
            if last:
                version = json.loads(last)["object"]["metadata"]["resourceVersion"]


def print_table(measurements: list[Measurement]) -> None:
    """A table in Markdown."""
    print(
        "\n| server | nodes | pods bound per s | server CPU per pod | scheduler CPU per pod | memory | node creation |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|")
    for one in measurements:
        print(
            f"| {one.server} | {one.nodes:,} | {one.pods_per_s:.0f} | {one.server_cpu_ms_per_pod:.2f} ms "
            f"| {one.scheduler_cpu_ms_per_pod:.2f} ms | {one.peak_mib:.0f} MiB | {one.node_creation_s:.1f} s |"
        )


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", choices=SERVERS, action="append", help="default: all, in turns")
    parser.add_argument("--nodes", type=int, action="append", help="size of the cluster; default: 500 and 5000")
    parser.add_argument("--pods", type=int, default=5000, help="how many pods wait (%(default)s)")
    parser.add_argument("--repeat", type=int, default=1, help="how often everything is measured (%(default)s)")
    parser.add_argument("--scheduler", type=Path, help="a kube-scheduler; default: the one of `make tools`")
    parser.add_argument("--json", type=Path, help="write the measurements to this file, one a line")
    options = parser.parse_args()
    measurements: list[Measurement] = []
    try:
        scheduler = options.scheduler or built_tool("kube-scheduler-1.36.3")
        for _ in range(options.repeat):
            for nodes in options.nodes or (500, 5000):
                for name in options.server or SERVERS:
                    measurements.append(measure(name, nodes, options.pods, scheduler))
                    print(json.dumps(asdict(measurements[-1])), flush=True)
    except (StartError, RequestError) as error:
        print(f"throughput: {error}", file=sys.stderr)
        return 1
    if options.json:
        options.json.write_text("".join(json.dumps(asdict(one)) + "\n" for one in measurements))
    print_table(measurements)
    return 0


if __name__ == "__main__":
    sys.exit(main())
