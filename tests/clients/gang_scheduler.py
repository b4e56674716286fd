"""A gang scheduler that asks the API for what Volcano and kube-batch ask it for, in their ways.

It follows pods, nodes, pod groups, queues, priority classes and disruption budgets by list and watch, and decides in
sessions over what it knows: a pod group is placed as a whole or not at all, the one of the highest priority first, and
one of a lower priority leaves where that makes room.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import kubernetes_asyncio
from kubernetes_asyncio.client import ApiException

JSON = dict[str, Any]

GROUP_NAME = "scheduling.k8s.io/group-name"
"""The annotation by which a pod says which pod group it is of."""


@dataclass(frozen=True)
class Dialect:
    """The versions that a gang scheduler was built with."""

    name: str
    gangs: tuple[str, str]  # group and version of its own kinds
    budgets: tuple[str, str]
    priorities: tuple[str, str]


VOLCANO = Dialect("volcano", ("scheduling.volcano.sh", "v1beta1"), ("policy", "v1"), ("scheduling.k8s.io", "v1"))
KUBE_BATCH = Dialect(
    "kube-batch", ("scheduling.incubator.k8s.io", "v1alpha1"), ("policy", "v1beta1"), ("scheduling.k8s.io", "v1beta1")
)


class GangScheduler:
    """`known` has the objects by kind, namespace and name, kept by watches."""

    def __init__(self, api: Any, dialect: Dialect) -> None:
        self.core: Any = kubernetes_asyncio.client.CoreV1Api(api)
        self.gangs: Any = kubernetes_asyncio.client.CustomObjectsApi(api)
        self.dialect = dialect
        self.known: dict[str, dict[tuple[str, str], JSON]] = {}
        self.changed = asyncio.Event()
        self._plain = api.sanitize_for_serialization

    async def run(self, started: asyncio.Event) -> None:
        """All caches are filled, all watches open, and the default queue is there once it has started."""
        gangs, anything = self.dialect.gangs, self.gangs.list_cluster_custom_object
        followed: dict[str, Callable[..., Any]] = {
            "Node": self.core.list_node,
            "Pod": self.core.list_pod_for_all_namespaces,
            "PersistentVolume": self.core.list_persistent_volume,
            "PersistentVolumeClaim": self.core.list_persistent_volume_claim_for_all_namespaces,
            "StorageClass": partial(anything, "storage.k8s.io", "v1", "storageclasses"),
            "PodDisruptionBudget": partial(anything, *self.dialect.budgets, "poddisruptionbudgets"),
            "PriorityClass": partial(anything, *self.dialect.priorities, "priorityclasses"),
            "PodGroup": partial(anything, *gangs, "podgroups"),
            "Queue": partial(anything, *gangs, "queues"),
        }
        async with asyncio.TaskGroup() as tasks:
            for kind, listed in followed.items():
                found = self._plain(await listed())
                self.known[kind] = {_key(item): item for item in found["items"]}
                tasks.create_task(self._watch(kind, listed, found["metadata"]["resourceVersion"]))
            if ("", "default") not in self.known["Queue"]:
                queue = {"apiVersion": "/".join(gangs), "kind": "Queue", "metadata": {"name": "default"}}
                await self.gangs.create_cluster_custom_object(*gangs, "queues", {**queue, "spec": {"weight": 1}})
            started.set()
            await self._decide()

    async def _watch(self, kind: str, listed: Callable[..., Any], version: str) -> None:
        while True:
            async with kubernetes_asyncio.watch.Watch("object") as watcher:
                async for event in watcher.stream(listed, resource_version=version, timeout_seconds=5):
                    item = event["raw_object"]
                    version = item["metadata"]["resourceVersion"]
                    if event["type"] == "DELETED":
                        self.known[kind].pop(_key(item), None)
                    else:
                        self.known[kind][_key(item)] = item
                    self.changed.set()

    async def _decide(self) -> None:
        """A session whenever something has changed. What was decided on an old state is decided again."""
        while True:
            await self.changed.wait()
            self.changed.clear()
            try:
                await self._session()
            except ApiException as refused:
                if refused.status not in (404, 409):
                    raise
                await asyncio.sleep(0.05)
                self.changed.set()

    async def _session(self) -> None:
        groups = sorted(self.known["PodGroup"].values(), key=lambda group: (-self._priority(group), _key(group)))
        for group in groups:
            pods = self._pods(group)
            running = sum(map(_running, pods))
            waiting = [pod for pod in pods if not pod["spec"].get("nodeName") and not _leaving(pod)]
            if not waiting:
                continue
            placed = self._place(waiting, self._free())
            if placed and running + len(placed) >= group["spec"]["minMember"]:
                for pod, node in placed:
                    await self._bind(pod, node)
                await self._say(group, "Running", running + len(placed), "Scheduled", "tasks in gang are ready")
                return
            await self._refuse(group, waiting, running + len(placed))
            if await self._evict_for(group):
                return

    def _priority(self, group: JSON) -> int:
        name = group["spec"].get("priorityClassName")
        value = self.known["PriorityClass"].get(("", name), {}).get("value", 0) if name else 0
        return int(value)

    def _pods(self, group: JSON) -> list[JSON]:
        namespace, name = _key(group)
        return [
            pod
            for key, pod in sorted(self.known["Pod"].items())
            if key[0] == namespace and (pod["metadata"].get("annotations") or {}).get(GROUP_NAME) == name
        ]

    def _free(self) -> dict[str, int]:
        """Cores that nobody has, by node."""
        free = {name: int(node["status"]["allocatable"]["cpu"]) for (_, name), node in self.known["Node"].items()}
        for pod in self.known["Pod"].values():
            node = pod["spec"].get("nodeName")
            if node in free and pod["status"].get("phase") not in ("Succeeded", "Failed"):
                free[node] -= _cores(pod)
        return free

    def _place(self, pods: list[JSON], free: dict[str, int]) -> list[tuple[JSON, str]]:
        placed = []
        for pod in pods:
            node = next((name for name in sorted(free) if free[name] >= _cores(pod)), None)
            if node is not None:
                free[node] -= _cores(pod)
                placed.append((pod, node))
        return placed

    async def _bind(self, pod: JSON, node: str) -> None:
        namespace, name = _key(pod)
        pod["spec"]["nodeName"] = node  # assumed, before the watch says so
        metadata = {"name": name, "namespace": namespace, "uid": pod["metadata"]["uid"]}
        body = {"metadata": metadata, "target": {"kind": "Node", "name": node}}
        await self.core.create_namespaced_pod_binding(name, namespace, body, _preload_content=False)

    async def _refuse(self, group: JSON, pods: list[JSON], fit: int) -> None:
        why = f"{fit}/{group['spec']['minMember']} tasks in gang schedulable"
        await self._say(group, "Inqueue", 0, "Unschedulable", why)
        for pod in pods:
            condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": why}
            if condition not in _conditions(pod):
                await self._set_conditions(pod, condition)

    async def _evict_for(self, group: JSON) -> bool:
        """The last pod group of a lower priority that runs has to go."""
        lower = [
            other
            for other in self.known["PodGroup"].values()
            if self._priority(other) < self._priority(group) and any(map(_running, self._pods(other)))
        ]
        if not lower:
            return False
        victim = min(lower, key=lambda other: (self._priority(other), _key(other)))
        for pod in filter(_running, self._pods(victim)):
            namespace, name = _key(pod)
            target = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
            await self._set_conditions(pod, {"type": "Ready", "status": "False", "reason": "Evict"}, target)
            await self.core.delete_namespaced_pod(name, namespace)
            reference = {"kind": "Pod", "namespace": namespace, "name": name, "uid": pod["metadata"]["uid"]}
            event = {"metadata": {"generateName": f"{name}."}, "involvedObject": reference, "type": "Warning"}
            event |= {"reason": "Evict", "message": f"for {group['metadata']['name']}"}
            event["source"] = {"component": self.dialect.name}
            await self.core.create_namespaced_event(namespace, event)
        return True

    async def _set_conditions(self, pod: JSON, *conditions: JSON) -> None:
        """By an update of the status, as these schedulers do: with all the rest as it was read."""
        types = {condition["type"] for condition in conditions}
        kept = [condition for condition in pod["status"].get("conditions") or () if condition["type"] not in types]
        status = {**pod["status"], "conditions": [*kept, *conditions]}
        namespace, name = _key(pod)
        answer = await self.core.replace_namespaced_pod_status(name, namespace, {**pod, "status": status})
        pod["metadata"]["resourceVersion"] = answer.metadata.resource_version
        pod["status"] = status

    async def _say(self, group: JSON, phase: str, running: int, reason: str, message: str) -> None:
        status: JSON = {"running": running}
        if self.dialect == VOLCANO:
            condition = {"type": reason, "status": "True", "message": message}
            status |= {"phase": phase, "conditions": [condition]}
        if group.get("status") != status:
            group["status"] = status
            namespace, name = _key(group)
            path = (*self.dialect.gangs[:2], namespace, "podgroups", name)
            made = await self.gangs.replace_namespaced_custom_object(*path, group)  # there is no /status here
            group["metadata"]["resourceVersion"] = made["metadata"]["resourceVersion"]


@asynccontextmanager
async def scheduling(kubeconfig: str, dialect: Dialect) -> AsyncIterator[GangScheduler]:
    """It runs meanwhile; what ended it early is raised."""
    settings = kubernetes_asyncio.client.Configuration()
    await kubernetes_asyncio.config.load_kube_config(kubeconfig, client_configuration=settings)
    async with kubernetes_asyncio.client.ApiClient(settings) as api:
        scheduler = GangScheduler(api, dialect)
        async with asyncio.TaskGroup() as tasks:
            started = asyncio.Event()
            task = tasks.create_task(scheduler.run(started))
            await started.wait()
            yield scheduler
            task.cancel()


def _key(obj: Mapping[str, Any]) -> tuple[str, str]:
    return obj["metadata"].get("namespace", ""), obj["metadata"]["name"]


def _cores(pod: JSON) -> int:
    return sum(int(container["resources"]["requests"]["cpu"]) for container in pod["spec"]["containers"])


def _conditions(pod: JSON) -> list[JSON]:
    names = ("type", "status", "reason", "message")
    return [{name: each[name] for name in names if name in each} for each in pod["status"].get("conditions") or ()]


def _leaving(pod: JSON) -> bool:
    return "deletionTimestamp" in pod["metadata"]


def _running(pod: JSON) -> bool:
    ended = pod["status"].get("phase") in ("Succeeded", "Failed")
    return bool(pod["spec"].get("nodeName")) and not ended and not _leaving(pod)
