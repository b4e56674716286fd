"""Manifests among the workloads: each object is created through the API at its date."""

from pathlib import Path

import pytest
import yaml

from tests.run.conftest import JSON, Batkube

EXAMPLE = Path(__file__).parents[2] / "examples" / "manifests"
CLUSTER = ["-p", "2 x 8cpu,32Gi", "--enable-compute-sharing"]


def pod(name: str, cpu: str = "1", **metadata: object) -> JSON:
    container = {"name": "main", "image": "app", "command": ["sleep", "20"], "resources": {"requests": {"cpu": cpu}}}
    spec = {"restartPolicy": "Never", "containers": [container]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, **metadata}, "spec": spec}


def at(date: object) -> JSON:
    return {"batkube.io/created-at": date}


def written(folder: Path, *objects: JSON, name: str = "objects.yaml") -> Path:
    path = folder / name
    path.write_text(yaml.safe_dump_all(objects))
    return path


def test_a_folder_beside_jobs(batkube: Batkube, tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text("submit,duration,cpu\n30,60,1\n")
    done = batkube(*CLUSTER, "-w", EXAMPLE, "-w", tmp_path / "jobs.csv")
    assert done.exit_code == 0, done.stderr
    created = [(event["time"], event["kind"]) for event in done.events if event["event"] == "object_created"]
    assert created == [(0, "Deployment"), (300, "Job"), (360, "Pod"), (600, "Pod")]
    rows = {row["pod"].rpartition("-")[0] or row["pod"]: row for row in done.rows("pods.csv")}
    assert float(rows["last"]["finish_time"]) == 690
    assert float(rows["shop/report"]["created_time"]) == 300
    assert done.run["jobs"]["succeeded"] == 5
    assert done.run["jobs"]["running"] == 2
    assert [(file["format"], file["jobs"]) for file in done.run["workloads"]] == [("csv", 1), ("manifests", 4)]
    assert done.run["repeatable"]


def test_a_dump_of_a_cluster_comes_in_its_own_time(batkube: Batkube, tmp_path: Path) -> None:
    """Creation times count from the first; what controllers made, and where pods were, is left out."""
    first = pod("first", creationTimestamp="2026-03-01T10:00:00Z", uid="1-2", resourceVersion="77")
    first["spec"]["nodeName"] = "elsewhere"
    first["status"] = {"phase": "Running"}
    second = pod("second", creationTimestamp="2026-03-01T10:01:30Z")
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "3", "controller": True}
    made = pod("web-1", creationTimestamp="2026-03-01T09:00:00Z", ownerReferences=[owner])
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}
    dump = {"apiVersion": "v1", "kind": "List", "items": [made, second, first, node]}
    done = batkube(*CLUSTER, "-w", written(tmp_path, dump))
    assert done.exit_code == 0, done.stderr
    rows = {row["pod"]: row for row in done.rows("pods.csv")}
    assert {name: float(row["created_time"]) for name, row in rows.items()} == {"first": 0, "second": 90}
    assert "objects that a controller has made are left out" in done.stderr
    assert "nodes are those of the platform" in done.stderr


def test_what_the_cluster_refuses_then_is_no_error_of_the_file(batkube: Batkube, tmp_path: Path) -> None:
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "most", "namespace": "default"}}
    quota |= {"spec": {"hard": {"pods": "1"}}, "status": {"hard": {"pods": "1"}, "used": {"pods": "1"}}}
    objects = written(tmp_path, quota, name="quota.yaml")
    dated = written(tmp_path, pod("late", annotations=at("10s")))
    done = batkube(*CLUSTER, "--objects", objects, "-w", dated)
    assert done.exit_code == 0, done.stderr
    (refused,) = [event for event in done.events if event["event"] == "object_refused"]
    assert (refused["time"], refused["name"]) == (10, "late")
    assert "exceeded quota: most" in refused["why"]


@pytest.mark.parametrize(
    ("obj", "said"),
    [
        (
            pod("a", annotations=at("soon")),
            "objects.yaml, line 1: batkube.io/created-at: expected seconds, a length such as 1h",
        ),
        (pod("a", annotations=at("2019-12-31T00:00:00Z")), "is before the simulation begins (--epoch)"),
        (pod("A_b"), "objects.yaml, line 1: Pod: Pod "),
        ({"apiVersion": "nowhere/v1", "kind": "Thing", "metadata": {"name": "a"}}, "line 1: Thing: "),
        ({"apiVersion": "v1", "kind": "Pod"}, "objects.yaml, line 1: Pod: metadata: missing"),
    ],
)
def test_what_is_wrong_is_told_before_anything_starts(batkube: Batkube, tmp_path: Path, obj: JSON, said: str) -> None:
    done = batkube(*CLUSTER, "-w", written(tmp_path, obj))
    assert done.exit_code == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_schedule_says_when_manifests_are_created(batkube: Batkube, tmp_path: Path) -> None:
    """It goes before what objects say, and of several entries the first counts."""
    pods = [pod(name, labels={"tier": "batch"}) for name in ("a", "b", "c")]
    others = [pod("late", annotations=at("1h")), pod("dated", annotations=at("00:07")), pod("stamped", namespace="x")]
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "x"}}
    schedule = tmp_path / "schedule.yaml"
    schedule.write_text(
        """schedule:
- {at: 00:10, kind: Pod, name: b}
- {at: 2m, every: 30, selector: tier=batch}
- {at: "2020-01-01T00:00:30Z", name: late}
- {at: 5, namespace: x}
"""
    )
    done = batkube(*CLUSTER, "-w", written(tmp_path, namespace, *pods, *others), "--schedule", schedule)
    assert done.exit_code == 0, done.stderr
    rows = {row["pod"]: float(row["created_time"]) for row in done.rows("pods.csv")}
    assert rows == {"x/stamped": 5, "late": 30, "a": 120, "c": 150, "dated": 420, "b": 600}
    assert done.run["schedule"]["path"] == str(schedule)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- {at: 5, name: b}", "schedule.yaml: line 2: schedule.0: there is no such object among the manifests"),
        (
            "- {at: soon, name: a}",
            "line 2: schedule.0.at: expected seconds, a length such as 1h30m, a time such as 10:00",
        ),
        ("- {at: 5, selector: 'a=('}", "schedule.0.selector: "),
        ("- {at: 5, every: -1}", "schedule.0.every: "),
        ("- {name: a}", "schedule.0.at: "),
        ("- 5", "expected an entry such as {at: 10m, kind: Job, name: report}"),
    ],
)
def test_what_is_wrong_in_a_schedule_is_named(batkube: Batkube, tmp_path: Path, text: str, said: str) -> None:
    schedule = tmp_path / "schedule.yaml"
    schedule.write_text(f"schedule:\n{text}\n")
    done = batkube(*CLUSTER, "-w", written(tmp_path, pod("a")), "--schedule", schedule)
    assert done.exit_code == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
