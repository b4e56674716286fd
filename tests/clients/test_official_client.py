"""The official Python client: pages, watches that end and go on, every way to write, a small scheduler."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config, dynamic, watch

from .conftest import DEPLOYMENT


@pytest.fixture
def official(kubeconfig: Path) -> Iterator[Any]:
    with config.new_client_from_config(str(kubeconfig)) as api:
        yield api


def test_it_writes_in_every_way(official: Any, namespace: str) -> None:
    core: Any = client.CoreV1Api(official)
    apps: Any = client.AppsV1Api(official)
    made = core.create_namespaced_config_map(namespace, {"metadata": {"name": "c"}, "data": {"a": "1"}})
    made.data["b"] = "2"
    core.replace_namespaced_config_map("c", namespace, made)
    with pytest.raises(client.ApiException) as refused:
        core.replace_namespaced_config_map("c", namespace, made)
    assert (refused.value.status, refused.value.reason) == (409, "Conflict")
    patched = core.patch_namespaced_config_map("c", namespace, {"data": {"a": None, "c": "3"}})
    assert patched.data == {"b": "2", "c": "3"}
    operations = [{"op": "remove", "path": "/data/b"}]
    assert core.patch_namespaced_config_map("c", namespace, operations).data == {"c": "3"}
    options = {"field_manager": "tests", "_content_type": "application/apply-patch+yaml"}
    applied = apps.patch_namespaced_deployment("web", namespace, DEPLOYMENT, **options)
    assert (applied.metadata.generation, applied.metadata.managed_fields[0].operation) == (1, "Apply")
    scale = apps.patch_namespaced_deployment_scale("web", namespace, {"spec": {"replicas": 5}})
    assert scale.spec.replicas == 5
    with pytest.raises(client.ApiException) as refused:
        apps.patch_namespaced_deployment("web", namespace, DEPLOYMENT, **{**options, "field_manager": "others"})
    assert refused.value.status == 409
    assert core.delete_namespaced_config_map("c", namespace)["status"] == "Success"
    assert core.list_namespaced_config_map(namespace).items == []


def test_it_lists_in_pages(official: Any, namespace: str) -> None:
    core: Any = client.CoreV1Api(official)
    for number in range(7):
        core.create_namespaced_config_map(namespace, {"metadata": {"name": f"c{number}"}})
    page = core.list_namespaced_config_map(namespace, limit=3)
    names = [item.metadata.name for item in page.items]
    while page.metadata._continue:
        page = core.list_namespaced_config_map(namespace, limit=3, _continue=page.metadata._continue)
        names += [item.metadata.name for item in page.items]
    assert names == [f"c{number}" for number in range(7)]


def test_it_watches_on_where_it_was(official: Any, namespace: str) -> None:
    core: Any = client.CoreV1Api(official)
    watcher = watch.Watch()
    seen = []
    steps = iter(range(3))
    # The server ends each watch after a second; the client goes on from the last version it has seen.
    stream = watcher.stream(core.list_namespaced_config_map, namespace, timeout_seconds=1)
    version = core.list_namespaced_config_map(namespace).metadata.resource_version
    core.create_namespaced_config_map(namespace, {"metadata": {"name": "first"}})
    for _ in range(3):
        stream = watcher.stream(core.list_namespaced_config_map, namespace, timeout_seconds=1, resource_version=version)
        for event in stream:
            seen.append((event["type"], event["object"].metadata.name))
            version = event["object"].metadata.resource_version
        core.create_namespaced_config_map(namespace, {"metadata": {"name": f"between-{next(steps)}"}})
    assert seen == [("ADDED", "first"), ("ADDED", "between-0"), ("ADDED", "between-1")]


def test_the_dynamic_client(official: Any, namespace: str) -> None:
    cluster = dynamic.DynamicClient(official)
    deployments = cluster.resources.get(api_version="apps/v1", kind="Deployment")
    applied = cluster.server_side_apply(deployments, DEPLOYMENT, "web", namespace, field_manager="tests")
    assert applied.spec.replicas == 2
    (listed,) = deployments.get(namespace=namespace, label_selector="").items
    assert listed.metadata.name == "web"
    status = {"status": {"replicas": 2}}
    kind = "application/merge-patch+json"
    patched = deployments.status.patch(body=status, name="web", namespace=namespace, content_type=kind)
    assert patched.status.replicas == 2
    deployments.delete(name="web", namespace=namespace)
    assert deployments.get(namespace=namespace).items == []


def test_it_runs_a_controller(official: Any, namespace: str) -> None:
    """Pods are bound in the order in which they are seen, as the smallest schedulers do it."""
    core: Any = client.CoreV1Api(official)
    container = {"name": "main", "image": "job"}
    for number in range(5):
        pod = {"metadata": {"name": f"p{number}"}, "spec": {"containers": [container], "schedulerName": "mine"}}
        core.create_namespaced_pod(namespace, pod)
    bound = []
    watcher = watch.Watch()
    wanted = "spec.schedulerName=mine,spec.nodeName="
    for event in watcher.stream(core.list_namespaced_pod, namespace, field_selector=wanted, timeout_seconds=180):
        if event["type"] == "ADDED":
            name = event["object"].metadata.name
            target = client.V1ObjectReference(kind="Node", api_version="v1", name="n1")
            binding = client.V1Binding(metadata=client.V1ObjectMeta(name=name), target=target)
            core.create_namespaced_pod_binding(name, namespace, binding, _preload_content=False)
        elif event["type"] == "DELETED":  # bound, and so out of the selector
            bound.append(event["object"].metadata.name)
            if len(bound) == 5:
                watcher.stop()
    assert sorted(bound) == [f"p{number}" for number in range(5)]
    pods = core.list_namespaced_pod(namespace).items
    assert {pod.spec.node_name for pod in pods} == {"n1"}
