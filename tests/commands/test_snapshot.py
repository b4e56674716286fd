"""A cluster that goes on, or what kubectl wrote of it, becomes a scenario that a run replays."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes import client, config

from batkube.commands import cli
from tests.run.conftest import JSON
from tests.run.test_serve import Serve, serve

__all__ = ["serve"]


def batkube(monkeypatch: pytest.MonkeyPatch, *words: object) -> int:
    monkeypatch.setattr(sys, "argv", ["batkube", *map(str, words)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return int(ended.value.code or 0)


def node(name: str, zone: str) -> JSON:
    room = {"cpu": "8", "memory": "32Gi", "pods": "110"}
    labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone, "team.corp/pool": "gold"}
    taint = {"key": "team.corp/only", "value": "gold", "effect": "NoSchedule"}
    spec: JSON = {"taints": [taint]} if zone == "b" else {}
    status: JSON = {"capacity": room, "allocatable": room, "conditions": [{"type": "Ready", "status": "True"}]}
    return {"metadata": {"name": name, "labels": labels}, "spec": spec, "status": status}


def pod(name: str, created: str, **status: object) -> JSON:
    container: JSON = {"name": "secret-app", "image": "registry.corp/secret:1", "command": ["/bin/serve"]}
    container |= {"resources": {"requests": {"cpu": "2"}}}
    spec: JSON = {"containers": [container], "restartPolicy": "Always"}
    metadata = {"name": name, "namespace": "payroll", "creationTimestamp": created, "labels": {"app": "payroll"}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}


def ended(at: str, code: int = 0) -> JSON:
    return {"name": "secret-app", "state": {"terminated": {"finishedAt": at, "exitCode": code}}}


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """Return what kubectl would write of two nodes and five pods."""
    done = pod(
        "done", "2026-03-01T10:00:00Z", phase="Succeeded", startTime="2026-03-01T10:00:05Z",
        containerStatuses=[ended("2026-03-01T10:02:05Z")],
    )  # fmt: skip
    failed = pod(
        "failed", "2026-03-01T10:01:00Z", phase="Failed", startTime="2026-03-01T10:01:00Z",
        containerStatuses=[ended("2026-03-01T10:01:30Z", 3)],
    )  # fmt: skip
    runs = pod("runs", "2026-03-01T10:01:30Z", phase="Running", startTime="2026-03-01T10:01:31Z")
    runs["spec"] |= {
        "nodeName": "pool-b-1",
        "priorityClassName": "urgent",
        "priority": 1000,
        "nodeSelector": {"team.corp/pool": "gold", "topology.kubernetes.io/zone": "b"},
        "tolerations": [{"key": "team.corp/only", "operator": "Equal", "value": "gold", "effect": "NoSchedule"}],
    }
    pending = pod("pending", "2026-03-01T10:03:00Z", phase="Pending")
    pending["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "9"
    mirror = pod("kube-apiserver", "2026-03-01T09:00:00Z", phase="Running")
    mirror["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
    nodes = [{"apiVersion": "v1", "kind": "Node", **node(name, zone)} for name, zone in NODES]
    path = tmp_path / "dump.yaml"
    path.write_text(
        yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": [*nodes, pending, runs, failed, done, mirror]})
    )
    return path


NODES = (("pool-a-1", "a"), ("pool-b-1", "b"))


@pytest.mark.parametrize("hidden", [False, True])
def test_a_dump_is_replayed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, dump: Path, hidden: bool
) -> None:
    folder = tmp_path / "snapshot"
    assert batkube(monkeypatch, "snapshot", dump, "-o", folder, *(["--anonymize"] if hidden else [])) == 0
    said = capsys.readouterr().out
    assert f"{folder}: 2 nodes, 4 pods, of which 2 have ended" in said
    assert "left out: 1 pods that a kubelet has from a file" in said
    assert batkube(monkeypatch, "run", folder / "scenario.yaml") == 0
    events = [json.loads(line) for line in (folder / "out" / "events.jsonl").read_text().splitlines()]
    assert [event["time"] for event in events if event["event"] == "object_created"] == [0, 60, 90, 180]
    run = json.loads((folder / "out" / "run.json").read_text())
    assert (run["jobs"]["succeeded"], run["jobs"]["failed"], run["jobs"]["running"]) == (1, 1, 1)
    assert run["epoch"] == 1772359200  # 2026-03-01T10:00:00Z
    lengths = [event["time"] for event in events if event["event"] == "job_completed"]
    assert sorted(lengths) == [60 + 30, 120]
    # The one that runs is where its selector and its toleration let it be, and it alone.
    bound = [event["node"] for event in events if event["event"] == "pod_bound"]
    assert len(set(bound)) == 2
    written = "".join(path.read_text() for path in folder.glob("*.yaml"))
    assert ("payroll" in written) is not hidden
    for word in ("corp", "secret", "gold", "urgent", "pool-", "/bin/serve"):
        assert not (hidden and word in written), word
    assert "topology.kubernetes.io/zone" in written


def test_the_hashes_follow_from_the_salt(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, dump: Path) -> None:
    for name, salt in (("one", "a"), ("same", "a"), ("other", "b")):
        words = ["snapshot", dump, "-o", tmp_path / name, "--anonymize", "--salt", salt]
        assert batkube(monkeypatch, *words) == 0
    one, same, other = ((tmp_path / name / "pods.yaml").read_text() for name in ("one", "same", "other"))
    assert one == same
    assert one != other


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a: [", "dump.yaml, line 2: no YAML: "),
        ("a: b", "dump.yaml, line 1: expected objects as kubectl get -o yaml writes them"),
        ("{kind: List, items: [{metadata: {name: a}}]}", "dump.yaml, line 1: expected objects as kubectl get -o yaml"),
        (
            "{kind: Pod, metadata: {name: a, creationTimestamp: x}}",
            'object 1 (a): Pod in version "v1" cannot be handled',
        ),
        (
            "{kind: Pod, spec: {containers: [5]}}",
            'object 1: Pod in version "v1" cannot be handled as a Pod: json: cannot',
        ),
        ("{kind: Pod, metadata: 5}", "object 1: Pod in version"),
        ("{kind: Node, metadata: {name: a}, apiVersion: v2}", "there is no Node in it"),
        ("{kind: Node, metadata: {name: a}}", "there is no Pod in it"),
        ("{kind: Service, metadata: {name: a}}", "there is no Node in it"),
    ],
)
def test_what_cannot_be_read(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, content: str, said: str
) -> None:
    path = tmp_path / "dump.yaml"
    path.write_text(content)
    assert batkube(monkeypatch, "snapshot", path, "-o", tmp_path / "out") == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.fixture
def cluster(serve: Callable[..., Serve]) -> Path:
    """A cluster that goes on, with objects that the official client has made; its kubeconfig."""
    server = serve("--api-only")
    kubeconfig = server.out / "kubeconfig"
    core: Any = client.CoreV1Api(config.new_client_from_config(str(kubeconfig)))
    for name, zone in NODES:
        core.create_node(node(name, zone))
    for number in range(2):
        core.create_namespaced_pod("default", pod(f"pod-{number}", "") | {"metadata": {"name": f"pod-{number}"}})
    core.create_namespaced_binding(
        "default", {"metadata": {"name": "pod-0"}, "target": {"name": "pool-a-1"}}, _preload_content=False
    )
    return kubeconfig


def test_a_cluster_that_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, cluster: Path
) -> None:
    folder = tmp_path / "snapshot"
    assert batkube(monkeypatch, "snapshot", "--kubeconfig", cluster, "-o", folder) == 0
    assert f"{folder}: 2 nodes, 2 pods, of which 0 have ended" in capsys.readouterr().out
    pods = list(yaml.safe_load_all((folder / "pods.yaml").read_text()))
    assert [pod["metadata"]["annotations"].get("batkube.io/duration") for pod in pods] == ["forever", None]
    assert batkube(monkeypatch, "run", folder / "scenario.yaml") == 0
    assert json.loads((folder / "out" / "run.json").read_text())["jobs"]["running"] == 2
    assert batkube(monkeypatch, "snapshot", "--kubeconfig", cluster, "-o", folder) == 2
    assert "nodes.yaml is there already; nothing was written" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--salt", "x"], "--salt needs --anonymize"),
        (["dump.yaml", "--kubeconfig", "x"], "--kubeconfig: the cluster is not asked where files are given"),
    ],
)
def test_options_that_mean_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert batkube(monkeypatch, "snapshot", *words) == 2
    assert said in capsys.readouterr().err


def test_no_cluster_answers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert batkube(monkeypatch, "snapshot", "--kubeconfig", tmp_path / "nowhere", "-o", tmp_path / "out") == 2
    assert f"{tmp_path / 'nowhere'}: " in capsys.readouterr().err
