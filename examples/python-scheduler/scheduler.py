#!/usr/bin/env python3
"""A Kubernetes scheduler with the official Python client: it watches pods and nodes, and decides every few seconds.

    scheduler.py [--name NAME] [--period SECONDS]

The watches tell it what there is; decisions are taken in rounds, so that pods that come together are weighed together:
the one that asks for the most CPU first, each to the node on which the least remains free.
"""

import argparse
import threading
import time
from decimal import Decimal
from typing import Any

from kubernetes import client, config, watch
from kubernetes.utils import parse_quantity

Amounts = dict[str, Decimal]


class Cache:
    """The objects of one kind, kept up to date by a watch."""

    def __init__(self, listing: Any) -> None:
        self._listing = listing
        self._objects: dict[str, Any] = {}
        self._lock = threading.Lock()
        found = listing()
        for item in found.items:
            self._objects[item.metadata.uid] = item
        threading.Thread(target=self._follow, args=(found.metadata.resource_version,), daemon=True).start()

    def _follow(self, version: str) -> None:
        for event in watch.Watch().stream(self._listing, resource_version=version):
            item = event["object"]
            with self._lock:
                if event["type"] == "DELETED":
                    self._objects.pop(item.metadata.uid, None)
                else:
                    self._objects[item.metadata.uid] = item

    def items(self) -> list[Any]:
        """All there are, by name."""
        with self._lock:
            return sorted(self._objects.values(), key=lambda item: (item.metadata.namespace or "", item.metadata.name))


def requests(pod: Any) -> Amounts:
    """Return the requests of a pod's containers."""
    total: Amounts = {"pods": Decimal(1)}
    for container in pod.spec.containers:
        for name, amount in ((container.resources and container.resources.requests) or {}).items():
            total[name] = total.get(name, Decimal(0)) + parse_quantity(amount)
    return total


def free(node: Any, pods: list[Any]) -> Amounts:
    """Return what the pods on a node leave of it."""
    left = {name: parse_quantity(amount) for name, amount in node.status.allocatable.items()}
    for pod in pods:
        if pod.spec.node_name == node.metadata.name and pod.status.phase not in ("Succeeded", "Failed"):
            for name, amount in requests(pod).items():
                left[name] = left.get(name, Decimal(0)) - amount
    return left


def decide(waiting: list[Any], room: dict[str, Amounts]) -> list[tuple[Any, str]]:
    """Choose a node for each pod: best fit, decreasing."""
    decisions = []
    for pod in sorted(waiting, key=lambda pod: -requests(pod).get("cpu", Decimal(0))):
        wanted = requests(pod)
        fitting = [
            (left["cpu"], node)
            for node, left in room.items()
            if all(left.get(name, Decimal(0)) >= amount for name, amount in wanted.items())
        ]
        if fitting:
            _, node = min(fitting)
            for name, amount in wanted.items():
                room[node][name] -= amount
            decisions.append((pod, node))
    return decisions


def main() -> None:
    """Schedule until ended."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--name", default="default-scheduler")
    parser.add_argument("--period", type=float, default=5.0)
    options = parser.parse_args()
    config.load_kube_config()
    api = client.CoreV1Api()
    nodes, pods = Cache(api.list_node), Cache(api.list_pod_for_all_namespaces)
    while True:
        time.sleep(options.period)
        known = pods.items()
        waiting = [pod for pod in known if pod.spec.scheduler_name == options.name and not pod.spec.node_name]
        ready = [node for node in nodes.items() if not node.spec.unschedulable and not node.spec.taints]
        room = {node.metadata.name: free(node, known) for node in ready}
        for pod, node in decide(waiting, room):
            meta = client.V1ObjectMeta(name=pod.metadata.name, uid=pod.metadata.uid)
            binding = client.V1Binding(metadata=meta, target=client.V1ObjectReference(kind="Node", name=node))
            try:
                api.create_namespaced_pod_binding(
                    pod.metadata.name, pod.metadata.namespace, binding, _preload_content=False
                )
                print(time.strftime("%T"), pod.metadata.name, "->", node, flush=True)
            except client.ApiException as error:
                print(time.strftime("%T"), pod.metadata.name, "not bound:", error.reason, flush=True)


if __name__ == "__main__":
    main()
