"""kubernetes_asyncio: every way to write, and a controller whose watch ends again and again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import kubernetes_asyncio
import pytest
from kubernetes_asyncio.client.rest import ApiException
from kubernetes_asyncio.dynamic import DynamicClient

from .conftest import DEPLOYMENT


@pytest.fixture
async def asynchronous(kubeconfig: Path) -> AsyncIterator[Any]:
    settings = kubernetes_asyncio.client.Configuration()
    await kubernetes_asyncio.config.load_kube_config(str(kubeconfig), client_configuration=settings)
    async with kubernetes_asyncio.client.ApiClient(settings) as api:
        yield api


async def test_it_writes_in_every_way(asynchronous: Any, namespace: str) -> None:
    core: Any = kubernetes_asyncio.client.CoreV1Api(asynchronous)
    made = await core.create_namespaced_config_map(namespace, {"metadata": {"name": "c"}, "data": {"a": "1"}})
    made.data["b"] = "2"
    await core.replace_namespaced_config_map("c", namespace, made)
    with pytest.raises(ApiException) as refused:
        await core.replace_namespaced_config_map("c", namespace, made)
    assert refused.value.status == 409
    patched = await core.patch_namespaced_config_map("c", namespace, {"data": {"a": None}})
    assert patched.data == {"b": "2"}
    cluster = await DynamicClient(asynchronous)
    deployments = await cluster.resources.get(api_version="apps/v1", kind="Deployment")
    applied = await cluster.server_side_apply(
        resource=deployments, body=DEPLOYMENT, name="web", namespace=namespace, field_manager="tests"
    )
    assert applied.spec.replicas == 2
    await deployments.delete(name="web", namespace=namespace)
    assert (await deployments.get(namespace=namespace)).items == []


async def test_it_runs_a_controller(asynchronous: Any, namespace: str) -> None:
    """A copy is kept of each config map, while the server ends the watch again and again."""
    core: Any = kubernetes_asyncio.client.CoreV1Api(asynchronous)

    async def keep_copies(version: str) -> None:
        while True:
            options = {"resource_version": version, "timeout_seconds": 1, "label_selector": "copy!=yes"}
            async with kubernetes_asyncio.watch.Watch() as watcher:
                async for event in watcher.stream(core.list_namespaced_config_map, namespace, **options):
                    original = event["object"]
                    version = original.metadata.resource_version
                    name = f"{original.metadata.name}-copy"
                    if event["type"] == "DELETED":
                        await core.delete_namespaced_config_map(name, namespace)
                    elif event["type"] == "ADDED":
                        copy = {"metadata": {"name": name, "labels": {"copy": "yes"}}, "data": original.data}
                        await core.create_namespaced_config_map(namespace, copy)
                    else:
                        await core.patch_namespaced_config_map(name, namespace, {"data": original.data})

    start = (await core.list_namespaced_config_map(namespace)).metadata.resource_version
    controller = asyncio.create_task(keep_copies(start))
    try:
        for number in range(4):
            body = {"metadata": {"name": f"c{number}"}, "data": {"n": str(number)}}
            await core.create_namespaced_config_map(namespace, body)
            await asyncio.sleep(0.6)
        await core.patch_namespaced_config_map("c1", namespace, {"data": {"n": "new"}})
        await core.delete_namespaced_config_map("c2", namespace)
        wanted = {"c0-copy": "0", "c1-copy": "new", "c3-copy": "3"}
        async with asyncio.timeout(180):
            while not controller.done():
                copies = await core.list_namespaced_config_map(namespace, label_selector="copy=yes")
                if {copy.metadata.name: copy.data["n"] for copy in copies.items} == wanted:
                    break
                await asyncio.sleep(0.05)
            else:
                await controller  # raises what ended it
    finally:
        controller.cancel()
        await asyncio.gather(controller, return_exceptions=True)
