"""Playing a scenario: the real kube-scheduler decides pod by pod."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import yaml

from batkube.schedulers.kube_scheduler import command, configuration, write_configuration
from tests.conformance.servers import Server, batkube, kube_apiserver
from tests.differential.asking import client

from .scenarios import Scenario

JSON = dict[str, Any]

PODS = "/api/v1/namespaces/default/pods"
CLAIMS = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
EVENTS = "/api/v1/namespaces/default/events"
LOOK = 0.02  # seconds between two looks
PATIENCE = 180.0  # seconds for a decision, on a busy machine too
# The same decisions each time: one thread, and a generator of random numbers that begins the same.
DETERMINISM = {"GOMAXPROCS": "1", "GODEBUG": "randautoseed=0"}
LOG = "kube-scheduler.log"
SCORE = re.compile(r"""Calculated node's final score for pod" pod="(\S+)" node="(\S+)" score=(\d+)""")


class TieError(ValueError):
    """Kube-scheduler took one of several nodes at random."""


def play(scenario: Scenario, server_name: str, scheduler: Path, folder: Path) -> list[JSON]:
    """Return what became of each pod, in their order, on `batkube` or `kube-apiserver`, started anew.

    TimeoutError where kube-scheduler does not decide, TieError where it decided by chance.
    """
    with batkube(tls=True) if server_name == "batkube" else kube_apiserver() as server:
        kubeconfig = folder / "kubeconfig"
        kubeconfig.write_text(yaml.safe_dump(server.kubeconfig()))
        # All this is in kube-scheduler's first lists: of what comes later it may hear after a pod that is later still.
        asyncio.run(_prepare(scenario, server))
        with _running(scheduler, kubeconfig, folder):
            decisions = asyncio.run(_play(scenario, server))
    refuse_ties((folder / LOG).read_text())
    return decisions


def refuse_ties(log: str) -> None:
    """Raise TieError where several nodes had the best score: such a scenario has more than one right outcome."""
    scores: dict[str, dict[str, int]] = {}
    for pod, node, score in SCORE.findall(log):
        attempt = scores.setdefault(pod, {})
        if node in attempt:  # the pod is tried again
            _refuse_tie(pod, attempt)
            attempt.clear()
        attempt[node] = int(score)
    for pod, attempt in scores.items():
        _refuse_tie(pod, attempt)


def _refuse_tie(pod: str, scores: dict[str, int]) -> None:
    best = [node for node, score in scores.items() if score == max(scores.values())]
    if len(best) > 1:
        raise TieError(f"{pod}: {' and '.join(best)} have the same score, so kube-scheduler takes one at random")


@contextmanager
def _running(scheduler: Path, kubeconfig: Path, folder: Path) -> Iterator[None]:
    settings = folder / "scheduler.yaml"
    write_configuration(settings, configuration(kubeconfig, ("default-scheduler",)))
    with (
        (folder / LOG).open("wb") as log,
        subprocess.Popen(
            [*command(scheduler, settings), "--vmodule=schedule_one=10"],
            env=os.environ | DETERMINISM,
            stdout=log,
            stderr=log,
        ) as process,
    ):
        try:
            yield
        finally:
            process.terminate()


async def _prepare(scenario: Scenario, server: Server) -> None:
    async with client(server) as asking:
        for collection, body in scenario.objects:
            await _create(asking, collection, body)
            if body["kind"] == "Node":
                await _untaint(asking, body)
        for claim in scenario.claims.values():
            await _create(asking, CLAIMS, claim)


async def _play(scenario: Scenario, server: Server) -> list[JSON]:
    decisions: list[JSON] = []
    async with client(server) as asking:
        here: set[str] = set()
        for pod in scenario.pods:
            name = pod["metadata"]["name"]
            await _create(asking, PODS, pod)
            decision = await _decision(asking, name, here)
            here.add(name)
            left = {item["metadata"]["name"] for item in (await _get(asking, PODS))["items"]}
            if victims := sorted(here - left):
                decision["victims"] = victims
            here &= left
            if decision.get("node") is None:
                # It would be tried again when something changes, at a time of its own.
                await asking.delete(f"{PODS}/{name}")
                here.discard(name)
            decisions.append(decision)
    return decisions


async def _decision(asking: httpx.AsyncClient, name: str, here: set[str]) -> JSON:
    """Return where the pod went, or why nowhere: its conditions, and its events, which kube-scheduler writes later.

    A pod that had to preempt one of those that were ``here`` could not be placed at first.
    """
    async with asyncio.timeout(PATIENCE):
        while True:
            pod = await _get(asking, f"{PODS}/{name}")
            node, status = pod["spec"].get("nodeName"), pod.get("status", {})
            conditions = {condition["type"]: condition for condition in status.get("conditions", ())}
            scheduled = conditions.get("PodScheduled", {})
            gated = scheduled.get("reason") == "SchedulingGated"
            refused = scheduled.get("status") == "False" and not status.get("nominatedNodeName")
            if gated:
                said = []
                break
            if node or refused:
                left = {item["metadata"]["name"] for item in (await _get(asking, PODS))["items"]}
                due = {"Scheduled"} if node else {"FailedScheduling"}
                if not here <= left:
                    due.add("FailedScheduling")
                said = await _events(asking, name)
                if due <= {text.partition(":")[0] for text in said}:
                    break
            await asyncio.sleep(LOOK)
    shown = [
        {key: condition.get(key) for key in ("type", "status", "reason", "message")}
        for condition in conditions.values()
    ]
    return {"pod": name, "node": node, "conditions": shown, "events": said}


async def _events(asking: httpx.AsyncClient, name: str) -> list[str]:
    found = await _get(asking, f"{EVENTS}?fieldSelector=involvedObject.name={name}")
    texts = {f"{event['reason']}: {event.get('message', '')}" for event in found["items"]}
    return sorted(re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "<uid>", text) for text in texts)


async def _untaint(asking: httpx.AsyncClient, node: JSON) -> None:
    """A new node is not ready; here all are."""
    patch = {"spec": {"taints": node["spec"]["taints"]}}
    path = f"/api/v1/nodes/{node['metadata']['name']}"
    answer = await asking.patch(path, json=patch, headers={"Content-Type": "application/merge-patch+json"})
    answer.raise_for_status()


async def _create(asking: httpx.AsyncClient, collection: str, body: JSON) -> None:
    answer = await asking.post(collection, json=body)
    if answer.status_code != 201:
        raise RuntimeError(f"{collection}: {answer.text}")


async def _get(asking: httpx.AsyncClient, path: str) -> JSON:
    answer = await asking.get(path)
    answer.raise_for_status()
    found: JSON = answer.json()
    return found
