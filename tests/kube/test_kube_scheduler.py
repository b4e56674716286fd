"""The proof: an unmodified kube-scheduler, with its own defaults, places pods."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from batkube.kube.authentication.kubeconfig import kubeconfig
from batkube.kube.server import ApiServer
from tests.waiting import wait_until_async

from ..conftest import BuiltTool
from .conftest import pod


def node(name: str, cpu: str) -> dict[str, Any]:
    resources = {"cpu": cpu, "memory": "8Gi", "pods": "110"}
    return {
        "metadata": {"name": name},
        "status": {
            "capacity": resources,
            "allocatable": resources,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def ready(server: ApiServer, name: str) -> None:
    """Take the taint away that admission gives to new nodes: what the node controller does."""
    made = server.get("nodes", name)
    server.update("nodes", {**made, "spec": {}})


@pytest.mark.parametrize("version", ["1.34.3", "1.36.3"])
async def test_it_binds_what_fits_and_says_what_does_not(
    server: ApiServer, built_tool: BuiltTool, tmp_path: Path, version: str
) -> None:
    program = built_tool(f"kube-scheduler-{version}")
    (tmp_path / "kubeconfig").write_text(yaml.safe_dump(kubeconfig(server.url)))
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        "clientConnection": {"kubeconfig": str(tmp_path / "kubeconfig"), "qps": 5000, "burst": 5000},
    }
    (tmp_path / "config").write_text(yaml.safe_dump(config))
    for name in ("n1", "n2"):
        server.create("nodes", node(name, "4"))
        ready(server, name)
    bound_nodes: list[str] = []
    server.bind_admission.append(lambda its_pod, its_node: bound_nodes.append(its_node))
    log = (tmp_path / "log").open("w")
    scheduler = await asyncio.create_subprocess_exec(
        program,
        "--config",
        tmp_path / "config",
        "--secure-port=0",
        stdout=log,
        stderr=log,
        env={**os.environ, "GOMAXPROCS": "1"},
    )
    try:
        for number in range(6):
            wish = pod(f"p{number}")
            wish["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
            server.create("pods", wish)
        big = pod("big")
        big["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "100"}}
        server.create("pods", big)
        await wait_until_async(
            "six pods are bound", lambda: sum(bool(p["spec"].get("nodeName")) for p in server.list("pods")) == 6
        )
        await wait_until_async("the big pod is refused", lambda: "conditions" in server.get("pods", "big")["status"])
        condition = server.get("pods", "big")["status"]["conditions"][0]
        assert (condition["type"], condition["status"], condition["reason"]) == (
            "PodScheduled",
            "False",
            "Unschedulable",
        )
        assert sorted(bound_nodes) == ["n1"] * 3 + ["n2"] * 3
        await wait_until_async(
            "six events tell of bindings", lambda: sum(e["reason"] == "Scheduled" for e in server.list("events")) == 6
        )
    finally:
        scheduler.terminate()
        await scheduler.wait()
        log.close()
