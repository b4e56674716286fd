"""What schedulers and users have done to the pods of jobs since one last looked."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from batkube.bridge.cluster import Cluster
from batkube.bridge.errors import InvariantBroken
from batkube.bridge.job_control import JobControl
from batkube.kube.server import ApiServer
from batkube.kube.store import DELETED, Change

JSON = dict[str, Any]


@dataclass
class Done:
    """What was done, by pod name."""

    bound: dict[str, str] = field(default_factory=dict)
    """To which node."""
    deleted: dict[str, str] = field(default_factory=dict)
    """Which uid is going, or gone."""


class PodWatch:
    """Listens to the store. A binding takes its node at once; all else is kept until ``take``."""

    def __init__(self, server: ApiServer, control: JobControl, cluster: Cluster) -> None:
        self._server = server
        self._control = control
        self._cluster = cluster
        self._listening = False
        self._done = Done()
        self._stirred = asyncio.Event()
        self._broken: InvariantBroken | None = None

    def start(self) -> None:
        """Begin to listen."""
        self._server.subscribe(self._on_change)
        self._listening = True

    def stop(self) -> None:
        """Listen no more."""
        if self._listening:
            self._server.store.unsubscribe(self._on_change)
        self._listening = False

    def bound(self) -> Iterable[str]:
        """The pods bound since the last ``take``."""
        return self._done.bound

    def deleted(self) -> Iterable[tuple[str, str]]:
        """The pods deleted since the last ``take``, with their uids."""
        return self._done.deleted.items()

    def take(self) -> Done:
        """What was done since the last call. Raises InvariantBroken where a binding should have been refused."""
        if self._broken:
            raise self._broken
        done, self._done = self._done, Done()
        self._stirred.clear()
        return done

    async def stirred(self) -> None:
        """Return as soon as there is something to take."""
        await self._stirred.wait()

    def _on_change(self, change: Change) -> None:
        handler = self._HANDLERS.get(change.resource.storage)
        if handler is not None:
            handler(self, change)

    def _pod_changed(self, change: Change) -> None:
        pod, old = change.object, change.previous
        name = pod["metadata"]["name"]
        if old is None or self._control.job_of(name) is None:
            return
        node = pod["spec"].get("nodeName")
        if node and not old["spec"].get("nodeName"):
            self._take_node(pod, node)
            self._done.bound[name] = node
            self._stirred.set()
        if change.type == DELETED or pod["metadata"].get("deletionTimestamp"):
            self._done.deleted[name] = pod["metadata"]["uid"]
            self._stirred.set()
        why = _unschedulable(pod)
        if why and why != _unschedulable(old):
            self._waits(name, why)

    def _take_node(self, pod: JSON, node: str) -> None:
        # Raising here would only fail the request that wrote the binding: it is kept for the step loop.
        try:
            self._cluster.take(pod, node)
        except InvariantBroken as error:
            self._broken = self._broken or error

    def _event_changed(self, change: Change) -> None:
        event = change.object
        about = event.get("involvedObject", {})
        if change.type == DELETED or event.get("reason") != "FailedScheduling" or about.get("kind") != "Pod":
            return
        self._waits(about.get("name", ""), event.get("message", ""))

    def _waits(self, name: str, why: str) -> None:
        record = self._control.pods.get(name)
        if record is not None and record.waited_for != why:
            record.failed_attempts += 1
            record.waited_for = why

    _HANDLERS: dict[str, Callable[["PodWatch", Change], None]] = {  # noqa: RUF012
        "pods": _pod_changed,
        "events": _event_changed,
    }


def _unschedulable(pod: JSON) -> str | None:
    """The message of the condition PodScheduled=False."""
    for condition in pod.get("status", {}).get("conditions", []):
        if condition["type"] == "PodScheduled" and condition["status"] == "False":
            return str(condition.get("message", ""))
    return None
