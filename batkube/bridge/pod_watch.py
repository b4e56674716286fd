"""The actions of schedulers and users on the pods of jobs."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from batkube.bridge.cluster import Cluster
from batkube.bridge.errors import InvariantBroken
from batkube.bridge.job_control import JobControl
from batkube.bridge.subscription import Subscription
from batkube.kube.server import ApiServer
from batkube.kube.storage.store import DELETED, Change

JSON = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Deletion:
    """A pod that is being deleted, or gone."""

    uid: str
    grace: int
    """The seconds of its grace period; 0 for a pod that is gone."""


@dataclass
class Done:
    """The actions since the last ``take``, by pod name."""

    bound: dict[str, str] = field(default_factory=dict)
    """The node of each pod that was bound."""
    deleted: dict[str, Deletion] = field(default_factory=dict)


_NOTHING = Done()
"""The result of `take` where there was no action. Not to be changed."""


class PodWatch:
    """Listens to the store. A binding takes its node at once; all else is kept until ``take``."""

    def __init__(self, server: ApiServer, control: JobControl, cluster: Cluster) -> None:
        self._control = control
        self._cluster = cluster
        self._changes = Subscription(server, self._on_change, [*self._HANDLERS])
        self._done = Done()
        self._changed = asyncio.Event()
        self._broken: InvariantBroken | None = None

    def start(self) -> None:
        """Begin to listen."""
        self._changes.start()

    def stop(self) -> None:
        """Listen no more."""
        self._changes.stop()

    @property
    def idle(self) -> bool:
        """True if there was no action since the last ``take``."""
        return not self._done.bound and not self._done.deleted

    def bound(self) -> Iterable[str]:
        """Return the pods bound since the last ``take``."""
        return self._done.bound

    def deleted(self) -> Iterable[tuple[str, Deletion]]:
        """Return the pods deleted since the last ``take``."""
        return self._done.deleted.items()

    def take(self) -> Done:
        """Return the actions since the last call. Raises InvariantBroken if a binding should have been refused."""
        if self._broken:
            raise self._broken
        if self.idle:
            return _NOTHING
        done, self._done = self._done, Done()
        self._changed.clear()
        return done

    async def wait_for_change(self) -> None:
        """Return as soon as there is something to take."""
        await self._changed.wait()

    def _on_change(self, change: Change) -> None:
        self._HANDLERS[change.resource.storage](self, change)

    def _pod_changed(self, change: Change) -> None:
        pod = change.version.obj
        name = pod["metadata"]["name"]
        job = self._control.job_of(name)
        if job is None:
            self._control.waits.stranger(pod, gone=change.type == DELETED)
        if change.before is None or job is None:
            return
        old = change.before.obj
        if "schedulingGates" in old["spec"]:
            self._control.waits.gated(pod)
        node = pod["spec"].get("nodeName")
        if node and not old["spec"].get("nodeName"):
            self._take_node(pod, node)
            self._done.bound[name] = node
            self._changed.set()
        if change.type == DELETED or pod["metadata"].get("deletionTimestamp"):
            grace = 0 if change.type == DELETED else pod["metadata"].get("deletionGracePeriodSeconds", 0)
            self._done.deleted[name] = Deletion(pod["metadata"]["uid"], grace)
            if _is_preempted(pod):
                self._control.records.preempted(name)
            self._changed.set()
        nominated = pod["status"].get("nominatedNodeName")
        if nominated and nominated != old["status"].get("nominatedNodeName"):
            self._control.records.attempted(self._control.pods[name], "preempting", nominated)
        why = _unschedulable(pod)
        if why and why != _unschedulable(old):
            self._waits(name, why)

    def _take_node(self, pod: JSON, node: str) -> None:
        # Raising here would only fail the request that wrote the binding: the error is kept for the step loop.
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
        job, record = self._control.job_of(name), self._control.pods.get(name)
        if record is not None and record.waited_for != why:
            self._control.records.attempted(record, "failed", why)
        if job is not None and record is not None:
            self._control.waits.tried(job.uids.get(name), why, record.failed_attempts)

    _HANDLERS: dict[str, Callable[["PodWatch", Change], None]] = {  # noqa: RUF012
        "pods": _pod_changed,
        "events": _event_changed,
    }


def _is_preempted(pod: JSON) -> bool:
    """Tell whether kube-scheduler deletes the pod to make room for another (condition DisruptionTarget)."""
    conditions = pod.get("status", {}).get("conditions", [])
    return any(
        condition["type"] == "DisruptionTarget" and condition.get("reason") == "PreemptionByScheduler"
        for condition in conditions
    )


def _unschedulable(pod: JSON) -> str | None:
    """Return the message of the condition PodScheduled=False."""
    for condition in pod.get("status", {}).get("conditions", []):
        if condition["type"] == "PodScheduled" and condition["status"] == "False":
            return str(condition.get("message", ""))
    return None
