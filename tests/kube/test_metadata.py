"""The rules of metadata: what holds for all kinds, and where kinds differ."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from .conftest import CONFIGMAPS, config_map

NODES = "/api/v1/nodes"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
CONTROLLERS = "/api/v1/namespaces/default/replicationcontrollers"
BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
RUNTIME_CLASSES = "/apis/node.k8s.io/v1/runtimeclasses"
ROLES = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles"

TEMPLATE = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
OBJECTS: dict[str, dict[str, Any]] = {
    CONFIGMAPS: {"apiVersion": "v1", "kind": "ConfigMap"},
    NODES: {"apiVersion": "v1", "kind": "Node"},
    LEASES: {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease"},
    CONTROLLERS: {"apiVersion": "v1", "kind": "ReplicationController", "spec": {"template": TEMPLATE}},
    BUDGETS: {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "spec": {"minAvailable": 1}},
    RUNTIME_CLASSES: {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "handler": "h"},
    ROLES: {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "rules": []},
}
OWNER = {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u"}


def named(path: str, **metadata: Any) -> dict[str, Any]:
    return {**OBJECTS[path], "metadata": {"name": "x", **metadata}}


def fields(answer: httpx.Response) -> list[str]:
    return [cause["field"] for cause in answer.json()["details"]["causes"]]


@pytest.mark.parametrize("path", [CONFIGMAPS, NODES, LEASES, BUDGETS])
async def test_a_negative_generation_is_refused_where_the_kind_counts_none(
    client: httpx.AsyncClient, path: str
) -> None:
    answer = await client.post(path, json=named(path, generation=-1))
    # A kind that counts generations begins at one, whatever is sent.
    counts = path == BUDGETS
    assert answer.status_code == (201 if counts else 422)
    if not counts:
        assert fields(answer) == ["metadata.generation"]


@pytest.mark.parametrize(
    ("path", "known"), [(CONFIGMAPS, True), (NODES, True), (LEASES, False), (BUDGETS, False), (RUNTIME_CLASSES, False)]
)
async def test_only_some_kinds_know_which_finalizers_there_are(
    client: httpx.AsyncClient, path: str, known: bool
) -> None:
    answer = await client.post(path, json=named(path, finalizers=["unqualified"]))
    assert answer.status_code == (422 if known else 201)


@pytest.mark.parametrize(("path", "looks"), [(CONFIGMAPS, True), (CONTROLLERS, False), (BUDGETS, False)])
async def test_a_prefix_beside_a_name_has_to_be_one_for_some_kinds(
    client: httpx.AsyncClient, path: str, looks: bool
) -> None:
    answer = await client.post(path, json=named(path, generateName="Bad!"))
    assert answer.status_code == (422 if looks else 201)


async def test_a_change_is_judged_like_a_new_object(client: httpx.AsyncClient) -> None:
    await client.post(CONFIGMAPS, json=config_map("x"))
    answer = await client.put(f"{CONFIGMAPS}/x", json=named(CONFIGMAPS, generateName="Bad!"))
    assert (answer.status_code, fields(answer)) == (422, ["metadata.generateName"])


@pytest.mark.parametrize(("path", "unconditional"), [(CONFIGMAPS, True), (BUDGETS, False), (RUNTIME_CLASSES, False)])
async def test_some_kinds_are_replaced_at_a_version_only(
    client: httpx.AsyncClient, path: str, unconditional: bool
) -> None:
    made = (await client.post(path, json=named(path))).json()
    answer = await client.put(f"{path}/x", json=named(path, labels={"a": "b"}))
    if unconditional:
        assert answer.status_code == 200
        return
    assert (answer.status_code, fields(answer)) == (422, ["metadata.resourceVersion"])
    made["metadata"]["labels"] = {"a": "b"}
    assert (await client.put(f"{path}/x", json=made)).status_code == 200


@pytest.mark.parametrize(("version", "code"), [("7", 500), ("0", 201), ("no number", 201)])
async def test_what_is_new_has_no_version_yet(client: httpx.AsyncClient, version: str, code: int) -> None:
    assert (await client.post(CONFIGMAPS, json=named(CONFIGMAPS, resourceVersion=version))).status_code == code


async def test_a_dry_run_never_asks_the_storage_about_the_version(client: httpx.AsyncClient) -> None:
    answer = await client.post(f"{CONFIGMAPS}?dryRun=All", json=named(CONFIGMAPS, resourceVersion="7"))
    assert (answer.status_code, answer.json()["metadata"]["resourceVersion"]) == (201, "7")


async def test_a_namespace_means_nothing_outside_of_them(client: httpx.AsyncClient) -> None:
    made = await client.post(NODES, json=named(NODES, namespace="elsewhere"))
    assert made.status_code == 201
    assert "namespace" not in made.json()["metadata"]
    assert (await client.put(f"{NODES}/x", json=named(NODES, namespace="elsewhere"))).status_code == 200
    assert (await client.post(CONFIGMAPS, json=named(CONFIGMAPS, namespace="elsewhere"))).status_code == 400


async def test_the_same_owner_twice_is_one_and_a_warning(client: httpx.AsyncClient) -> None:
    made = await client.post(CONFIGMAPS, json=named(CONFIGMAPS, ownerReferences=[OWNER, OWNER]))
    assert made.json()["metadata"]["ownerReferences"] == [OWNER]
    assert "duplicate UID(s) observed: u" in made.headers["warning"]
    other = {**OWNER, "name": "m"}  # the same uid, but not the same
    changed = await client.put(f"{CONFIGMAPS}/x", json=named(CONFIGMAPS, ownerReferences=[OWNER, other, other]))
    assert changed.json()["metadata"]["ownerReferences"] == [OWNER, other]
    assert "warning" in changed.headers


async def test_an_empty_text_is_no_time(client: httpx.AsyncClient) -> None:
    answer = await client.post(CONFIGMAPS, json=named(CONFIGMAPS, creationTimestamp=""))
    assert answer.status_code == 400
    assert 'parsing time "" as' in answer.json()["message"]
    assert (await client.post(CONFIGMAPS, json=named(CONFIGMAPS, creationTimestamp=None))).status_code == 201
