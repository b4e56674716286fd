"""The kubelet's part of the API: the status of pods once they have a node."""

from collections.abc import Mapping
from typing import Any

from batkube.bridge import hosts, pod_status, resize_status
from batkube.bridge.kubelet_events import Told, event, field_path, go_duration, number_of
from batkube.bridge.names import NAMESPACE, pod_of_key
from batkube.bridge.pods import JOB_ANNOTATION
from batkube.bridge.time import SimulatedTime
from batkube.bridge.usage_book import UsageBook
from batkube.kube.server import ApiServer

JSON = dict[str, Any]

MOST_IMAGES = 50
"""The most images that a kubelet shows of its node (``nodeStatusMaxImages``)."""
OOM_KILLED = "OOMKilled"
"""The reason of a container that was killed for the memory that it used."""
KILLED_BY_SIGKILL, KILLED_BY_SIGTERM = 137, 143
"""The exit code of a container that was killed: 128 + SIGKILL."""
UNKNOWN_EXIT_CODE, UNKNOWN = 255, "Unknown"
"""The exit code and the reason that containerd tells, after a reboot, of a container that ran before."""


class Kubelet:
    """Writes phases and conditions into the store, in simulated time. A pod that is gone is passed over.

    Pods are named by their keys (``names.pod_key``).
    """

    def __init__(self, server: ApiServer, time: SimulatedTime) -> None:
        self._server = server
        self._time = time
        self._last_start = (-1.0, 0)
        self._last_event: dict[str, int] = {}
        """The number of the last Event on each pod, by name."""
        self._told = 0
        """The number of Events that are none of a pod's start."""
        self.exit_codes: dict[str, Mapping[str, int]] = {}
        """The exit codes of the containers of running pods that end each with its own, by name."""
        self.usage: UsageBook | None = None
        """The real use of processes while they run."""
        self.oom_killed: set[str] = set()
        """The pods whose process was killed, or is about to be, for the memory that it used."""

    def create(self, name: str) -> None:
        """Note that the pod has come to its node, and its process will start later: Pending, ContainerCreating."""
        if pod := self._pod(name):
            self._write(pod_status.creating(pod, self._time.rfc3339(), self._start_time()))

    def tell(self, name: str, what: Told, date: float, *, took: float = 0.0) -> None:
        """Write an Event of the pod's start, at ``date``. ``took``: simulated seconds that it took."""
        if pod := self._pod(name):
            date += self._time.epoch
            namespace, after = pod["metadata"]["namespace"], self._last_event.get(name, 0)
            told = event(pod, what, date, took=took, after=after)
            while self._server.store.get("events", namespace, told["metadata"]["name"]) is not None:
                told = event(pod, what, date, took=took, after=number_of(told))  # a controller has told something, too
            self._last_event[name] = number_of(told)
            self._server.create("events", told, namespace)

    def tell_node(self, node: str, reason: str, message: str) -> None:
        """Write an Event on a node: a warning."""
        about = {"kind": "Node", "name": node, "uid": node}
        self._tell(about, NAMESPACE, node, "Warning", reason, message)

    def tell_pod(self, name: str, kind: str, reason: str, message: str, container: str | None = None) -> None:
        """Write an Event on a pod, or on its ``container``. ``kind``: Normal or Warning."""
        if pod := self._pod(name):
            metadata = pod["metadata"]
            about = {"apiVersion": "v1", "kind": "Pod", **{key: metadata[key] for key in ("name", "namespace", "uid")}}
            if container is not None:
                about["fieldPath"] = field_path(pod, container)
            self._tell(about, metadata["namespace"], pod["spec"]["nodeName"], kind, reason, message)

    def _tell(self, about: JSON, namespace: str, node: str, kind: str, reason: str, message: str) -> None:
        self._told += 1
        now = self._time.rfc3339()
        told: JSON = {
            "metadata": {"name": f"{about['name']}.kubelet-{self._told:x}", "namespace": namespace},
            "involvedObject": about,
            "type": kind,
            "reason": reason,
            "message": message,
            "source": {"component": "kubelet", "host": node},
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
            "reportingComponent": "kubelet",
            "reportingInstance": node,
        }
        self._server.create("events", told, namespace)

    def pod(self, name: str) -> JSON | None:
        """Return the pod as it is stored; None if it is gone."""
        return self._pod(name)

    def resize(self, name: str) -> bool:
        """Note that the pod's containers have the resources that they ask for; False if that is known."""
        pod = self._pod(name)
        told = None if pod is None else resize_status.resized(pod)
        if told is None or told == pod:
            return False
        self._write(told)
        return True

    def defer_resize(self, name: str, message: str) -> bool:
        """Note that the node has no room for what the pod asks for now; False if that was told already."""
        pod = self._pod(name)
        if pod is None or resize_status.is_pending(pod):
            return False
        self._write(resize_status.deferred(pod, self._time.rfc3339(), message))
        return True

    def wait_for_images(self, name: str, states: Mapping[str, JSON | None]) -> None:
        """Note the states of containers whose images are missing, by name; None for one whose image has come."""
        if pod := self._pod(name):
            self._write(pod_status.waiting_for_images(pod, self._time.rfc3339(), states))

    def start(self, name: str) -> None:
        """Note that the pod's process runs from now on."""
        if pod := self._pod(name):
            self._write(_resizable(pod_status.running(pod, self._time.rfc3339(), self._start_time())))
            self._runs(name, pod)

    def _runs(self, name: str, pod: JSON) -> None:
        if self.usage is not None:
            self.usage.started(name, pod)

    def _runs_no_more(self, name: str) -> None:
        if self.usage is not None and self.usage.active:
            self.usage.stopped(name)

    def initialize(self, name: str, changes: Mapping[str, JSON]) -> None:
        """Note what is new of the pod's init containers: members of their statuses, by name."""
        if pod := self._pod(name):
            self._write(pod_status.initializing(pod, self._time.rfc3339(), self._start_time(), changes))

    def fail_initialization(self, name: str, changes: Mapping[str, JSON]) -> None:
        """Note that the pod fails, as an init container has failed that is not started again."""
        if pod := self._pod(name):
            self._write(pod_status.not_initialized(pod, self._time.rfc3339(), changes))

    def crash_loop(self, name: str, container: str, wait: float) -> JSON:
        """Return the state of a container that is started again in ``wait`` simulated seconds."""
        pod = self._pod(name)
        metadata = pod["metadata"] if pod else {"name": "", "namespace": "", "uid": ""}
        return pod_status.crash_loop(metadata, container, go_duration(wait))

    def end_container(self, name: str, container: str, exit_code: int) -> None:
        """Note that one container of a running pod has ended, while others go on."""
        if pod := self._pod(name):
            self._write(pod_status.container_ended(pod, self._time.rfc3339(), container, exit_code))

    def refuse(self, name: str, reason: str, message: str) -> None:
        """Note that the node has no room for the pod: it fails, and nothing of it has run."""
        if pod := self._pod(name):
            self._write(pod_status.refused(pod, self._start_time(), reason=reason, message=message))

    def back_off(self, name: str, exit_code: int, exited: float, wait: float) -> None:
        """Note that the process has ended, and is started again in ``wait`` simulated seconds."""
        if pod := self._pod(name):
            told = pod_status.backing_off(
                pod, self._time.rfc3339(), exit_code=exit_code, reason=self._reason(name, exit_code),
                exited=self._time.rfc3339(exited), wait=go_duration(wait),
            )  # fmt: skip
            self._write(told)
            self._runs_no_more(name)

    def start_again(self, name: str, exit_code: int, exited: float, *, reason: str = "") -> None:
        """Note that the process runs once more, after one that ended at ``exited``. ``reason``: another than usual."""
        if pod := self._pod(name):
            done = pod_status.again(
                pod, exit_code=exit_code, reason=reason or self._reason(name, exit_code),
                exited=self._time.rfc3339(exited),
            )  # fmt: skip
            self._write(_resizable(pod_status.running(done, self._time.rfc3339(), "")))
            self._runs(name, pod)
            self.oom_killed.discard(name)

    def note_binding(self, pod: JSON) -> None:
        """Give a pod its ``startTime`` with its node, whenever its process starts.

        From then on it may be a victim, and kube-scheduler tells victims without one apart by the order of a Go map.
        """
        pod["status"] = {**pod.get("status", {}), "startTime": self._start_time()}

    def _start_time(self) -> str:
        """Return the present, a different time for each pod.

        A real kubelet writes whole seconds. But if two possible victims started in the same second, kube-scheduler
        takes the first of a Go map, which is another one each time.
        """
        date, count = self._last_start
        self._last_start = (self._time.now, count + 1 if date == self._time.now else 0)
        return self._time.rfc3339_nano(self._last_start[1])

    def succeed(self, name: str, date: float, exited: float) -> None:
        """Note that the process has ended well at ``exited``, and the pod at ``date``."""
        self._end(name, date, exited, exit_code=0, reason="Completed")

    def fail(self, name: str, date: float, return_code: int, exited: float) -> None:
        """Note that the process has ended with an error."""
        self._end(name, date, exited, exit_code=return_code & 0xFF or 1, reason="Error")

    def exceed_deadline(self, name: str, date: float, exited: float) -> None:
        """Note that the walltime is over, with the kubelet's words for ``activeDeadlineSeconds``."""
        message = "Pod was active on the node longer than the specified deadline"
        pod = self._pod(name)
        if pod is not None and pod_status.is_initializing(pod):
            now = self._time.rfc3339(date)
            changes = pod_status.stopped_initializing(pod, now, KILLED_BY_SIGKILL)
            self._write(pod_status.not_initialized(pod, now, changes, reason="DeadlineExceeded", message=message))
            return
        self._end(name, date, exited, exit_code=KILLED_BY_SIGKILL, reason="DeadlineExceeded", message=message)

    def kill(self, name: str, date: float, why: str, exited: float) -> None:
        """Note that the process was killed: a pod that is being deleted goes away for good, another one fails."""
        pod = self._pod(name)
        if pod is None:
            return
        if pod["metadata"].get("deletionTimestamp"):
            self.remove(name, exited)
        elif name in self.oom_killed:
            self._end(name, date, exited, exit_code=KILLED_BY_SIGKILL, reason=OOM_KILLED)
        else:
            self._end(name, date, exited, exit_code=KILLED_BY_SIGKILL, reason="Killed", message=why)

    def lose(self, name: str) -> None:
        """Note that the pod's process has ended with its host: nobody tells it of the pod."""
        self.exit_codes.pop(name, None)
        self.oom_killed.discard(name)
        self._runs_no_more(name)

    def fail_after_reboot(self, name: str) -> None:
        """Note that the pod's containers have ended with its host, and are not started again."""
        if pod := self._pod(name):
            self._write(self._lost(pod))

    def _lost(self, pod: JSON) -> JSON:
        """Return a pod with its status when its host is back, and it is not started again."""
        now = self._time.rfc3339()
        if pod_status.is_initializing(pod):
            changes = pod_status.stopped_initializing(pod, now, UNKNOWN_EXIT_CODE, UNKNOWN)
            return pod_status.not_initialized(pod, now, changes)
        return pod_status.ended(pod, now, exit_code=UNKNOWN_EXIT_CODE, reason=UNKNOWN, exited=now)

    def reboot(self, name: str) -> None:
        """Note that the pod's containers have ended with its host, and are about to be started again."""
        if pod := self._pod(name):
            self._write(pod_status.rebooted(pod, self._time.rfc3339(), UNKNOWN_EXIT_CODE, UNKNOWN))

    def remove(self, name: str, exited: float | None = None, *, after_reboot: bool = False) -> None:
        """Take the pod out of the API at once (grace period 0). Its process has ended at ``exited``, or now.

        A pod that a finalizer holds is seen there for longer: it has failed. ``after_reboot``: it has ended with its
        host.
        """
        self.exit_codes.pop(name, None)
        self._runs_no_more(name)
        pod = self._pod(name)
        if pod is None:
            return
        held = pod["metadata"].get("finalizers") and pod["spec"].get("nodeName")
        if held and pod["status"]["phase"] in ("Pending", "Running"):
            finished = self._time.rfc3339(exited)
            if after_reboot:
                ended = self._lost(pod)
            elif pod_status.is_initializing(pod):
                changes = pod_status.stopped_initializing(pod, finished, KILLED_BY_SIGTERM)
                ended = pod_status.not_initialized(pod, finished, changes)
            else:
                ended = pod_status.ended(
                    pod, self._time.rfc3339(), exit_code=KILLED_BY_SIGTERM, reason="Error", exited=finished
                )
            self._write(ended)
        self._delete(pod)

    def forget(self, name: str, uid: str) -> None:
        """Take a pod that has ended out of the API, if its uid is ``uid``, and forget its Events."""
        self._last_event.pop(name, None)
        pod = self._pod(name)
        if pod is not None and pod["metadata"]["uid"] == uid:
            self._delete(pod)

    def post_health(self, node: str) -> None:
        """Note that the node's kubelet is up: its conditions; others stay. A transition is dated where there is one."""
        current = self._server.store.get("nodes", "", node)
        if current is None:
            return
        posted = {each["type"]: each for each in hosts.healthy_conditions(self._time.rfc3339())}
        before = current["status"].get("conditions") or ()
        for each in before:
            if (new := posted.get(each["type"])) is not None and new["status"] == each["status"]:
                new["lastTransitionTime"] = each["lastTransitionTime"]
        kept = [posted.pop(each["type"], each) for each in before]
        status = {**current["status"], "conditions": [*kept, *posted.values()]}
        self._server.update("nodes", {**current, "status": status}, "status")

    def uid_of_node(self, node: str) -> str:
        """Return the uid of a node; empty if it is gone."""
        current = self._server.store.get("nodes", "", node)
        return "" if current is None else str(current["metadata"]["uid"])

    def show_image(self, node: str, name: str, size: int) -> None:
        """Show an image on a node, and its bytes: the largest first, as many as a kubelet shows."""
        current = self._server.store.get("nodes", "", node)
        if current is None:
            return
        images = [*current["status"].get("images", ()), {"names": [name], "sizeBytes": size}]
        images.sort(key=lambda image: (-image.get("sizeBytes", 0), image["names"]))
        self._server.update(
            "nodes", {**current, "status": {**current["status"], "images": images[:MOST_IMAGES]}}, "status"
        )

    def register(self, node: str, described: dict[str, Any]) -> None:
        """Add to a new node what its kubelet says of its host, as ``described``, and the node does not say itself."""
        current = self._server.store.get("nodes", "", node)
        if current is None:
            return
        metadata = dict(current["metadata"])
        for key in ("labels", "annotations"):
            metadata[key] = {**described["metadata"][key], **(metadata.get(key) or {})}
        said = self._server.update("nodes", {**current, "metadata": metadata})
        status = {**described["status"], **said.get("status", {})}
        if not status["nodeInfo"].get("kubeletVersion"):
            status["nodeInfo"] = described["status"]["nodeInfo"]
        self._server.update("nodes", {**said, "status": status}, "status")

    def set_allocatable(self, node: str, allocatable: dict[str, str]) -> None:
        """Let the node offer these resources to pods."""
        current = self._server.store.get("nodes", "", node)
        if current is None:
            return
        status = {**current["status"], "allocatable": allocatable}
        self._server.update("nodes", {**current, "status": status}, "status")

    def _end(self, name: str, date: float, exited: float, *, exit_code: int, reason: str, message: str = "") -> None:
        pod = self._pod(name)
        if pod is None:
            return
        now, finished = self._time.rfc3339(date), self._time.rfc3339(exited)
        codes = self.exit_codes.pop(name, None)
        self._runs_no_more(name)
        told = pod_status.ended(
            pod, now, exit_code=exit_code, reason=reason, message=message, exited=finished,
            codes=None if exit_code == KILLED_BY_SIGKILL else codes,
        )  # fmt: skip
        self._write(told)
        if pod["metadata"].get("deletionTimestamp"):
            self.remove(name)

    def _write(self, pod: JSON) -> None:
        metadata = pod["metadata"]
        self._server.trusted.set_status("pods", metadata["name"], pod["status"], metadata["namespace"])

    def _delete(self, pod: JSON) -> None:
        metadata = pod["metadata"]
        self._server.delete("pods", metadata["name"], metadata["namespace"], grace_seconds=0)

    def _pod(self, key: str) -> JSON | None:
        return self._server.store.get("pods", *pod_of_key(key))

    def _reason(self, name: str, exit_code: int) -> str:
        """Return the reason of a container's end."""
        if name in self.oom_killed:
            return OOM_KILLED
        return "Error" if exit_code else "Completed"


def _resizable(pod: JSON) -> JSON:
    """Return a pod that runs as it is told; the pods of jobs cannot be resized, as Batsim knows what those take."""
    if JOB_ANNOTATION in (pod["metadata"].get("annotations") or {}):
        return pod
    return resize_status.resizable(pod)
