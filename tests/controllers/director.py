"""The director of a scenario on a cluster: users with their deeds, a scheduler, and somebody who looks and takes notes.

It speaks HTTP, beside a real kube-controller-manager (`program.py`) and in process (`playing.py`): the same each time.
"""

from __future__ import annotations

from typing import Any

import httpx

from batkube.kube.apimachinery.taints import tolerates

from .looks import Looks
from .naming import Names, node_meant
from .scenario import Deed, Scenario

JSON = dict[str, Any]

MERGE_PATCH = "application/merge-patch+json"
OVER = ("Succeeded", "Failed")


class Director:
    """`events` come to `told`; `place` gives nodes to the pods that wait; `act` does what is due."""

    def __init__(self, scenario: Scenario, client: httpx.AsyncClient, epoch: float) -> None:
        self._client = client
        self._names = Names()
        self._pods: dict[str, JSON] = {}
        self._nodes: dict[str, JSON] = {}
        self._deeds = sorted(scenario.deeds, key=lambda deed: deed.at)
        self._times = list(scenario.looks)
        self._kinds = [*scenario.kinds, "v1/events"]
        self.looks = Looks(self._names, epoch)

    def next_date(self) -> float | None:
        """Return the simulated second of the next deed or look; None if all is done."""
        dates = [*(deed.at for deed in self._deeds[:1]), *self._times[:1]]
        return min(dates, default=None)

    async def act(self, now: float) -> None:
        """Do what is due at this simulated second."""
        while self._deeds and self._deeds[0].at <= now:
            await self._do(self._deeds.pop(0))
        while self._times and self._times[0] <= now:
            self.looks.add(self._times.pop(0), [(kind, await self._list(kind)) for kind in self._kinds])

    def told(self, resource: str, change: str, obj: JSON) -> None:
        """Take note of a change of a pod or a node."""
        if resource == "pods":
            self._names.met(obj)
        known = self._pods if resource == "pods" else self._nodes
        if change == "DELETED":
            known.pop(_key(obj), None)
        else:
            known[_key(obj)] = obj

    async def place(self) -> None:
        """Give each pod that waits, in order of arrival, the first node by name that takes it."""
        for key, pod in list(self._pods.items()):
            if pod["spec"].get("nodeName") or pod["metadata"].get("deletionTimestamp") or _is_over(pod):
                continue
            node = next((name for name in sorted(self._nodes) if self._takes(self._nodes[name], pod)), None)
            if node is None:
                continue
            metadata = pod["metadata"]
            binding = {"metadata": {"name": metadata["name"]}, "target": {"kind": "Node", "name": node}}
            path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}/binding"
            if (await self._client.post(path, json=binding)).status_code == 201:
                self._pods[key] = {**pod, "spec": {**pod["spec"], "nodeName": node}}

    def _takes(self, node: JSON, pod: JSON) -> bool:
        spec, name = pod["spec"], node["metadata"]["name"]
        if node_meant(pod) not in ("", name):
            return False
        labels = node["metadata"].get("labels") or {}
        if any(labels.get(key) != value for key, value in (spec.get("nodeSelector") or {}).items()):
            return False
        cordon = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
        given = node.get("spec") or {}
        taints = [*(given.get("taints") or ()), *([cordon] if given.get("unschedulable") else ())]
        hard = [taint for taint in taints if taint["effect"] != "PreferNoSchedule"]
        if not all(any(tolerates(one, taint) for one in spec.get("tolerations") or ()) for taint in hard):
            return False
        used = sum(_cpu(other) for other in self._pods.values() if _runs_on(other, name))
        return used + _cpu(pod) <= float(node["status"]["allocatable"]["cpu"])

    async def _do(self, deed: Deed) -> None:
        if deed.create is not None:
            namespace = deed.create["metadata"].get("namespace", deed.namespace)
            version, kind = deed.create["apiVersion"], deed.create["kind"].lower()
            path = self._path(f"{version}/{kind}s/", namespace).rstrip("/")
            answer = await self._client.post(path, json=deed.create)
        elif deed.patch:
            path = self._path(deed.patch, deed.namespace)
            answer = await self._client.request("PATCH", path, json=deed.body, headers={"Content-Type": MERGE_PATCH})
        elif deed.scale:
            path, scale = self._path(deed.scale, deed.namespace) + "/scale", {"spec": {"replicas": deed.replicas}}
            answer = await self._client.request("PATCH", path, json=scale, headers={"Content-Type": MERGE_PATCH})
        elif deed.evict:
            name = self._names.real(deed.evict)
            eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
            path = self._path(f"v1/pods/{name}", deed.namespace) + "/eviction"
            answer = await self._client.post(path, json=eviction)
            self.looks.evicted(deed.at, answer.status_code)
            return
        else:
            body = {"propagationPolicy": deed.propagation} if deed.propagation else {}
            answer = await self._client.request("DELETE", self._path(deed.delete, deed.namespace), json=body)
        answer.raise_for_status()

    async def _list(self, kind: str) -> list[JSON]:
        version, _, plural = kind.rpartition("/")
        answer = await self._client.get(f"{_root(version)}/{plural}")
        answer.raise_for_status()
        items: list[JSON] = answer.json()["items"]
        return items

    def _path(self, target: str, namespace: str) -> str:
        """Return the path of an object, as `apps/v1/deployments/web` or `v1/nodes/h0`."""
        kind, _, name = target.rpartition("/")
        version, _, plural = kind.rpartition("/")
        place = "" if plural in ("nodes", "namespaces", "persistentvolumes") else f"/namespaces/{namespace}"
        return f"{_root(version)}{place}/{plural}/{self._names.real(name)}"


def _root(version: str) -> str:
    return f"/apis/{version}" if "/" in version else f"/api/{version}"


def _key(obj: JSON) -> str:
    namespace = obj["metadata"].get("namespace")
    return f"{namespace}/{obj['metadata']['name']}" if namespace else str(obj["metadata"]["name"])


def _is_over(pod: JSON) -> bool:
    return (pod.get("status") or {}).get("phase") in OVER


def _runs_on(pod: JSON, node: str) -> bool:
    return pod["spec"].get("nodeName") == node and not _is_over(pod)


def _cpu(pod: JSON) -> float:
    """Return the cores that it asks for; scenarios write whole numbers."""
    asked = ((container.get("resources") or {}).get("requests") or {} for container in pod["spec"]["containers"])
    return sum(float(requests.get("cpu", 0)) for requests in asked)
