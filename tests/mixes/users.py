"""The users of a mix: at their dates they do to the cluster what its life says, through its API."""

from pathlib import Path
from typing import Any

import httpx

from batkube.bridge.policy_quiescence import PolicyQuiescence
from batkube.bridge.time import SimulatedTime
from batkube.kube.server import ApiServer
from batkube.schedulers.policies.loading import load
from tests.mixes.life import Deed

JSON = dict[str, Any]

CORES = ("250m", "1", "2", "3")
STRATEGIC = {"Content-Type": "application/strategic-merge-patch+json"}


class FifoWithUsers(PolicyQuiescence):
    """The policy of fifo, and users who act whenever it is its turn and their dates have come."""

    def __init__(self, server: ApiServer, now: SimulatedTime, log: Path, deeds: tuple[Deed, ...]) -> None:
        names = ("default-scheduler",)
        super().__init__(server, now, load("fifo"), names=names, seed=0, log=log)
        self._time = now
        self._api = server
        self._deeds = list(reversed(deeds))
        self._client = httpx.AsyncClient(transport=httpx.ASGITransport(app=server.asgi), base_url="http://cluster")
        self._gone: list[JSON] = []
        """The nodes that were deleted."""

    async def wait(self) -> float:
        """Do what is due, then schedule."""
        while self._deeds and self._deeds[-1].date <= self._time.now:
            await self._do(self._deeds.pop())
        return await super().wait()

    def next_appointment(self) -> float | None:
        """Return the date of the policy, or of the next deed."""
        dates = [date for date in (super().next_appointment(),) if date is not None]
        if self._deeds:
            dates.append(self._deeds[-1].date)
        return min(dates, default=None)

    async def _do(self, deed: Deed) -> None:
        match deed.kind:
            case "create-pod":
                await self._client.post("/api/v1/namespaces/default/pods", json=deed.obj)
            case "delete-pod":
                await self._with(deed, "pods", "DELETE", "")
            case "evict":
                await self._with(deed, "pods", "POST", "/eviction", lambda name: {"metadata": {"name": name}})
            case "resize":
                await self._resize(deed)
            case "cordon" | "uncordon":
                await self._with(
                    deed, "nodes", "PATCH", "", lambda name: {"spec": {"unschedulable": deed.kind == "cordon"}}
                )
            case "delete-node":
                found = self._picked(deed, "nodes")
                if found is not None and len(self._api.list("nodes")) > 1:
                    self._gone.append(found)
                    await self._with(deed, "nodes", "DELETE", "")
            case "create-node":
                node = self._gone.pop(0) if self._gone else {"metadata": {"name": f"fresh-{deed.pick}"}}
                metadata = {key: node["metadata"][key] for key in ("name", "labels") if key in node["metadata"]}
                made = {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": node.get("status", {})}
                await self._client.post("/api/v1/nodes", json=made)
            case "scale":
                wanted = {"spec": {"replicas": deed.pick % 5}}
                await self._with(deed, "deployments.apps", "PATCH", "/scale", lambda name: wanted)
            case "delete-owner":
                await self._with(deed, "jobs.batch" if deed.pick % 2 else "deployments.apps", "DELETE", "")
            case other:
                raise AssertionError(other)

    def _picked(self, deed: Deed, resource: str) -> JSON | None:
        found = sorted(self._api.list(resource), key=lambda obj: str(obj["metadata"]["name"]))
        return found[deed.pick % len(found)] if found else None

    async def _with(self, deed: Deed, resource: str, method: str, below: str, body: Any = None) -> None:
        """Do something to an object that there is; what the API refuses is left."""
        found = self._picked(deed, resource)
        if found is None:
            return
        name, namespace = found["metadata"]["name"], found["metadata"].get("namespace")
        plural, _, group = resource.partition(".")
        path = f"/apis/{group}/v1" if group else "/api/v1"
        path += f"/namespaces/{namespace}" if namespace else ""
        headers = STRATEGIC if method == "PATCH" else None
        content = body(name) if body else None
        await self._client.request(method, f"{path}/{plural}/{name}{below}", json=content, headers=headers)

    async def _resize(self, deed: Deed) -> None:
        found = self._picked(deed, "pods")
        if found is not None:
            first = found["spec"]["containers"][0]["name"]
            requests = {"cpu": CORES[deed.pick // 7 % len(CORES)]}
            body = {"spec": {"containers": [{"name": first, "resources": {"requests": requests}}]}}
            await self._with(deed, "pods", "PATCH", "/resize", lambda name: body)
