"""The reference scheduler, a program of its own: first in, first out, first fit.

    python -m batkube.schedulers.fifo [--kubeconfig FILE] [--scheduler-name NAME]

It talks to the API over HTTP with the official client, like any stranger. Each watch event is decided on before the
next is looked at, so the same events in the same order give the same bindings.
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

from batkube.schedulers.fifo_policy import Fifo

JSON = dict[str, Any]
Event = tuple[Callable[[str, JSON], None], str, JSON]


class Watcher:
    """Follows one kind: a list, then a watch from its version; events go into the queue that all kinds share."""

    def __init__(self, listing: Callable[..., Any], handle: Callable[[str, JSON], None], events: "queue.Queue[Event]"):
        self._list = listing
        self._handle = handle
        self._events = events
        self.ended = False

    def list(self) -> str:
        """Put what exists into the queue; the version to watch from."""
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
        self._fifo = Fifo(name)
        self._told: tuple[str, str] | None = None

    def run(self) -> None:
        """Schedule until the server goes away."""
        events: queue.Queue[Event] = queue.Queue()
        nodes = Watcher(self._api.list_node, self._fifo.node_event, events)
        pods = Watcher(self._api.list_pod_for_all_namespaces, self._fifo.pod_event, events)
        for watcher, version in [(watcher, watcher.list()) for watcher in (nodes, pods)]:
            threading.Thread(target=watcher.watch, args=(version,), daemon=True).start()
        while True:
            handle, kind, item = events.get()
            handle(kind, item)
            for pod, node in self._fifo.decide():
                self._bind(pod, node)
            self._explain()

    def _bind(self, pod: JSON, node: str) -> None:
        meta = pod["metadata"]
        binding = {
            "metadata": {"name": meta["name"], "namespace": meta["namespace"], "uid": meta["uid"]},
            "target": {"kind": "Node", "name": node},
        }
        try:
            self._api.create_namespaced_pod_binding(meta["name"], meta["namespace"], binding, _preload_content=False)
        except ApiException as error:
            print(f"fifo: {meta['name']} was not bound to {node}: {error.reason} {error.body}", flush=True)
            if error.status != 404:
                self._fifo.refused(pod)
        else:
            print(f"fifo: bound {meta['name']} to {node}", flush=True)

    def _explain(self) -> None:
        """Write into the head of the queue why it waits, as kube-scheduler does; the same reason only once."""
        blocked = self._fifo.why_not()
        if blocked is None:
            return
        pod, why = blocked
        meta = pod["metadata"]
        if (meta["uid"], why) == self._told:
            return
        self._told = (meta["uid"], why)
        condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": why}
        try:
            self._api.patch_namespaced_pod_status(
                meta["name"],
                meta["namespace"],
                {"status": {"conditions": [condition]}},
                _preload_content=False,
            )
        except ApiException as error:
            print(f"fifo: {meta['name']}: {error.reason}", flush=True)


def main() -> None:
    """Entry point."""
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
