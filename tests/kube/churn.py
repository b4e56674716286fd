"""Pods that change all the time, and what watches of them must tell: worked out here, not asked of the server."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from api_client import Connection, Endpoint

Event = tuple[str, str, int]  # type, namespace/name, revision

TEAMS = [f"team-{number:02}" for number in range(16)]  # namespaces
NODES = [f"node-{number}" for number in range(4)]
TIERS = ("front", "middle", "back")
FILLER = "x" * 2500  # in an annotation of every pod
MERGE_PATCH = "application/strategic-merge-patch+json"


@dataclass(frozen=True)
class State:
    """A version of a pod: what watches select by, and its body in JSON."""

    namespace: str
    name: str
    tier: str
    node: str
    phase: str
    revision: int
    body: bytes

    @classmethod
    def of(cls, body: bytes) -> State:
        pod = orjson.loads(body)
        metadata, node, phase = pod["metadata"], pod["spec"].get("nodeName", ""), pod["status"]["phase"]
        revision = int(metadata["resourceVersion"])
        return cls(metadata["namespace"], metadata["name"], metadata["labels"]["tier"], node, phase, revision, body)

    @property
    def path(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True)
class Scope:
    """The objects of a watch: as a request, and as a test of a state."""

    path: str
    query: str
    takes: Callable[[State], bool]


def scopes() -> list[Scope]:
    """One of every kind; those that take few pods are the most."""
    everywhere, one = "/api/v1/pods", TEAMS[0]
    labels, fields = "&labelSelector=", "&fieldSelector="
    some = [Scope(everywhere, "", lambda state: True)]
    some += [Scope(f"/api/v1/namespaces/{team}/pods", "", _in_team(team)) for team in TEAMS]
    some += [Scope(everywhere, f"{labels}tier%3D{tier}", _of_tier(tier)) for tier in TIERS]
    some += [Scope(everywhere, f"{fields}spec.nodeName%3D{node}", _on_node(node)) for node in NODES]
    some.append(Scope(everywhere, f"{labels}tier+notin+(front,back)", _of_tier("middle")))
    some.append(
        Scope(
            f"/api/v1/namespaces/{one}/pods",
            f"{labels}tier+in+(front,back)&fieldSelector=spec.nodeName%3D",
            lambda state: state.namespace == one and state.tier in ("front", "back") and not state.node,
        )
    )
    some.append(
        Scope(
            everywhere,
            f"{fields}status.phase!%3DSucceeded,status.phase!%3DFailed",
            lambda state: state.phase not in ("Succeeded", "Failed"),
        )
    )
    return some


def _in_team(team: str) -> Callable[[State], bool]:
    return lambda state: state.namespace == team


def _of_tier(tier: str) -> Callable[[State], bool]:
    return lambda state: state.tier == tier


def _on_node(node: str) -> Callable[[State], bool]:
    return lambda state: state.node == node


class Truth:
    """All that was written: at each revision the state of a pod before and after."""

    def __init__(self) -> None:
        self._changes: dict[int, tuple[State | None, State | None]] = {}

    def __len__(self) -> int:
        return len(self._changes)

    @property
    def revision(self) -> int:
        """The newest."""
        return max(self._changes)

    def wrote(self, before: State | None, body: bytes) -> State:
        """A pod was made or changed; `body` answered it."""
        now = State.of(body)
        self._changes[now.revision] = before, now
        return now

    def deleted(self, before: State, body: bytes) -> None:
        """One request marks a pod, at one revision, and removes it at the next."""
        revision = State.of(body).revision
        self._changes[revision - 1] = before, before
        self._changes[revision] = before, None

    def pods(self, takes: Callable[[State], bool], revision: int) -> list[State]:
        """Those that there were at that revision, in the order of a list."""
        found: dict[str, State] = {}
        for when, (before, now) in sorted(self._changes.items(), key=lambda change: change[0]):
            if when > revision:
                break
            if now is not None:
                found[now.path] = now
            elif before is not None:
                del found[before.path]
        return [found[path] for path in sorted(found) if takes(found[path])]

    def events(self, takes: Callable[[State], bool], after: int, upto: int) -> list[Event]:
        """Return what a watch must tell of the changes after one revision, up to another."""
        told = []
        for revision in range(after + 1, upto + 1):  # none is missing: nobody else writes
            before, now = self._changes[revision]
            pod = now or before
            assert pod is not None
            was, is_now = before is not None and takes(before), now is not None and takes(now)
            if was or is_now:
                kind = "MODIFIED" if was and is_now else "ADDED" if is_now else "DELETED"
                told.append((kind, pod.path, revision))
        return told

    def body(self, revision: int) -> bytes | None:
        """That of the pod that was written at that revision; None where it was marked or removed."""
        before, now = self._changes[revision]
        return now.body if now is not None and now is not before else None


class Writer:
    """A client that makes, changes and deletes pods of its own at random, one request after the other."""

    def __init__(self, endpoint: Endpoint, number: int, truth: Truth) -> None:
        self._connection = Connection(endpoint)
        self._number = number
        self._random = random.Random(number)
        self._truth = truth
        self._pods: list[State] = []
        self._made = 0

    async def step(self) -> None:
        """One write."""
        choice = self._random.random()
        if choice < 0.3 or len(self._pods) < 50:
            self._pods.append(self._truth.wrote(None, await self._create()))
            return
        index = self._random.randrange(len(self._pods))
        pod = self._pods[index]
        path = f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}"
        if choice < 0.55:
            body = await self._update(path, pod)
        elif choice < 0.65 and not pod.node:
            body = await self._bind(path, pod)
        elif choice < 0.75:
            status = {"status": {"phase": self._random.choice(("Running", "Succeeded", "Failed"))}}
            body = await self._send("PATCH", f"{path}/status", status, MERGE_PATCH)
        else:
            self._truth.deleted(pod, await self._send("DELETE", f"{path}?gracePeriodSeconds=0"))
            self._pods[index] = self._pods[-1]
            self._pods.pop()
            return
        if body != pod.body:  # else there was nothing new, and nothing was written
            self._pods[index] = self._truth.wrote(pod, body)

    def close(self) -> None:
        self._connection.close()

    async def _create(self) -> bytes:
        self._made += 1
        metadata = {
            "name": f"pod-{self._number}-{self._made}",
            "labels": {"tier": self._random.choice(TIERS)},
            "annotations": {"filler": FILLER},
        }
        pod = {"metadata": metadata, "spec": {"containers": [{"name": "main", "image": "job"}]}}
        return await self._send("POST", f"/api/v1/namespaces/{self._random.choice(TEAMS)}/pods", pod)

    async def _update(self, path: str, pod: State) -> bytes:
        changed = orjson.loads(pod.body)
        changed["metadata"]["labels"]["tier"] = self._random.choice(TIERS)
        changed["metadata"]["annotations"]["written-over"] = str(pod.revision)
        return await self._send("PUT", path, changed)

    async def _bind(self, path: str, pod: State) -> bytes:
        target = {"kind": "Node", "name": self._random.choice(NODES)}
        await self._send("POST", f"{path}/binding", {"metadata": {"name": pod.name}, "target": target})
        return await self._send("GET", path)

    async def _send(self, method: str, path: str, obj: Any = None, kind: str = "application/json") -> bytes:
        body = b"" if obj is None else orjson.dumps(obj)
        return await self._connection.request(method, path, body, kind)


async def churn(writers: Sequence[Writer], enough: Callable[[], bool]) -> None:
    """All write, side by side, as fast as they are answered."""

    async def write(writer: Writer) -> None:
        while not enough():
            await writer.step()

    await asyncio.gather(*map(write, writers))
