"""The end of pods that use more memory than there is (``--oom-killer``).

A container over its own limit is killed whatever the node has left. Where the pods of a node use more than it offers
the kernel kills the process with the highest score: the thousandths of the node's memory that it uses, and the
kubelet's ``oom_score_adj`` for its class (``pkg/kubelet/qos/policy.go``).
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from batkube.batsim.jobs import JobState
from batkube.bridge.cluster import Cluster
from batkube.bridge.job_control import JobControl
from batkube.bridge.occupancy import amounts, requests_of
from batkube.bridge.plan import Plan
from batkube.bridge.time import SimulatedTime
from batkube.bridge.usage_book import UsageBook, Use

JSON = dict[str, Any]

GUARANTEED, BEST_EFFORT = -997, 1000
_NODE_CRITICAL = 2_000_001_000
"""The priority of ``system-node-critical``."""
_PROBE = 1e-6
"""Simulated seconds by which two dates of one phase may differ."""


class OomKiller:
    """Looks at a node whenever a process starts there, or comes to a phase with more memory: ``plan`` has the dates."""

    def __init__(self, control: JobControl, cluster: Cluster, book: UsageBook, time: SimulatedTime, plan: Plan) -> None:
        self._control = control
        self._cluster = cluster
        self._kubelet = cluster.kubelet
        self._book = book
        self._time = time
        self._plan = plan
        self._pids = 0
        book.changed = self._expect

    def _expect(self, use: Use) -> None:
        """Look at the node at each phase of a process, the first of which begins now."""
        most = -1
        for phase in use.usage.phases:
            if phase.memory > most:
                self._plan.add(use.began + phase.since, partial(self._look, use), self._runs(use))
            most = phase.memory

    def _runs(self, use: Use) -> Callable[[], bool]:
        return lambda: self._book.use_of(use.key) is use

    def _look(self, changed: Use) -> None:
        if (limit := _memory_limit(changed.pod)) is not None and self._memory(changed) > limit:
            self._kill(changed, f"container used more memory than its limit on {changed.pod['spec']['nodeName']}")
        node = changed.pod["spec"]["nodeName"]
        capacity = amounts(self._cluster.allocatable.get(node, {})).get("memory", 0)
        left = {use.key: use for use in self._book.on(node) if self._may_die(use)}
        total = sum(self._memory(use) for use in left.values())
        while total > capacity and left:
            victim = max(left.values(), key=lambda use: (self._score(use, capacity), use.number))
            self._pids += 1
            name = victim.pod["spec"]["containers"][0]["name"]
            self._kubelet.tell_node(
                node, "SystemOOM", f"System OOM encountered, victim process: {name}, pid: {self._pids}"
            )
            self._kill(victim, f"node {node} was out of memory")
            total -= self._memory(left.pop(victim.key))

    def _may_die(self, use: Use) -> bool:
        """Tell whether the process runs, and is not being killed already."""
        job = self._control.job_of(use.key)
        return job is not None and job.life.state is JobState.RUNNING and not job.kill_asked

    def _memory(self, use: Use) -> int:
        return use.at(self._time.now + _PROBE).memory

    def _score(self, use: Use, capacity: int) -> int:
        return (1000 * self._memory(use)) // max(capacity, 1) + oom_score_adj(use.pod, capacity)

    def _kill(self, use: Use, why: str) -> None:
        job = self._control.job_of(use.key)
        if job is not None and self._may_die(use):
            self._kubelet.oom_killed.add(use.key)
            self._control.kill(job, f"OOMKilled: {why}")


def oom_score_adj(pod: JSON, capacity: int) -> int:
    """Return the kubelet's ``oom_score_adj`` of a pod on a node with so much memory."""
    spec = pod["spec"]
    if spec.get("priority", 0) >= _NODE_CRITICAL:
        return GUARANTEED
    quality = pod.get("status", {}).get("qosClass", "")
    if quality in ("Guaranteed", "BestEffort"):
        return GUARANTEED if quality == "Guaranteed" else BEST_EFFORT
    adjusted = 1000 - 1000 * requests_of(pod).get("memory", 0) // max(capacity, 1)
    return min(max(adjusted, 1000 + GUARANTEED), BEST_EFFORT - 1)


def _memory_limit(pod: JSON) -> int | None:
    """Return the limit of all containers together; None if one of them has none."""
    limits = [container.get("resources", {}).get("limits", {}).get("memory") for container in pod["spec"]["containers"]]
    return None if None in limits else sum(amounts({"memory": limit})["memory"] for limit in limits)
