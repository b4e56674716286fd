"""Pods that are resized while they are on their nodes (``kubectl patch --subresource resize``), as a kubelet does it.

What asks for no more is done at once; what grows, as soon as its node has room. The order of those that wait is the
kubelet's: those that do not grow, then by priority, by class of service, and by how long they wait
(``sortPendingResizes`` in ``pkg/kubelet/allocation/allocation_manager.go``). The process goes on as before.
"""

from pathlib import Path
from typing import Any

from batkube.bridge.cluster import Cluster
from batkube.bridge.job_control import JobControl
from batkube.bridge.occupancy import UNIT, requests_of
from batkube.bridge.resize_status import message, no_room
from batkube.bridge.time import SimulatedTime
from batkube.results.events import EventLog
from batkube.results.late_table import LateTable
from batkube.results.resizes import RESIZES, Resize

JSON = dict[str, Any]


class Resizes:
    """Carries them out, tells of them in ``resizes.csv`` and ``events.jsonl``."""

    def __init__(
        self, control: JobControl, cluster: Cluster, time: SimulatedTime, events: EventLog, folder: Path
    ) -> None:
        self._control = control
        self._cluster = cluster
        self._time = time
        self._events = events
        self._table = LateTable(folder / "resizes.csv", RESIZES)
        self._pending: dict[str, str] = {}
        """The uids of the pods whose resize is still to be done, by key, in order of their coming."""

    def asked(self, key: str, pod: JSON) -> None:
        """Note that a pod asks for other resources. One that has no node yet simply asks for these."""
        self._pending[key] = pod["metadata"]["uid"]
        job, record = self._control.job_of(key), self._control.pods.get(key)
        if not pod["spec"].get("nodeName") and job is not None and record is not None:
            self._control.records.stored(record, job, pod)

    def act(self) -> bool:
        """Resize what can be; False if nothing was."""
        if not self._pending:
            return False
        pods: list[tuple[tuple[bool, int, bool], str, JSON]] = []
        for key, uid in [*self._pending.items()]:
            pod = self._cluster.kubelet.pod(key)
            if pod is None or pod["metadata"]["uid"] != uid:
                del self._pending[key]
            elif self._cluster.occupancy.holds(uid):
                pods.append((self._rank(pod), key, pod))
        pods.sort(key=lambda ranked: ranked[0])  # of equal ones the first to come stays first
        done = [key for _, key, pod in pods if self._resize(key, pod)]
        return bool(done)

    def close(self) -> None:
        """Write out what is buffered."""
        self._table.close()

    def _rank(self, pod: JSON) -> tuple[bool, int, bool]:
        held, wanted = self._cluster.occupancy.held_by(pod["metadata"]["uid"]), requests_of(pod)
        grows = any(wanted.get(name, 0) > held.get(name, 0) for name in ("cpu", "memory"))
        guaranteed = pod.get("status", {}).get("qosClass") == "Guaranteed"
        return grows, -pod["spec"].get("priority", 0), not guaranteed

    def _resize(self, key: str, pod: JSON) -> bool:
        kubelet, node = self._cluster.kubelet, pod["spec"]["nodeName"]
        held = self._cluster.occupancy.held_by(pod["metadata"]["uid"])
        lacking = self._cluster.occupancy.resize(pod)
        if lacking is not None:
            why = no_room(lacking)
            if kubelet.defer_resize(key, why):
                kubelet.tell_pod(key, "Warning", "ResizeDeferred", message(pod, "Pod resize Deferred", why))
                self._events.write(self._time.now, "pod_resize_deferred", pod=key, node=node, reason=why)
            return False
        del self._pending[key]
        wanted = requests_of(pod)
        self._control.waits.resized(pod["metadata"]["uid"], node, wanted)
        record = self._control.pods.get(key)
        if wanted == held:  # it asked for this before it had its node, or takes back what it has asked for
            return kubelet.resize(key)
        cpu, memory = wanted.get("cpu", 0) / UNIT, wanted.get("memory", 0) // UNIT
        kubelet.tell_pod(key, "Normal", "ResizeStarted", message(pod, "Pod resize started"))
        kubelet.resize(key)
        if kubelet.usage is not None:
            kubelet.usage.resized(key, pod)
        kubelet.tell_pod(key, "Normal", "ResizeCompleted", message(pod, "Pod resize completed"))
        self._events.write(self._time.now, "pod_resized", pod=key, node=node, cpu=cpu, memory=memory)
        change = Resize(self._time.now, key, node, cpu, memory)
        self._table.write(change)
        if record is not None:
            record.resizes = (*record.resizes, change)
        return True
