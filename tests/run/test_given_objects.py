"""``--objects`` and ``--crd`` take files as people have them: in any order, and as ``kubectl get -o yaml`` has them."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from batkube.kube.server import ApiServer
from batkube.session.manifests import ManifestError, create_all, define_all, files_of
from tests.run.test_api_options import definition

JSON = dict[str, Any]

PLAIN_POD = {"containers": [{"name": "c", "image": "i"}]}


def obj(kind: str, name: str, namespace: str = "", version: str = "v1", **rest: Any) -> JSON:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {}), **rest.pop("metadata", {})}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **rest}


def dumped(*objects: JSON) -> str:
    return yaml.safe_dump_all(objects)


@pytest.fixture
def server() -> ApiServer:
    return ApiServer(now=lambda: 0.0)


def test_files_may_come_in_any_order(tmp_path: Path, server: ApiServer) -> None:
    """A custom resource before its definition, a pod before its namespace and priority class, as in many folders."""
    (tmp_path / "1.yaml").write_text(dumped(obj("Gang", "g", "team", "example.com/v1")))
    (tmp_path / "2.yaml").write_text(dumped(obj("Pod", "p", "team", spec={**PLAIN_POD, "priorityClassName": "high"})))
    (tmp_path / "3.yaml").write_text(definition("Gang"))
    (tmp_path / "4.yaml").write_text(
        dumped(obj("PriorityClass", "high", version="scheduling.k8s.io/v1", value=7), obj("Namespace", "team"))
    )
    assert create_all(server, [tmp_path]) == []
    assert server.get("pods", "p", "team")["spec"]["priority"] == 7
    server.reset()
    assert server.get("gangs.example.com", "g", "team")["kind"] == "Gang"
    assert server.get("pods", "p", "team")["spec"]["priority"] == 7


def test_what_no_other_file_helps_is_told_with_its_place(tmp_path: Path, server: ApiServer) -> None:
    (tmp_path / "a.yaml").write_text(dumped(obj("ConfigMap", "a"), obj("Pod", "p", spec={"containers": []})))
    with pytest.raises(ManifestError, match=r"a.yaml, line 6: Pod: .*spec.containers: Required value"):
        create_all(server, [tmp_path])


def kubectl_list() -> JSON:
    """Return what ``kubectl get pods,nodes,services,replicasets -A -o yaml`` writes of a cluster that runs."""

    def seen(uid: str) -> JSON:
        return {"uid": uid, "resourceVersion": "4711", "generation": 3, "creationTimestamp": "2024-01-01T00:00:00Z"}

    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "uid-rs", "controller": True}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": PLAIN_POD}
    ready = [{"type": "Ready", "status": "True"}]
    return {
        "apiVersion": "v1",
        "kind": "List",
        "metadata": {"resourceVersion": ""},
        "items": [
            obj(
                "Pod",
                "web-1",
                "shop",
                metadata={**seen("uid-pod"), "labels": {"app": "web"}, "ownerReferences": [owner]},
                spec={**PLAIN_POD, "nodeName": "n1"},
                status={"phase": "Running", "podIP": "10.1.1.1", "podIPs": [{"ip": "10.1.1.1"}], "conditions": ready},
            ),
            obj(
                "ReplicaSet",
                "web",
                "shop",
                "apps/v1",
                metadata=seen("uid-rs"),
                spec={"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template},
                status={"replicas": 1, "readyReplicas": 1, "observedGeneration": 1},
            ),
            obj(
                "Service",
                "web",
                "shop",
                metadata=seen("uid-svc"),
                spec={"clusterIP": "172.20.1.1", "clusterIPs": ["172.20.1.1"], "ports": [{"port": 80}]},
            ),
            obj("Node", "n1", metadata=seen("uid-node"), status={"capacity": {"cpu": "4"}, "conditions": ready}),
            obj(
                "Job",
                "once",
                "shop",
                "batch/v1",
                metadata={**seen("uid-job"), "labels": {"batch.kubernetes.io/controller-uid": "uid-job"}},
                spec={
                    "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": "uid-job"}},
                    "template": {
                        "metadata": {"labels": {"batch.kubernetes.io/controller-uid": "uid-job"}},
                        "spec": {**PLAIN_POD, "restartPolicy": "Never"},
                    },
                },
                status={"active": 1, "startTime": "2024-01-01T00:00:00Z"},
            ),
            obj("Namespace", "default", metadata=seen("uid-default"), spec={"finalizers": ["kubernetes"]}),
        ],
    }


def test_a_dump_of_a_running_cluster_goes_on_running(tmp_path: Path, server: ApiServer) -> None:
    (tmp_path / "all.yaml").write_text(yaml.safe_dump(kubectl_list()))
    told = create_all(server, [tmp_path])
    assert told == [f"{tmp_path / 'all.yaml'}, line 1: namespace shop is in no file, and is made"]
    for _ in range(2):
        pod, owner = server.get("pods", "web-1", "shop"), server.get("replicasets.apps", "web", "shop")
        assert (pod["status"]["phase"], pod["status"]["podIP"], pod["spec"]["nodeName"]) == (
            "Running",
            "10.1.1.1",
            "n1",
        )
        assert pod["metadata"]["uid"] != "uid-pod"
        assert pod["metadata"]["ownerReferences"][0]["uid"] == owner["metadata"]["uid"] != "uid-rs"
        assert owner["status"]["readyReplicas"] == 1
        assert server.get("services", "web", "shop")["spec"]["clusterIP"] != "172.20.1.1"
        job = server.get("jobs.batch", "once", "shop")
        uid = job["metadata"]["uid"]
        assert job["spec"]["selector"]["matchLabels"] == {"batch.kubernetes.io/controller-uid": uid}
        assert job["status"]["active"] == 1
        server.reset()


def test_a_list_of_one_kind_need_not_name_the_kind_of_its_items(tmp_path: Path, server: ApiServer) -> None:
    items = [{"metadata": {"name": name, "resourceVersion": "7"}} for name in "ab"]
    (tmp_path / "raw.json").write_text(json.dumps({"kind": "ConfigMapList", "apiVersion": "v1", "items": items}))
    create_all(server, [tmp_path])
    assert {"a", "b"} <= {found["metadata"]["name"] for found in server.list("configmaps", "default")}


def test_what_is_there_already_is_brought_up_to_date_or_left(tmp_path: Path, server: ApiServer) -> None:
    (tmp_path / "twice.yaml").write_text(
        dumped(
            obj("ConfigMap", "a", data={"x": "1"}),
            obj("ConfigMap", "a", data={"x": "2"}),
            obj("PriorityClass", "high", version="scheduling.k8s.io/v1", value=7),
            obj("PriorityClass", "high", version="scheduling.k8s.io/v1", value=8),
            obj("Namespace", "kube-system", metadata={"labels": {"a": "b"}}),
        )
    )
    [told] = create_all(server, [tmp_path])
    assert "PriorityClass high is there already, and stays as it is" in told
    assert server.get("configmaps", "a")["data"] == {"x": "2"}
    assert server.get("priorityclasses.scheduling.k8s.io", "high")["value"] == 7
    assert server.get("namespaces", "kube-system")["metadata"]["labels"]["a"] == "b"


def test_the_same_definition_may_come_twice(tmp_path: Path, server: ApiServer) -> None:
    (tmp_path / "a.yaml").write_text(definition("Gang"))
    (tmp_path / "b.yaml").write_text(f"{definition('Gang')}---\n{definition('Queue')}")
    assert define_all(server, [tmp_path, tmp_path / "a.yaml"]) == []
    assert create_all(server, [tmp_path / "a.yaml"]) == []
    server.reset()
    server.create("gangs.example.com", obj("Gang", "g"))


def test_unknown_fields_and_keys_that_stand_twice_are_warned_of(tmp_path: Path, server: ApiServer) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, lables: {}}\ndata:\n  a: x\n  a: z\n")
    assert create_all(server, [file]) == [
        f'{file}, line 6: key "a" already set in map',
        f'{file}, line 1: unknown field "metadata.lables"',
    ]
    file.write_text(definition("Gang").replace("scope:", "scoop: a\n  scope:"))
    assert define_all(server, [file]) == [f'{file}, line 1: unknown field "spec.scoop"']


def test_a_kustomization_says_which_files_are_meant(tmp_path: Path, server: ApiServer) -> None:
    base = tmp_path / "base"
    base.mkdir()
    (base / "kustomization.yml").write_text("resources: [a.yaml]\n")
    (base / "a.yaml").write_text(dumped(obj("ConfigMap", "a")))
    (base / "other.yaml").write_text("no object")
    top = tmp_path / "top"
    top.mkdir()
    (top / "kustomization.yaml").write_text(
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- ../base\n- b.yaml\n"
    )
    (top / "b.yaml").write_text(dumped(obj("ConfigMap", "b")))
    assert create_all(server, [top]) == []
    assert server.get("configmaps", "a")
    assert server.get("configmaps", "b")
    assert [file.name for file in files_of(top)] == ["kustomization.yaml", "a.yaml", "b.yaml"]
    assert create_all(server, [top / "kustomization.yaml"]) == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (
            "resources: [a.yaml]\nnamePrefix: x-\npatches: [{path: p.yaml}]",
            "namePrefix, patches: only resources are read",
        ),
        ("resources: [https://example.com/a.yaml]", "https://example.com/a.yaml: only files and folders"),
        ("resources: [nowhere.yaml]", "nowhere.yaml: No such file"),
        ("resources: [../folder]", "a kustomization that lists itself"),
        ("resources: a.yaml", "resources: expected a list of files"),
        ("resources: [", "line 2: no YAML"),
    ],
)
def test_what_a_kustomization_says_beyond_that_is_refused_by_name(
    tmp_path: Path, server: ApiServer, text: str, complaint: str
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "kustomization.yaml").write_text(text)
    (folder / "a.yaml").write_text(dumped(obj("ConfigMap", "a")))
    with pytest.raises(ManifestError, match=complaint):
        create_all(server, [folder])
