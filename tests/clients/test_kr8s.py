"""kr8s: kinds found by discovery, every way to write that it has, node work, and a controller that plays kubelet."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import kr8s.asyncio
import pytest
from kr8s.asyncio.objects import Deployment, Node, Pod, new_class, object_from_spec

from .conftest import DEPLOYMENT

pytestmark = [
    pytest.mark.filterwarnings("ignore:Kubernetes version .* is not supported"),
    pytest.mark.filterwarnings("ignore:Unverified HTTPS request"),
]

POD: dict[str, Any] = {"spec": {"containers": [{"name": "main", "image": "job"}]}}


@pytest.fixture
async def api(kubeconfig: Path, namespace: str) -> kr8s.asyncio.Api:
    return await kr8s.asyncio.api(kubeconfig=str(kubeconfig), namespace=namespace)


async def listed(api: Any, kind: str, **options: Any) -> list[str]:
    return [str(one.name) async for one in api.get(kind, **options)]


async def test_it_finds_its_way(api: kr8s.asyncio.Api, namespace: str) -> None:
    assert (await api.version())["gitVersion"].startswith("v1.")
    kinds = {one["kind"] for one in await api.api_resources()}
    assert {"Pod", "Node", "Deployment", "ResourceClaim", "CustomResourceDefinition"} <= kinds
    assert "apps/v1" in [version async for version in api.api_versions()]
    # Names as kubectl takes them.
    for name in ("deploy", "deployments.apps", "Deployment"):
        assert await api.lookup_kind(name) == ("deployment.apps/v1", "deployments", True)
    assert namespace in await listed(api, "ns")
    with pytest.raises(kr8s.NotFoundError):
        await Pod.get("nobody", namespace=namespace, api=api)


async def test_it_writes_in_every_way(api: kr8s.asyncio.Api, namespace: str) -> None:
    deployment = await Deployment({**DEPLOYMENT, "metadata": {"name": "web", "namespace": namespace}}, api=api)
    await deployment.create()
    with pytest.raises(kr8s.ServerError, match="already exists"):
        await deployment.create()
    await deployment.scale(0)
    assert deployment.replicas == 0
    await deployment.label({"tier": "front"})
    await deployment.annotate(note="kept")
    await deployment.patch([{"op": "add", "path": "/metadata/labels/zone", "value": "a"}], type="json")
    assert dict(deployment.labels) == {"tier": "front", "zone": "a"}
    await deployment.remove_label("zone")
    assert await listed(api, "deployments", label_selector={"tier": "front"}) == ["web"]
    assert await listed(api, "deployments", label_selector="zone") == []
    await deployment.delete(propagation_policy="Background")
    assert not await deployment.exists()


async def test_it_works_on_nodes(api: kr8s.asyncio.Api) -> None:
    node = await Node({"metadata": {"name": "of-kr8s"}}, api=api)
    await node.create()
    await node.cordon()
    assert node.unschedulable
    await node.taint("dedicated", "batch", effect="NoSchedule")
    assert ("dedicated", "NoSchedule") in [(taint.key, taint.effect) for taint in node.taints]
    await node.uncordon()
    assert not node.unschedulable
    await node.delete()


async def test_it_knows_custom_resources(api: kr8s.asyncio.Api, namespace: str) -> None:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": "shirts", "singular": "shirt", "kind": "Shirt"}
    definition = await object_from_spec(
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "shirts.kr8s.example.com"},
            "spec": {"group": "kr8s.example.com", "scope": "Namespaced", "names": names, "versions": [version]},
        },
        api=api,
        allow_unknown_type=True,
    )
    await definition.create()
    shirt_type: Any = new_class(kind="Shirt", version="kr8s.example.com/v1", namespaced=True)
    shirt = await shirt_type({"metadata": {"name": "one", "namespace": namespace}, "spec": {"size": "L"}}, api=api)
    await shirt.create()
    await shirt.patch({"spec": {"size": "M"}})
    found = await shirt_type.get("one", namespace=namespace, api=api)
    assert found.spec.size == "M"
    await definition.delete()


async def test_it_runs_a_controller(api: kr8s.asyncio.Api, namespace: str) -> None:
    """The controller plays the kubelet: pods that are seen run, and then succeed; another waits for that."""

    async def play_kubelet() -> None:
        phases = {"Pending": "Running", "Running": "Succeeded"}
        async for event, pod in api.watch("pods", namespace=namespace):
            phase = phases.get(pod.status.phase)
            if event != "DELETED" and phase:
                await pod.patch({"status": {"phase": phase}}, subresource="status")

    kubelet = asyncio.create_task(play_kubelet())
    try:
        pods = [await Pod({**POD, "metadata": {"name": f"p{n}", "namespace": namespace}}, api=api) for n in range(4)]
        for pod in pods:
            await pod.create()
        for pod in pods:
            await pod.wait("jsonpath='{.status.phase}'=Succeeded", timeout=120)
    finally:
        kubelet.cancel()
    assert await listed(api, "pods", field_selector="status.phase=Succeeded") == [f"p{n}" for n in range(4)]
