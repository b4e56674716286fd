"""The actions of schedulers and users on the pods of jobs."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from batkube.batsim.jobs import JobState
from batkube.bridge.cluster import NODE_LOST, Cluster
from batkube.bridge.errors import InvariantBroken
from batkube.bridge.job_control import JobControl
from batkube.bridge.jobs import Job
from batkube.bridge.names import pod_key
from batkube.bridge.subscription import Subscription
from batkube.controllers.conditions import held
from batkube.kube.kinds.pods.conditions import DISRUPTION_TARGET, PREEMPTED
from batkube.kube.server import ApiServer
from batkube.kube.storage.store import DELETED, Change

JSON = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Deletion:
    """A pod that is being deleted, or gone."""

    uid: str
    grace: int
    """The seconds of its grace period; 0 for a pod that is gone."""
    disruption: str = ""
    """The reason of its condition DisruptionTarget; empty if it is deleted for no reason of the cluster's."""


@dataclass(frozen=True, slots=True)
class Binding:
    """A pod that has got a node. It may be gone already, and another one may have its name."""

    uid: str
    node: str


@dataclass
class Done:
    """The actions since the last ``take``, by pod name."""

    bound: dict[str, Binding] = field(default_factory=dict)
    deleted: dict[str, Deletion] = field(default_factory=dict)


_NOTHING = Done()
"""The result of `take` where there was no action. Not to be changed."""


class PodWatch:
    """Listens to the store. A binding takes its node at once; all else is kept until ``take``.

    ``adopt`` makes a job of a pod that a client has made, with its key; None if it is none. ``resized`` is called with
    a pod that asks for other resources than before. ``gone``: one on a host that has failed is no more.
    """

    def __init__(
        self,
        server: ApiServer,
        control: JobControl,
        cluster: Cluster,
        adopt: Callable[[str, JSON], Job | None],
        resized: Callable[[str, JSON], object],
        gone: Callable[[Job], object],
    ) -> None:
        self._server = server
        self._adopt = adopt
        self._resized = resized
        self._gone = gone
        self._control = control
        self._cluster = cluster
        self._changes = Subscription(server, self._on_change, [*self._HANDLERS])
        self._done = Done()
        self._changed = asyncio.Event()
        self._broken: InvariantBroken | None = None

    def start(self) -> None:
        """Begin to listen. The pods that are there already count as new."""
        for pod in self._server.list("pods"):
            self._created(pod_key(pod["metadata"]["namespace"], pod["metadata"]["name"]), pod)
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
        metadata = pod["metadata"]
        name = pod_key(metadata["namespace"], metadata["name"])
        job = self._control.job_of(name)
        if change.before is None:
            if job is None or _is_another(job, name, metadata["uid"]):
                self._created(name, pod)
            return
        if job is None:
            self._control.waits.stranger(pod, gone=change.type == DELETED)
            return
        if job.uids.get(name, metadata["uid"]) != metadata["uid"]:
            return
        old = change.before.obj
        if "schedulingGates" in old["spec"]:
            self._control.waits.gated(pod)
        node = pod["spec"].get("nodeName")
        if node and not old["spec"].get("nodeName"):
            self._take_node(job, pod, node)
            self._done.bound[name] = Binding(metadata["uid"], node)
            self._changed.set()
        if metadata.get("generation") != old["metadata"].get("generation") and _resources(pod) != _resources(old):
            self._resized(name, pod)
            self._changed.set()
        if change.type == DELETED and job.id in self._control.clients.without_host:
            self._gone(job)  # at once: another pod may get its name
            return
        if change.type == DELETED or pod["metadata"].get("deletionTimestamp"):
            grace = 0 if change.type == DELETED else pod["metadata"].get("deletionGracePeriodSeconds", 0)
            self._done.deleted[name] = Deletion(pod["metadata"]["uid"], grace, disruption := _disruption(pod))
            if disruption == PREEMPTED:
                self._control.records.preempted(name)
            self._changed.set()
        nominated = pod["status"].get("nominatedNodeName")
        if nominated and nominated != old["status"].get("nominatedNodeName"):
            self._control.records.attempted(self._control.pods[name], "preempting", nominated)
        why = _unschedulable(pod)
        if why and why != _unschedulable(old):
            self._waits(name, why)

    def _take_node(self, job: Job, pod: JSON, node: str) -> None:
        if job.client is not None:
            job.client.pod = pod
            job.client.refused = why = self._cluster.why_not(pod, node)
            if why is not None and (why != NODE_LOST or self._cluster.why_no_room(pod, node) is not None):
                return
        # Raising here would only fail the request that wrote the binding: the error is kept for the step loop.
        try:
            self._cluster.take(pod, node)
        except InvariantBroken as error:
            self._broken = self._broken or error

    def _created(self, key: str, pod: JSON) -> None:
        """Take in a pod that a client has made; it may have a node already."""
        job = self._adopt(key, pod)
        if job is None:
            self._control.waits.stranger(pod, gone=False)
        elif node := pod["spec"].get("nodeName"):
            self._take_node(job, pod, node)
            self._done.bound[key] = Binding(pod["metadata"]["uid"], node)
            self._changed.set()

    def _event_changed(self, change: Change) -> None:
        event = change.object
        about = event.get("involvedObject", {})
        if change.type == DELETED or event.get("reason") != "FailedScheduling" or about.get("kind") != "Pod":
            return
        self._waits(pod_key(about.get("namespace", ""), about.get("name", "")), event.get("message", ""))

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


def _is_another(job: Job, key: str, uid: str) -> bool:
    """Tell whether a new pod is none of the job's, which has or had one of that name."""
    known = job.uids.get(key)
    if known is None:  # the job is about to make it, unless it is over
        return job.client is not None or job.life.state is not JobState.SUBMITTED
    return known != uid


def _resources(pod: JSON) -> list[JSON]:
    """Return the resources of all containers."""
    spec = pod["spec"]
    return [each.get("resources") or {} for each in (*spec["containers"], *(spec.get("initContainers") or ()))]


def _disruption(pod: JSON) -> str:
    """Return the reason of its condition DisruptionTarget; empty for a pod that nobody but a client takes away."""
    target = held(pod.get("status", {}), DISRUPTION_TARGET)
    return "" if target is None else target.get("reason") or DISRUPTION_TARGET


def _unschedulable(pod: JSON) -> str | None:
    """Return the message of the condition PodScheduled=False."""
    for condition in pod.get("status", {}).get("conditions", []):
        if condition["type"] == "PodScheduled" and condition["status"] == "False":
            return str(condition.get("message", ""))
    return None
