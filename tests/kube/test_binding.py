"""Bindings: what a scheduler relies on when it gives a pod its node."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from batkube.kube.apimachinery.status import ApiError
from batkube.kube.server import ApiServer

from .conftest import PODS, pod

JSON = dict[str, Any]
BINDINGS = "/api/v1/namespaces/default/bindings"


def binding(name: str = "a", node: str = "n1", **metadata: Any) -> JSON:
    return {"metadata": {"name": name, **metadata}, "target": {"kind": "Node", "name": node}}


@pytest.fixture
def nodes(server: ApiServer) -> None:
    labels = {"topology.kubernetes.io/zone": "z", "topology.kubernetes.io/region": "r", "other": "o"}
    server.create("nodes", {"metadata": {"name": "n1", "labels": labels}})
    server.create("pods", {**pod("a", app="x")}, "default")


@pytest.mark.parametrize("path", [f"{PODS}/a/binding", BINDINGS])
async def test_a_binding_is_one_write(server: ApiServer, client: httpx.AsyncClient, nodes: None, path: str) -> None:
    before = server.store.revision
    answer = await client.post(path, json=binding(annotations={"gang": "7"}, labels={"own": "1"}))
    assert (answer.status_code, answer.json()["status"]) == (201, "Success")
    assert server.store.revision == before + 1
    bound = server.get("pods", "a")
    assert bound["spec"]["nodeName"] == "n1"
    assert bound["metadata"]["annotations"] == {"gang": "7"}
    assert bound["metadata"]["labels"] == {
        "app": "x",
        "own": "1",
        "topology.kubernetes.io/zone": "z",
        "topology.kubernetes.io/region": "r",
    }
    assert [(one["type"], one["status"]) for one in bound["status"]["conditions"]] == [("PodScheduled", "True")]
    assert bound["metadata"]["generation"] == 1


async def test_a_pod_is_bound_once(client: httpx.AsyncClient, nodes: None) -> None:
    await client.post(f"{PODS}/a/binding", json=binding())
    answer = await client.post(f"{PODS}/a/binding", json=binding(node="n2"))
    assert (answer.status_code, answer.json()["reason"]) == (409, "Conflict")
    assert answer.json()["message"].endswith('pod a is already assigned to node "n1"')


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (binding(uid="11111111-2222-3333-4444-555555555555"), 409),
        (binding(resourceVersion="1"), 409),
        (binding(name="b"), 400),
        (binding(namespace="other"), 400),
        ({"target": {"name": "n1"}}, 400),
        (binding(node=""), 500),
        ({"metadata": {"name": "a"}, "target": {"kind": "Pod", "name": "n1"}}, 500),
    ],
)
async def test_a_binding_that_is_refused_binds_nothing(
    server: ApiServer, client: httpx.AsyncClient, nodes: None, body: JSON, code: int
) -> None:
    assert (await client.post(f"{PODS}/a/binding", json=body)).status_code == code
    assert "nodeName" not in server.get("pods", "a")["spec"]


async def test_those_who_have_a_say_are_asked(server: ApiServer, client: httpx.AsyncClient, nodes: None) -> None:
    def refuse(pod: JSON, node: str) -> None:
        raise ApiError.conflict("pods/binding", pod["metadata"]["name"], f"{node} is taken")

    server.bind_admission.append(refuse)
    for path in (f"{PODS}/a/binding", BINDINGS):
        answer = await client.post(path, json=binding())
        assert answer.status_code == 409
        assert "n1 is taken" in answer.json()["message"]
    assert "nodeName" not in server.get("pods", "a")["spec"]


async def test_a_dry_run_binds_nothing(server: ApiServer, client: httpx.AsyncClient, nodes: None) -> None:
    answer = await client.post(f"{PODS}/a/binding?dryRun=All", json=binding())
    assert answer.status_code == 201
    assert "nodeName" not in server.get("pods", "a")["spec"]
