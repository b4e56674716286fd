"""The seconds that pods waited for each plugin of the real kube-scheduler, for cases computed by hand.

Two nodes of four cores. ``full`` has node-1 until 100; node-0 has room all the time, and a rule keeps ``b`` away.
"""

from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
import yaml

from batkube.report.sections import wait_rows
from batkube.results.pods import read_named_seconds
from batkube.results.result import Result, load
from tests.conftest import BuiltTool
from tests.run.conftest import JSON, Batkube
from tests.run.test_ends import started
from tests.run.test_results import assert_waits_agree
from tests.run.test_waiting_reasons import KUBE_SCHEDULER, PROFILES, Platform, Workload, job
from tests.waiting import wait_until

FULL = job("full", 0, 100, 4, nodeSelector={"kubernetes.io/hostname": "node-1"})
WEB = {"matchLabels": {"app": "web"}}
Play = Callable[..., Result]


@pytest.fixture
def play(batkube: Batkube, platform: Platform, workload: Workload, built_tool: BuiltTool) -> Play:
    """Run jobs with kube-scheduler on shared nodes."""

    def run(*jobs: JSON, objects: Path | None = None) -> Result:
        more = ["--objects", objects] if objects else []
        outcome = batkube(
            *("-p", platform(2, cores=4), "-w", workload([FULL, *jobs], PROFILES), "--enable-compute-sharing"),
            *("--scheduler", "kube-scheduler", "--scheduler-binary", built_tool(KUBE_SCHEDULER), *more),
        )
        assert outcome.exit_code == 0, outcome.stderr
        return load(outcome.out)

    return run


def assert_kept_away(result: Result, plugin: str, words: str, seconds: float = 90) -> None:
    """``b`` came at 10 and waited so long, for one plugin alone; every file says so."""
    assert_waits_agree(result)
    (pod,) = [pod for pod in result.pod_rows if pod.pod == "w0-b"]
    assert read_named_seconds(pod.constraints) == {plugin: seconds}
    assert pod.wait_constraints == seconds
    assert pod.wait_back_off is not None
    assert pod.wait_back_off <= 10
    rows = [wait for wait in result.wait_rows if wait.pod == "w0-b" and wait.reason == "constraints"]
    assert [(wait.start, wait.end, wait.plugin) for wait in rows] == [(10, 10 + seconds, plugin)]
    assert words in rows[0].words
    assert result.figures.constraints == {plugin: seconds}
    assert result.figures.wait_reasons["constraints"] == seconds
    assert [(row.plugin, row.seconds) for row in wait_rows(result.figures) if row.plugin] == [(plugin, seconds)]


def test_node_affinity(play: Play) -> None:
    chosen = {"nodeSelector": {"kubernetes.io/hostname": "node-1"}}
    assert_kept_away(play(job("b", 10, 30, 1, **chosen)), "NodeAffinity", "didn't match Pod's node affinity/selector")


def test_topology_spread(play: Play) -> None:
    rule = {"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule"}
    spread = {
        "labels": {"app": "web"},
        "pod": {"spec": {"topologySpreadConstraints": [{**rule, "labelSelector": WEB}]}},
    }
    result = play(job("a", 1, 300, 1, **spread), job("b", 10, 30, 1, **spread))
    assert_kept_away(result, "PodTopologySpread", "didn't match pod topology spread constraints")


def test_pod_anti_affinity(play: Play) -> None:
    apart = {"topologyKey": "kubernetes.io/hostname", "labelSelector": WEB}
    rule = {"spec": {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}}}}
    alone = {"labels": {"app": "web"}, "pod": rule}
    result = play(job("a", 1, 300, 1, **alone), job("b", 10, 30, 1, **alone))
    assert_kept_away(result, "InterPodAffinity", "didn't match pod anti-affinity rules")


def test_host_ports(play: Play) -> None:
    ports = {"pod": {"spec": {"containers": [{"name": "job", "ports": [{"containerPort": 80, "hostPort": 8080}]}]}}}
    result = play(job("a", 1, 300, 1, **ports), job("b", 10, 30, 1, **ports))
    assert_kept_away(result, "NodePorts", "didn't have free ports")


def test_a_volume_on_the_other_node(play: Play, tmp_path: Path) -> None:
    on_node_1 = {"key": "kubernetes.io/hostname", "operator": "In", "values": ["node-1"]}
    size = {"storage": "1Gi"}
    volume = {
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "v"},
        "spec": {
            "capacity": size, "accessModes": ["ReadWriteMany"], "storageClassName": "disk", "local": {"path": "/v"},
            "claimRef": {"kind": "PersistentVolumeClaim", "namespace": "default", "name": "c"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [on_node_1]}]}},
        },
        "status": {"phase": "Bound"},
    }  # fmt: skip
    claim = {
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": "c", "namespace": "default", "annotations": {"pv.kubernetes.io/bind-completed": "yes"},
        },
        "spec": {
            "accessModes": ["ReadWriteMany"], "storageClassName": "disk", "volumeName": "v",
            "resources": {"requests": size},
        },
        "status": {"phase": "Bound"},
    }  # fmt: skip
    objects = tmp_path / "objects.yaml"
    objects.write_text(yaml.safe_dump_all([volume, claim]))
    mounted = {"pod": {"spec": {"volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "c"}}]}}}
    result = play(job("b", 10, 30, 1, **mounted), objects=objects)
    assert_kept_away(result, "VolumeBinding", "didn't match PersistentVolume's node affinity")


def test_a_taint_that_a_user_sets(
    tmp_path: Path, platform: Platform, workload: Workload, built_tool: BuiltTool
) -> None:
    given = workload([FULL, job("b", 10, 30, 1)], PROFILES)
    scheduler = ["--scheduler", "kube-scheduler", "--scheduler-binary", built_tool(KUBE_SCHEDULER)]
    arguments = ["-p", platform(2, cores=4), "-w", given, "--enable-compute-sharing", *scheduler, "--paused"]
    out = tmp_path / "out"
    with started(out, *arguments) as run:
        wait_until("a kubeconfig", (out / "kubeconfig").exists)
        server = yaml.safe_load((out / "kubeconfig").read_text())["clusters"][0]["cluster"]["server"]
        with httpx.Client(base_url=server, timeout=60, trust_env=False) as client:
            client.post("/batkube/v1/clock/step").raise_for_status()
            wait_until("nodes", lambda: bool(client.get("/api/v1/nodes").json()["items"]))
            client.patch(
                "/api/v1/nodes/node-0", json={"spec": {"taints": [{"key": "team", "effect": "NoSchedule"}]}},
                headers={"Content-Type": "application/merge-patch+json"},
            ).raise_for_status()  # fmt: skip
            client.post("/batkube/v1/clock/resume").raise_for_status()
        _, errors = run.communicate(timeout=120)
    assert run.returncode == 0, errors
    assert_kept_away(load(out), "TaintToleration", "had untolerated taint")


def test_one_pod_after_another_rule(play: Play) -> None:
    """``b`` waits for its port until 60, when ``a`` ends on node-0; ``c`` for its selector until 100."""
    ports = {"pod": {"spec": {"containers": [{"name": "job", "ports": [{"containerPort": 80, "hostPort": 8080}]}]}}}
    chosen = {"nodeSelector": {"kubernetes.io/hostname": "node-1"}}
    result = play(job("a", 0, 60, 1, **ports), job("b", 10, 30, 1, **ports), job("c", 20, 30, 1, **chosen))
    pods = {pod.pod: read_named_seconds(pod.constraints) for pod in result.pod_rows}
    assert pods == {"w0-full": {}, "w0-a": {}, "w0-b": {"NodePorts": 50}, "w0-c": {"NodeAffinity": 80}}
    assert list(result.figures.constraints.items()) == [("NodeAffinity", 80), ("NodePorts", 50)]
    assert result.figures_by["size"]["1"].constraints == result.figures.constraints
