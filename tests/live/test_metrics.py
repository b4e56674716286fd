"""The simulated cluster as Prometheus and kubectl see it."""

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tests.live.conftest import ROOT, Running
from tests.waiting import wait_until

DASHBOARD = ROOT / "examples/grafana/dashboard.json"
_SAMPLE = re.compile(r'(\w+)(?:\{((?:\w+="(?:[^"\\]|\\.)*",?)*)\})? (\S+)')

Samples = dict[str, list[tuple[dict[str, str], float]]]


def scraped(url: str) -> Samples:
    """Return the samples of ``/metrics`` by name."""
    found: Samples = {}
    for line in httpx.get(f"{url}/metrics", timeout=60).text.splitlines():
        if not line.startswith("#"):
            match = _SAMPLE.fullmatch(line)
            assert match, line
            labels = dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', match[2] or ""))
            found.setdefault(match[1], []).append((labels, float(match[3])))
    return found


@pytest.fixture
def full(run_paused: Running, tmp_path: Path) -> str:
    """A simulation that stands while its 16 nodes are taken and 16 jobs wait; its URL."""
    url, _ = run_paused(tmp_path / "out")

    def running() -> bool:
        state = httpx.get(f"{url}/batkube/v1/state", timeout=60).json()
        clock = httpx.get(f"{url}/batkube/v1/clock", timeout=60).json()
        if state["jobs"]["running"] == 16:
            return True
        if clock["state"] == "paused" and not clock["stepping"]:
            httpx.post(f"{url}/batkube/v1/clock/step", timeout=60)
        return False

    wait_until("sixteen jobs run", running)
    return url


def test_the_cluster_has_kube_state_metrics_names(full: str) -> None:
    samples = scraped(full)
    assert len(samples["kube_node_info"]) == 16
    cores = [value for labels, value in samples["kube_node_status_allocatable"] if labels["resource"] == "cpu"]
    assert cores == [1.0] * 16
    phases = dict.fromkeys(("Pending", "Running", "Succeeded", "Failed", "Unknown"), 0.0)
    for labels, value in samples["kube_pod_status_phase"]:
        phases[labels["phase"]] += value
    assert phases == {"Pending": 16, "Running": 16, "Succeeded": 0, "Failed": 0, "Unknown": 0}
    requested = [
        value
        for labels, value in samples["kube_pod_container_resource_requests"]
        if labels["resource"] == "cpu" and labels["node"]
    ]
    assert sum(requested) == 16
    assert {labels["state"]: value for labels, value in samples["batkube_jobs"]} == {
        "waiting": 16, "running": 16, "ended": 0, "rejected": 0,
    }  # fmt: skip
    assert samples["batkube_clock_paused"] == [({}, 1.0)]
    assert samples["batkube_simulated_time_seconds"] == [({}, 0.0)]


def expressions() -> Iterator[str]:
    """Yield the queries of the dashboard."""
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for target in panel["targets"]:
            yield target["expr"]


def test_the_dashboard_asks_for_metrics_and_labels_that_there_are(full: str) -> None:
    httpx.get(f"{full}/api/v1/nodes", timeout=60)  # a request, to be counted
    samples = scraped(full)
    asked = 0
    for expression in expressions():
        for name, selector in re.findall(r"(\w+)\{([^}]*)\}", expression):
            asked += 1
            assert name in samples, expression
            equal = dict(re.findall(r'(\w+)="([^"]*)"', selector))
            if name != "kube_pod_container_resource_requests":  # these pods ask for cores alone
                assert any(equal.items() <= labels.items() for labels, _ in samples[name]), expression
            for label in re.findall(r"(\w+)(?:=~|!=|=)", selector):
                assert label == "instance" or all(label in labels for labels, _ in samples[name]), expression
    assert asked > 10
    variables = json.loads(DASHBOARD.read_text())["templating"]["list"]
    assert {name for v in variables for name in re.findall(r"label_values\((\w+),", str(v["query"]))} <= samples.keys()


@pytest.mark.parametrize("version", ["1.34.3", "1.36.3"])
def test_kubectl_tells_the_usage_of_nodes_and_pods_and_what_a_pod_is(
    full: str, built_tool: Callable[[str], Path], version: str
) -> None:
    program = built_tool(f"kubectl-{version}")

    def kubectl(*words: str) -> list[str]:
        done = subprocess.run([program, "-s", full, *words], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    nodes = kubectl("top", "nodes")
    assert len(nodes) == 17
    assert nodes[1].split()[:3] == ["a0", "1000m", "100%"]
    pods = kubectl("top", "pods")
    assert len(pods) == 17
    assert pods[1].split()[1] == "1000m"
    name = pods[1].split()[0]
    (line,) = kubectl("logs", name)
    assert "no process runs in this pod" in line
    assert name.removeprefix("w0-") in line
    assert len(kubectl("get", "nodes", "--no-headers")) == 16  # the core group's, as ever


def test_usage_can_be_read_alone_and_not_changed(full: str) -> None:
    root = f"{full}/apis/metrics.k8s.io/v1beta1"
    one = httpx.get(f"{root}/nodes/a0", timeout=60).json()
    assert (one["kind"], one["usage"]["cpu"]) == ("NodeMetrics", "1000m")
    assert httpx.get(f"{root}/nodes/none", timeout=60).status_code == 404
    assert httpx.get(f"{root}/namespaces/elsewhere/pods", timeout=60).json()["items"] == []
    assert httpx.get(f"{root}/pods?labelSelector=a%3Db", timeout=60).json()["items"] == []
    assert httpx.get(f"{root}/pods?watch=true", timeout=60).status_code == 405
    assert httpx.delete(f"{root}/nodes/a0", timeout=60).status_code == 405
