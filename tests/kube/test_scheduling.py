"""A scheduler inside the process writes the same as one over HTTP."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from batkube.kube.apimachinery.status import ApiError
from batkube.kube.server import ApiServer
from batkube.kube.storage.store import Change

from .conftest import PODS, pod

JSON = dict[str, Any]


@pytest.fixture
def two(server: ApiServer) -> None:
    """A node in a zone, and two pods that are alike."""
    server.create("nodes", {"metadata": {"name": "n1", "labels": {"topology.kubernetes.io/zone": "z"}}})
    for name in ("a", "b"):
        server.create("pods", {**pod(name, app="x")}, "default")


def alike(server: ApiServer) -> bool:
    """Tell whether the pods differ in nothing but name, uid and version."""
    shown = []
    for name in ("a", "b"):
        found = server.get("pods", name)
        own = ("name", "uid", "resourceVersion")
        shown.append({**found, "metadata": {k: v for k, v in found["metadata"].items() if k not in own}})
    return shown[0] == shown[1]


async def test_a_binding_is_the_same_as_over_http(server: ApiServer, client: httpx.AsyncClient, two: None) -> None:
    before = server.get("pods", "b")
    untouched = repr(before)
    seen: list[Change] = []
    server.subscribe(seen.append)
    body = {"metadata": {"name": "a"}, "target": {"kind": "Node", "name": "n1"}}
    assert (await client.post(f"{PODS}/a/binding", json=body)).status_code == 201
    bound = server.bind("b", "n1", uid=before["metadata"]["uid"])
    assert bound["spec"]["nodeName"] == "n1"
    assert alike(server)
    assert [change.type for change in seen] == ["MODIFIED", "MODIFIED"]
    assert repr(before) == untouched


async def test_why_a_pod_waits_is_the_same_as_over_http(
    server: ApiServer, client: httpx.AsyncClient, two: None
) -> None:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no room"}
    shown = {**condition, "lastProbeTime": None, "lastTransitionTime": "1970-01-01T00:00:00Z"}
    patch = {"status": {"conditions": [shown]}}
    headers = {"Content-Type": "application/strategic-merge-patch+json"}
    assert (await client.patch(f"{PODS}/a/status", json=patch, headers=headers)).status_code == 200
    told = server.tell_unschedulable("b", "no room")
    (condition_of_b,) = [one for one in told["status"]["conditions"] if one["type"] == "PodScheduled"]
    assert {**condition, "lastProbeTime": None}.items() <= condition_of_b.items()
    revision = server.store.revision
    server.tell_unschedulable("b", "no room")
    assert server.store.revision == revision
    server.tell_unschedulable("b", "still none")
    assert server.store.revision == revision + 1
    server.bind("b", "n1")
    (scheduled,) = [one for one in server.get("pods", "b")["status"]["conditions"] if one["type"] == "PodScheduled"]
    assert scheduled["status"] == "True"


@pytest.mark.parametrize(
    ("name", "uid", "prepare", "code", "why"),
    [
        ("a", "another", [], 409, "Precondition failed"),
        ("nobody", "", [], 404, "not found"),
        ("a", "", ["bind"], 409, "already assigned"),
        ("a", "", ["refuse"], 409, "in use"),
    ],
)
def test_bindings_that_http_refuses_are_refused(
    server: ApiServer, two: None, name: str, uid: str, prepare: list[str], code: int, why: str
) -> None:
    def refuse(pod: JSON, node: str) -> None:
        raise ApiError.conflict("pods/binding", pod["metadata"]["name"], f"{node} is in use")

    if "bind" in prepare:
        server.bind("a", "n1")
    if "refuse" in prepare:
        server.bind_admission.append(refuse)
    revision = server.store.revision
    with pytest.raises(ApiError, match=why) as refused:
        server.bind(name, "n1", uid=uid)
    assert refused.value.code == code
    assert server.store.revision == revision
