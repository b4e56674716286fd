"""The proof: the stock kube-scheduler, leader election on, through hours of simulated time."""

import asyncio
import heapq
import os
from pathlib import Path

import yaml

from batkube.clock.launch import launch
from batkube.clock.oracle import IdleOracle
from batkube.clock.simulated import SimulatedClock
from batkube.kube.server import ApiServer
from batkube.schedulers.under_test import DETERMINISM

from ..conftest import BuiltTool

EPOCH = 1_577_836_800.0
PODS = 20
HOUR = 3600.0


def kubeconfig(url: str) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": url}}],
        "users": [{"name": "u", "user": {}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }


def node(name: str) -> dict[str, object]:
    amounts = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    status = {"capacity": amounts, "allocatable": amounts, "conditions": [{"type": "Ready", "status": "True"}]}
    return {"metadata": {"name": name}, "status": status}


def pod(name: str) -> dict[str, object]:
    container = {"name": "c", "image": "x", "resources": {"requests": {"cpu": "1"}}}
    return {"metadata": {"name": name}, "spec": {"containers": [container]}}


async def simulate(binary: Path, folder: Path) -> tuple[list[tuple[str, str]], list[float], float, str]:
    """One pod arrives every 20 minutes and stays for an hour: (pod, node) bound in order, delays, end, and the log."""
    clock: SimulatedClock | None = None
    server = ApiServer(now=lambda: EPOCH + (clock.now if clock else 0.0))
    await server.start()
    config = folder / "config.yaml"
    (folder / "kubeconfig").write_text(yaml.safe_dump(kubeconfig(server.url)))
    connection = {"kubeconfig": str(folder / "kubeconfig"), "qps": 100000, "burst": 100000}
    kind = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    config.write_text(yaml.safe_dump({**kind, "clientConnection": connection}))
    for number in range(4):
        created = server.create("nodes", node(f"n{number}"))
        untainted = {key: value for key, value in created["spec"].items() if key != "taints"}
        server.update("nodes", {**created, "spec": untainted})

    oracle = IdleOracle(server)
    clock = SimulatedClock(EPOCH, oracle)
    with (folder / "log").open("wb") as log:
        command = [str(binary), "--config", str(config), "--secure-port=0"]
        process = await launch(command, env={**os.environ, **DETERMINISM}, stdout=log, clock=clock)
    oracle.add(process.pid)
    events = [(60.0 + number * HOUR / 3, "create", f"p{number}") for number in range(PODS)]
    waiting: dict[str, float] = {}
    bound, delays = [], []
    try:
        while events or waiting:
            verdict = await clock.wait_for_quiescence(timeout=120)
            assert verdict.idle, verdict.reason
            for name in list(waiting):
                where = server.get("pods", name)["spec"].get("nodeName")
                if where:
                    bound.append((name, where))
                    delays.append(clock.now - waiting.pop(name))
                    heapq.heappush(events, (clock.now + HOUR, "delete", name))
            deadline, event = clock.next_deadline(), events[0][0] if events else None
            # While no pod waits, and once it has started, its own timers change nothing.
            skip = not waiting and clock.now > 30
            dates = [date for date in (None if skip else deadline, event) if date is not None]
            clock.set(min(dates))
            while events and events[0][0] <= clock.now:
                date, what, name = heapq.heappop(events)
                if what == "create":
                    server.create("pods", pod(name))
                    waiting[name] = date
                else:
                    server.delete("pods", name, grace_seconds=0)
        end = clock.now
    finally:
        process.kill()
        await process.wait()
        oracle.close()
        await server.stop()
        clock.close()
    return bound, delays, end, (folder / "log").read_text()


async def test_every_pod_is_bound_when_it_arrives(built_tool: BuiltTool, tmp_path: Path) -> None:
    work = simulate(built_tool("kube-scheduler-1.36.3"), tmp_path)
    bound, delays, end, log = await asyncio.wait_for(work, 900)
    assert [name for name, _ in bound] == [f"p{number}" for number in range(PODS)]
    assert max(delays) < 0.02
    assert end > PODS / 3 * HOUR
    assert "lost" not in log  # the lease
    assert "I0101 00:00:00" in log  # it believes that the year begins
