"""The reference scheduler as a program of its own: first in, first out, first fit.
    python -m batkube.schedulers.fifo [--kubeconfig FILE] [--scheduler-name NAME]
It talks to the API over HTTP with the official client, like any other scheduler, and decides by the policy that
``--scheduler fifo`` runs inside batkube. Each watch event is decided on before the next is looked at, so the same
events in the same order give the same bindings.
"""

import argparse
import json
import queue
import sys
import threading
from collections.abc import Callable
from typing import Any

from kubernetes import client, config
from kubernetes.client.exceptions import ApiException
from kubernetes.config.config_exception import ConfigException

from batkube.schedulers.policies.cluster import Cluster
from batkube.schedulers.policies.fifo import Fifo
from batkube.schedulers.policies.policy import Bind, Unschedulable

JSON = dict[str, Any]
Handler = Callable[[str, JSON], object]
Event = tuple[Handler, str, JSON]


class Watcher:
    """Follows one kind: a list, then a watch from its version. Events go into the queue that all kinds share."""

    def __init__(self, listing: Callable[..., Any], handle: Handler, events: "queue.Queue[Event]"):
        self._list = listing
        self._handle = handle
        self._events = events
        self.ended = False

    def list(self) -> str:
        """Put the existing objects into the queue, and return the version to watch from."""
        found = json.loads(self._list(_preload_content=False).data)
        for item in found["items"]:
            self._events.put((self._handle, "ADDED", item))
        return str(found["metadata"]["resourceVersion"])

    def watch(self, version: str) -> None:
        """Put each change after ``version`` into the queue, until the server goes away."""
        try:
            while True:
                response = self._list(
                    watch=True, resource_version=version, allow_watch_bookmarks=True, _preload_content=False
                )
                for line in response:
                    event = json.loads(line)
                    if event["type"] == "ERROR":
                        raise ApiException(status=event["object"]["code"], reason=event["object"]["message"])
                    version = event["object"]["metadata"]["resourceVersion"]
                    if event["type"] != "BOOKMARK":
                        self._events.put((self._handle, event["type"], event["object"]))
        except Exception as error:
            self._events.put((_fail, str(error), {}))


def _fail(reason: str, _: JSON) -> None:
    raise SystemExit(f"fifo: the watch ended: {reason}")


class Scheduler:
    """Joins the policy to the API."""

    def __init__(self, api: Any, name: str) -> None:
        self._api = api
        self._cluster = Cluster([name])
        self._fifo = Fifo()
        self._told: tuple[str, str] | None = None

    def run(self) -> None:
        """Schedule until the server goes away."""
        events: queue.Queue[Event] = queue.Queue()
        nodes = Watcher(self._api.list_node, self._cluster.node_event, events)
        pods = Watcher(self._api.list_pod_for_all_namespaces, self._cluster.pod_event, events)
        versions = [(watcher, watcher.list()) for watcher in (nodes, pods)]
        # Nothing is decided before all that the lists have is known: it includes the places of running pods.
        listed = events.qsize()
        for watcher, version in versions:
            threading.Thread(target=watcher.watch, args=(version,), daemon=True).start()
        while True:
            handle, kind, item = events.get()
            handle(kind, item)
            listed -= 1
            if listed > 0:
                continue
            self._decide()

    def _decide(self) -> None:
        for decision in self._fifo.decide(self._cluster):
            match decision:
                case Bind():
                    self._bind(decision)
                case Unschedulable():
                    self._explain(decision)

    def _bind(self, decision: Bind) -> None:
        pod, node = decision.pod, decision.node
        binding = {
            "metadata": {"name": pod.name, "namespace": pod.namespace, "uid": pod.uid},
            "target": {"kind": "Node", "name": node.name},
        }
        try:
            self._api.create_namespaced_pod_binding(pod.name, pod.namespace, binding, _preload_content=False)
        except ApiException as error:
            print(f"fifo: {pod.name} was not bound to {node.name}: {error.reason} {error.body}", flush=True)
            self._fifo.refused(self._cluster, decision, str(error.reason))
        else:
            self._cluster.assume(pod, node.name)
            print(f"fifo: bound {pod.name} to {node.name}", flush=True)

    def _explain(self, decision: Unschedulable) -> None:
        """Write into the head of the queue why it waits, as kube-scheduler does; the same reason only once."""
        pod, why = decision.pod, decision.reason
        if (pod.uid, why) == self._told:
            return
        self._told = (pod.uid, why)
        condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": why}
        try:
            self._api.patch_namespaced_pod_status(
                pod.name, pod.namespace, {"status": {"conditions": [condition]}}, _preload_content=False
            )
        except ApiException as error:
            print(f"fifo: {pod.name}: {error.reason}", flush=True)


def main() -> None:
    """Run the program."""
    parser = argparse.ArgumentParser(description="batkube's reference scheduler: first in, first out.")
    parser.add_argument("--kubeconfig", help="default: $KUBECONFIG")
    parser.add_argument("--scheduler-name", default="default-scheduler", help="serve the pods that name this")
    options = parser.parse_args()
    try:
        config.load_kube_config(options.kubeconfig)
        Scheduler(client.CoreV1Api(), options.scheduler_name).run()
    except ConfigException as error:
        sys.exit(f"fifo: {error}")
    except ApiException as error:
        sys.exit(f"fifo: the API said no: {error.status} {error.reason}")


if __name__ == "__main__":
    main()
