"""Gangs are placed by what Volcano and kube-batch ask the API for, with resources of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes_asyncio
import pytest
import yaml

from tests.waiting import wait_until_async

from ..conformance.servers import batkube
from .gang_scheduler import GROUP_NAME, KUBE_BATCH, VOLCANO, Dialect, GangScheduler, scheduling

JSON = dict[str, Any]

CRDS = Path(__file__).with_name("gangs.yaml")
NODES = ("n1", "n2")


@pytest.fixture(params=[VOLCANO, KUBE_BATCH], ids=lambda dialect: dialect.name)
def dialect(request: pytest.FixtureRequest) -> Dialect:
    found: Dialect = request.param
    return found


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Iterator[str]:
    """Of a server that knows these resources, with two nodes of two cores."""
    objects: list[JSON] = [
        {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "urgent"}, "value": 1000}
    ]
    for name in NODES:
        resources = {"cpu": "2", "memory": "8Gi", "pods": "110"}
        status = {"capacity": resources, "allocatable": resources, "conditions": [{"type": "Ready", "status": "True"}]}
        objects.append({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status})
    (tmp_path / "objects.yaml").write_text(yaml.safe_dump_all(objects))
    with batkube("--crd", str(CRDS), "--objects", str(tmp_path / "objects.yaml"), tls=True) as server:
        (tmp_path / "kubeconfig").write_text(yaml.safe_dump(server.kubeconfig()))
        yield str(tmp_path / "kubeconfig")


class User:
    """Submits gangs, and plays the kubelet: pods that are told to end, end."""

    def __init__(self, scheduler: GangScheduler) -> None:
        self._core = scheduler.core
        self._gangs = scheduler.gangs
        self._dialect = scheduler.dialect

    async def submit(self, name: str, pods: int, at_least: int, **spec: Any) -> None:
        spec = {"minMember": at_least, "queue": "default", **spec}
        version = self._dialect.gangs
        group = {"apiVersion": "/".join(version), "kind": "PodGroup", "metadata": {"name": name}, "spec": spec}
        await self._gangs.create_namespaced_custom_object(*version, "default", "podgroups", group)
        for number in range(pods):
            container = {"name": "main", "image": "busybox", "resources": {"requests": {"cpu": "1"}}}
            pod: JSON = {"metadata": {"name": f"{name}-{number}", "annotations": {GROUP_NAME: name}}}
            pod["spec"] = {"schedulerName": self._dialect.name, "containers": [container]}
            await self._core.create_namespaced_pod("default", pod)

    async def pods(self, gang: str) -> list[Any]:
        found = (await self._core.list_namespaced_pod("default")).items
        return [pod for pod in found if pod.metadata.annotations[GROUP_NAME] == gang]

    async def runs(self, gang: str, pods: int) -> bool:
        """So many of its pods are bound."""
        return sum(1 for pod in await self.pods(gang) if pod.spec.node_name) == pods

    async def end(self, gang: str) -> None:
        for pod in await self.pods(gang):
            status = {"status": {"phase": "Succeeded"}}
            await self._core.patch_namespaced_pod_status(pod.metadata.name, "default", status)

    async def bury(self, gang: str) -> bool:
        """Delete its pods that are told to end; tell whether nothing is left of it."""
        for pod in await self.pods(gang):
            if pod.metadata.deletion_timestamp is not None:
                await self._core.delete_namespaced_pod(pod.metadata.name, "default", grace_period_seconds=0)
        return not await self.pods(gang)

    async def evicted(self, pods: list[str]) -> bool:
        """Return whether events say of these that they were evicted, and of nobody else."""
        events = (await self._core.list_namespaced_event("default", field_selector="reason=Evict")).items
        return sorted(event.involved_object.name for event in events) == pods

    async def group(self, name: str) -> JSON:
        path = (*self._dialect.gangs, "default", "podgroups", name)
        found: JSON = await self._gangs.get_namespaced_custom_object(*path)
        return found


async def test_a_gang_starts_as_a_whole_or_waits(kubeconfig: str, dialect: Dialect) -> None:
    async with scheduling(kubeconfig, dialect) as scheduler:
        user = User(scheduler)
        await user.submit("first", pods=3, at_least=3)
        await user.submit("second", pods=2, at_least=2)

        async def refused() -> bool:
            conditions = [pod.status.conditions or [] for pod in await user.pods("second")]
            reasons = [each.reason for pod in conditions for each in pod if each.type == "PodScheduled"]
            return reasons == ["Unschedulable"] * 2

        await wait_until_async("the first gang runs", lambda: user.runs("first", 3))
        await wait_until_async("the second is told why it waits", refused)
        assert await user.runs("second", 0)
        await user.end("first")
        await wait_until_async("then it runs, too", lambda: user.runs("second", 2))

        async def told() -> bool:
            status = (await user.group("second")).get("status", {})
            return status.get("running") == 2 and (dialect != VOLCANO or status.get("phase") == "Running")

        await wait_until_async("its group says so", told)
        if dialect == VOLCANO:
            assert (await user.group("second"))["spec"]["queue"] == "default"


async def test_an_urgent_gang_takes_the_place_of_another(kubeconfig: str, dialect: Dialect) -> None:
    async with scheduling(kubeconfig, dialect) as scheduler:
        user = User(scheduler)
        await user.submit("patient", pods=4, at_least=2)
        await wait_until_async("the first gang runs", lambda: user.runs("patient", 4))
        await user.submit("urgent", pods=2, at_least=2, priorityClassName="urgent")
        await wait_until_async("the other has left", lambda: user.bury("patient"))
        await wait_until_async("the urgent one runs", lambda: user.runs("urgent", 2))
        everybody = [f"patient-{number}" for number in range(4)]
        await wait_until_async("events say who was evicted", lambda: user.evicted(everybody))


async def test_gangs_are_checked_by_their_schema(kubeconfig: str, dialect: Dialect) -> None:
    async with scheduling(kubeconfig, dialect) as scheduler:
        with pytest.raises(kubernetes_asyncio.client.ApiException) as refused:
            await User(scheduler).submit("odd", pods=0, at_least="three")  # type: ignore[arg-type]
        assert refused.value.status == 422
        assert "spec.minMember" in str(refused.value.body)
