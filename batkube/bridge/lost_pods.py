"""Pods of clients whose host has failed, or whose node was deleted: their processes have ended, and nobody tells.

Their kubelet is silent. The API shows them as they were until somebody notices (``controllers/node_lifecycle``), and
deletes them in time; one that is deleted stays until its kubelet is back, or somebody takes it away by force. A host
that is back has rebooted: what was deleted goes then, and other pods start again, or fail, as their restartPolicy says.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from batkube.batsim.jobs import JobState
from batkube.bridge.cluster import NODE_LOST, Cluster
from batkube.bridge.errors import InputError
from batkube.bridge.job_control import JobControl
from batkube.bridge.jobs import ClientPod, Job
from batkube.bridge.time import SimulatedTime
from batkube.controllers.pods import comes_to_an_end

if TYPE_CHECKING:
    from batkube.bridge.client_pods import ClientPods

JSON = dict[str, Any]


class LostPods:
    """Keeps them, each as a job that waits for its host. ``clients`` starts and ends processes."""

    def __init__(self, clients: "ClientPods", control: JobControl, cluster: Cluster, time: SimulatedTime) -> None:
        self._clients = clients
        self._control = control
        self._cluster = cluster
        self._kubelet = cluster.kubelet
        self._time = time

    def add(self, job: Job) -> None:
        """Take in a pod whose process is no more, as its host is gone; ``job`` may have been about to start."""
        (key,), client = job.pods, job.client
        assert client is not None
        records, ran = self._control.records, job.life.state is not JobState.SUBMITTED
        self._kubelet.lose(key)
        if ran:
            records.lost_run(key, job)
        following = self._clients.next_run(job, replace(client, terminating=False))
        self._control.clients.run_again(following, job)
        if not ran:
            self._control.waits_no_more(job)
            self._control.clients.between_runs.pop(job.id, None)
            job.move(JobState.REJECTED)  # it is over, and Batsim knows nothing of it
            if records.by_name[key].job_id == job.id:
                records.by_name[key].job_id = following.id
        self._control.clients.wait_for_host(following)
        records.left(key, "Failed", NODE_LOST)
        node = following.nodes[key]
        if self._stored(following) is None:
            self.gone(following)
        elif self._cluster.runs(node):
            self._revive(following, node)

    def bound(self, job: Job, node: str) -> None:
        """Take in a pod that has come to a node whose kubelet is silent."""
        assert job.client is not None
        job.client.endless = not comes_to_an_end(job.client.pod)
        self._control.bound(job, job.pods[0], node)
        self._control.waits_no_more(job)
        self._control.clients.wait_for_host(job)

    def gone(self, job: Job) -> None:
        """Note that the pod is gone, or about to go. Twice is once."""
        if job.id in self._control.clients.without_host:
            self._control.clients.leave(job, "Failed", NODE_LOST)

    def host_is_back(self, node: str) -> None:
        """Play the kubelet of a host that has rebooted."""
        found = [job for job in self._control.clients.without_host.values() if job.nodes[job.pods[0]] == node]
        for job in sorted(found, key=lambda job: job.number):
            self._revive(job, node)

    def _revive(self, job: Job, node: str) -> None:
        (key,), client, pod = job.pods, job.client, self._stored(job)
        assert client is not None
        if pod is None:
            self.gone(job)
            return
        if pod["metadata"].get("deletionTimestamp"):
            self._kubelet.remove(key, after_reboot=True)
            self.gone(job)
            return
        self._control.clients.without_host.pop(job.id)
        self._control.clients.between_runs[job.id] = job
        client.pod = pod
        try:
            if self._may_go_on(job, client, pod, node):
                client.rebooted = _has_run(pod, "containerStatuses")
                self._control.records.revived(key)
                self._clients.start_anew(job, client, key, began=_has_begun(pod))
        except InputError as error:
            self._clients.refuse(job, key, "InvalidSimulation", str(error))

    def _may_go_on(self, job: Job, client: ClientPod, pod: JSON, node: str) -> bool:
        """End a pod that its kubelet does not start again; tell whether it does. Raises InputError."""
        (key,), now = job.pods, self._time.now
        if not self._cluster.occupancy.holds(job.uids[key]):
            why = self._cluster.why_no_room(pod, node)
            if why is not None:
                self._clients.refuse(job, key, why, f"Pod was rejected: node {node}: {why}")
                return False
            self._cluster.take(pod, node)
        if _has_begun(pod) and pod["spec"].get("restartPolicy", "Always") == "Never":
            self._kubelet.fail_after_reboot(key)
            self._control.clients.leave(job, "Failed", NODE_LOST)
            return False
        self._clients.prepare(job, client, node)
        if client.deadline is not None and client.deadline <= now:
            self._clients.expire(job, key, now)
            return False
        return True

    def _stored(self, job: Job) -> JSON | None:
        """Return the pod as it is in the API; None if it is gone, whoever has its name now."""
        (key,) = job.pods
        pod = self._kubelet.pod(key)
        return pod if pod is not None and pod["metadata"]["uid"] == job.uids[key] else None


def _has_begun(pod: JSON) -> bool:
    """Tell whether a container of the pod has run before."""
    return _has_run(pod, "initContainerStatuses") or _has_run(pod, "containerStatuses")


def _has_run(pod: JSON, kind: str) -> bool:
    told = pod.get("status", {}).get(kind, ())
    return any("waiting" not in each["state"] or each.get("lastState") for each in told)
