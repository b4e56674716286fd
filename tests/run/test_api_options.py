"""Options of the API server for its start: admission plugins, custom resources."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from batkube.kube.server import ApiServer
from batkube.session.manifests import ManifestError, create_all, define_all
from tests import warm
from tests.run.conftest import Batkube, environment
from tests.run.test_serve import PLATFORM, WORKLOAD, Serve

DEFINITION = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: NAMEs.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: NAMEs, singular: NAME, kind: KIND}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
"""


def definition(kind: str) -> str:
    return DEFINITION.replace("NAME", kind.lower()).replace("KIND", kind)


def test_serve_without_a_plugin_and_with_custom_resources(tmp_path: Path, free_port: Callable[[], int]) -> None:
    (tmp_path / "two.yaml").write_text(f"---\n{definition('Gang')}---\n{definition('Queue')}")
    words = ["--api-only", "--disable-admission-plugins=TaintNodesByCondition,Priority"]
    serve = Serve(tmp_path / "out", [*words, "--crd", str(tmp_path / "two.yaml")], free_port)
    try:
        assert serve.http.get("/apis/example.com/v1/namespaces/default/gangs").json()["kind"] == "GangList"
        assert serve.http.get("/apis/example.com/v1/queues").json()["items"] == []
        node = serve.http.post("/api/v1/nodes", json={"metadata": {"name": "n"}}).json()
        assert "taints" not in node["spec"]
    finally:
        serve.close()


def test_run_with_a_folder_of_custom_resources(tmp_path: Path, batkube: Batkube) -> None:
    (tmp_path / "crds").mkdir()
    (tmp_path / "crds" / "gangs.yml").write_text(definition("Gang"))
    (tmp_path / "crds" / "notes.txt").write_text("no definition")
    words = ["-p", PLATFORM, "-w", WORKLOAD, "--crd", tmp_path / "crds"]
    assert batkube(*words, "--disable-admission-plugins", "DefaultTolerationSeconds").exit_code == 0


def test_custom_resources_outlive_a_simulation(tmp_path: Path) -> None:
    server = ApiServer(now=lambda: 0.0)
    (tmp_path / "gangs.json").write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": []}))
    (tmp_path / "gangs.yaml").write_text(definition("Gang"))
    define_all(server, [tmp_path])
    server.create("gangs.example.com", {"metadata": {"name": "g"}})
    server.reset()
    assert server.list("gangs.example.com") == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (f"{definition('Gang')}---\n\nkind: Pod\napiVersion: v1\n", "line 12: expected a Custom.*, not a Pod of v1"),
        ("a: [1\n", "line 2: no YAML: "),
        ("just words\n", "line 1: expected a CustomResourceDefinition, found no object"),
        (definition("Gang").replace("/v1\n", "/v1alpha1\n"), "not a CustomResourceDefinition of .*v1alpha1"),
        (definition("Gang").replace("scope: Namespaced", "scope: World"), "line 1: .*spec.scope: Unsupported value"),
    ],
)
def test_a_bad_definition_is_told_with_its_place(tmp_path: Path, text: str, complaint: str) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(text)
    with pytest.raises(ManifestError, match=f"bad.yaml, {complaint}" if complaint.startswith("line") else complaint):
        define_all(ApiServer(now=lambda: 0.0), [file])


OBJECTS = """\
apiVersion: v1
kind: Namespace
metadata: {name: team}
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: team}}
- {apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 7}
"""


def test_a_node_may_not_have_the_name_of_a_host(
    tmp_path: Path, batkube: Batkube, platform: Callable[..., Path]
) -> None:
    (tmp_path / "node.yaml").write_text("{apiVersion: v1, kind: Node, metadata: {name: node-1}}")
    done = batkube("-p", platform(2), "-w", WORKLOAD, "--objects", tmp_path / "node.yaml")
    assert done.exit_code == 2
    assert done.stderr == 'batkube: host node-1: nodes "node-1" already exists\n'


def test_objects_of_any_kind_outlive_a_simulation(tmp_path: Path) -> None:
    (tmp_path / "objects.yaml").write_text(OBJECTS)
    server = ApiServer(now=lambda: 0.0)
    create_all(server, [tmp_path])
    server.delete("configmaps", "a", "team")
    server.reset()
    assert server.get("priorityclasses.scheduling.k8s.io", "high")["value"] == 7
    assert server.get("configmaps", "a", "team")["kind"] == "ConfigMap"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("kind: Gang\napiVersion: example.com/v1\n", "line 1: Gang: the server could not find the requested resource"),
        ("kind: Binding\napiVersion: v1\n", "line 1: Binding: the server could not find the requested resource"),
        ("a: 1\n", "line 1: expected an object with a kind and an apiVersion"),
        (OBJECTS.replace("value: 7", "value: high"), "line 5: PriorityClass: .*value"),
    ],
)
def test_a_bad_object_is_told_with_its_place(tmp_path: Path, text: str, complaint: str) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(text)
    with pytest.raises(ManifestError, match=f"bad.yaml, {complaint}"):
        create_all(ApiServer(now=lambda: 0.0), [file])


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["serve", "--api-only", "--port", "0", "--crd", "nowhere"], "nowhere: No such file"),
        (["serve", "--api-only", "--port", "0", "--disable-admission-plugins=Foo"], "has no plugin 'Foo'"),
        (["run", "-p", str(PLATFORM), "-w", str(WORKLOAD), "--enable-admission-plugins=Foo"], "has no plugin 'Foo'"),
        (["run", "-p", str(PLATFORM), "-w", str(WORKLOAD), "--feature-gates=Foo"], "--feature-gates: expected NAME="),
        (
            ["run", "-p", str(PLATFORM), "-w", str(WORKLOAD), "--runtime-config=Foo"],
            "--runtime-config: expected api/all",
        ),
        (["run", "-p", str(PLATFORM), "-w", str(WORKLOAD), "--crd", "nowhere"], "nowhere: No such file"),
        (["run", "-p", str(PLATFORM), "-w", str(WORKLOAD), "--objects", "nowhere"], "nowhere: No such file"),
    ],
)
def test_bad_options_end_with_2(tmp_path: Path, arguments: list[str], complaint: str) -> None:
    words = [sys.executable, "-m", "batkube", *arguments, "-o", str(tmp_path / "out")]
    done = warm.run(words, timeout=120, env=environment())
    assert done.returncode == 2
    assert complaint in " ".join(done.stderr.split())
    assert len(done.stderr.splitlines()) <= 2
