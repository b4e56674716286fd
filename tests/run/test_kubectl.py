"""kubectl, as people use it on pods and nodes, against a server that plays cluster."""

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tests.run.test_serve import PLATFORM, Serve, serve
from tests.waiting import wait_until

__all__ = ["serve"]  # a fixture

Kubectl = Callable[..., str]

POD = """
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  schedulerName: nobody
  containers:
  - name: c
    image: nginx
    resources: {requests: {cpu: 100m}}
"""


@pytest.fixture
def cluster(serve: Callable[..., Serve], tmp_path: Path) -> Iterator[Serve]:
    """A server on which a simulation is under way: 16 nodes, and a job whose pod nobody places."""
    server = serve("--patience", "600", "--platform", str(PLATFORM))
    workload = tmp_path / "w.json"
    job = {"id": "waits", "subtime": 0, "res": 1, "profile": "p", "scheduler": "nobody"}
    workload.write_text(
        json.dumps({"nb_res": 1, "jobs": [job], "profiles": {"p": {"type": "delay", "delay": 9, "memory": "1Gi"}}})
    )
    with server.batsim(PLATFORM, workload), httpx.Client(base_url=server.url, timeout=60, trust_env=False) as client:
        # The simulation goes on once somebody who might be a scheduler has asked for pods.
        client.get("/api/v1/pods")
        wait_until("the job's submission", lambda: client.get("/batkube/v1/state").json()["jobs"]["waiting"] == 1)
        yield server


@pytest.fixture(params=["kubectl-1.36.3"])
def kubectl(
    request: pytest.FixtureRequest, cluster: Serve, built_tool: Callable[[str], Path], tmp_path: Path
) -> Kubectl:
    program = built_tool(request.param)
    env = {**os.environ, "KUBECONFIG": str(cluster.out / "kubeconfig"), "HOME": str(tmp_path)}

    def run(*words: str, stdin: str = "") -> str:
        done = subprocess.run([str(program), *words], input=stdin, capture_output=True, text=True, env=env, timeout=120)
        assert done.returncode == 0, f"kubectl {' '.join(words)}: {done.stderr}"
        return done.stdout

    return run


def table(text: str) -> list[dict[str, str]]:
    """Return what kubectl prints, row by row; columns are where the header has them."""
    header, *lines = text.splitlines()
    names = re.split(r" {2,}", header.strip())
    starts = [header.index(name) for name in names] + [None]
    return [
        {name: line[begin:end].strip() for name, begin, end in zip(names, starts, starts[1:], strict=False)}
        for line in lines
    ]


def test_nodes_and_pods_as_people_look_at_them(cluster: Serve, kubectl: Kubectl) -> None:
    nodes = table(kubectl("get", "nodes"))
    assert [row["NAME"] for row in nodes] == [f"{rack}{index}" for rack in "ab" for index in range(8)]
    assert {row["STATUS"] for row in nodes} == {"Ready"}
    wide = table(kubectl("get", "nodes", "-o", "wide"))
    assert wide[0]["CONTAINER-RUNTIME"] == "batsim://"
    (pod,) = table(kubectl("get", "pods"))
    assert (pod["NAME"], pod["READY"], pod["STATUS"], pod["RESTARTS"]) == ("w0-waits", "0/1", "Pending", "0")
    # Ages are simulated ones: no simulated time has passed.
    assert pod["AGE"] == "0s"
    (pod,) = table(kubectl("get", "pods", "-o", "wide"))
    assert (pod["NODE"], pod["IP"]) == ("<none>", "<none>")
    assert "w0-waits" in kubectl("get", "pods", "-o", "yaml")
    assert kubectl("get", "pods", "-A", "-o", "name") == "pod/w0-waits\n"
    assert kubectl("get", "pods", "-l", "batkube.io/job=w0-waits", "-o", "jsonpath={.items[*].spec.schedulerName}") == (
        "nobody"
    )


def test_describe(cluster: Serve, kubectl: Kubectl) -> None:
    described = kubectl("describe", "node", "a0")
    assert "topology.kubernetes.io/zone=rack-a" in described
    assert "memory:  4Gi" in described or "memory:             4Gi" in described
    described = kubectl("describe", "pod", "w0-waits")
    assert "batkube.io/job-id: w0!waits" in described
    assert "Status:           Pending" in described or "Status:       Pending" in described
    assert "memory:" in described


def test_apply_label_and_delete(cluster: Serve, kubectl: Kubectl) -> None:
    assert kubectl("apply", "-f", "-", stdin=POD) == "pod/web created\n"
    assert kubectl("apply", "-f", "-", stdin=POD) == "pod/web unchanged\n"
    assert kubectl("apply", "-f", "-", stdin=POD.replace("app: web", "app: shop")) == "pod/web configured\n"
    assert kubectl("label", "pod", "web", "tier=front") == "pod/web labeled\n"
    labels = kubectl("get", "pod", "web", "-o", "jsonpath={.metadata.labels}")
    assert json.loads(labels) == {"app": "shop", "tier": "front"}
    assert kubectl("label", "node", "a0", "disk=ssd") == "node/a0 labeled\n"
    assert [row["NAME"] for row in table(kubectl("get", "nodes", "-l", "disk=ssd"))] == ["a0"]
    assert kubectl("delete", "pod", "web") in ('pod "web" deleted\n', 'pod "web" deleted from default namespace\n')
    assert "web" not in kubectl("get", "pods", "-o", "name")


def test_watch_shows_changes_as_they_come(
    cluster: Serve, kubectl: Kubectl, built_tool: Callable[[str], Path], tmp_path: Path
) -> None:
    env = {**os.environ, "KUBECONFIG": str(cluster.out / "kubeconfig"), "HOME": str(tmp_path)}
    words = [str(built_tool("kubectl-1.36.3")), "get", "pods", "-w", "--output-watch-events", "-l", "app"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=env) as watching:
        assert watching.stdout is not None
        try:
            kubectl("apply", "-f", "-", stdin=POD)
            assert watching.stdout.readline().split()[:2] == ["EVENT", "NAME"]
            assert watching.stdout.readline().split()[:2] == ["ADDED", "web"]
            kubectl("delete", "pod", "web")
            assert "DELETED" in {watching.stdout.readline().split()[0] for _ in range(2)}
        finally:
            watching.kill()


def test_deleting_a_jobs_pod_ends_the_job(cluster: Serve, kubectl: Kubectl) -> None:
    kubectl("delete", "pod", "w0-waits")
    cluster.finished(1)
    run = json.loads((cluster.out / "simulation-1" / "run.json").read_text())
    assert run["rejected"] == {"w0!waits": "pod w0-waits was deleted before the job started"}
