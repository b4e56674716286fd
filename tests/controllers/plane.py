"""Controllers that are built in, in process: an API server, a clock that a test moves, and no nodes."""

from collections.abc import Callable, Sequence
from typing import Any

from batkube.bridge.time import SimulatedTime
from batkube.controllers.control_plane import ControlPlane
from batkube.controllers.controller import Controller
from batkube.controllers.flags import Flags
from batkube.controllers.kubelets import Kubelets
from batkube.kube.server import ApiServer

JSON = dict[str, Any]


class Plane:
    """A cluster with controllers, whose kubelet and scheduler are the test."""

    def __init__(
        self,
        kinds: Sequence[type[Controller]] | None = None,
        flags: Flags | None = None,
        kubelets: Kubelets | None = None,
    ) -> None:
        self.time = SimulatedTime(1_577_836_800.0)
        self.server = ApiServer(now=self.time.unix)
        self.warnings: list[str] = []
        self.plane = ControlPlane(
            self.server, self.time, self.warnings.append, kinds=kinds, flags=flags, kubelets=kubelets
        )
        self.plane.start()

    def create(self, resource: str, obj: JSON) -> JSON:
        """Create an object, and let the controllers act."""
        made = self.server.create(resource, obj)
        self.plane.sync()
        return made

    def until(self, date: float) -> None:
        """Let time go on to ``date``, with a stop wherever a controller wants to act."""
        while (stop := self.plane.next_date) is not None and stop <= date:
            self.time.advance(max(stop, self.time.now))
            self.plane.sync()
        self.time.advance(date)
        self.plane.sync()

    def get(self, resource: str, name: str, namespace: str = "default") -> JSON:
        return self.server.get(resource, name, namespace)

    def pods(self, namespace: str | None = "default") -> list[JSON]:
        """Return the pods in the order in which they were made."""
        return sorted(self.server.list("pods", namespace), key=lambda pod: int(pod["metadata"]["resourceVersion"]))

    def active(self) -> list[JSON]:
        """Return the pods that have not ended and are not deleted."""
        return [
            pod for pod in self.pods()
            if pod["status"]["phase"] in ("Pending", "Running") and not pod["metadata"].get("deletionTimestamp")
        ]  # fmt: skip

    def change(self, resource: str, name: str, change: Callable[[JSON], object], namespace: str = "default") -> None:
        """Change an object as a user would, and let the controllers act."""

        def changed(obj: JSON) -> None:
            change(obj)

        self.server.controller("user").modify(resource, namespace, name, changed)
        self.plane.sync()

    def end(self, pod: JSON, code: int = 0, *, conditions: Sequence[JSON] = ()) -> None:
        """Let a pod's containers end with this exit code."""
        now = self.time.rfc3339()
        ended = {"exitCode": code, "finishedAt": now, "startedAt": now, "reason": "Error" if code else "Completed"}
        containers = [
            {
                "name": container["name"],
                "image": container["image"],
                "imageID": "",
                "ready": False,
                "restartCount": 0,
                "state": {"terminated": ended},
            }
            for container in pod["spec"]["containers"]
        ]
        status = {
            **pod["status"],
            "phase": "Failed" if code else "Succeeded",
            "containerStatuses": containers,
            "conditions": [*(pod["status"].get("conditions") or ()), *conditions],
        }
        self.server.update("pods", {**pod, "status": status}, "status")
        self.plane.sync()

    def run(self, pod: JSON) -> JSON:
        """Let a pod run on a node that nobody needs."""
        name = pod["metadata"]["name"]
        self.server.bind(name, "node", pod["metadata"]["namespace"])
        now = self.time.rfc3339()
        bound = self.get("pods", name, pod["metadata"]["namespace"])
        ready = {"type": "Ready", "status": "True", "lastTransitionTime": now}
        status = {**bound["status"], "phase": "Running", "startTime": now, "conditions": [ready]}
        self.server.update("pods", {**bound, "status": status}, "status")
        self.plane.sync()
        return self.get("pods", name, pod["metadata"]["namespace"])

    def events(self, about: str = "") -> list[tuple[str, str, str]]:
        """Return type, reason and message of the Events on objects of this kind, in order."""
        found = [each for each in self.server.list("events") if about in ("", each["involvedObject"]["kind"])]
        found.sort(key=lambda each: int(each["metadata"]["name"].rpartition(".")[2], 16))
        return [(each["type"], each["reason"], each["message"]) for each in found]


def template(**spec: Any) -> JSON:
    """Return a pod template with one container."""
    whole = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "app"}], **spec}
    return {"metadata": {"labels": {"app": "test"}}, "spec": whole}


def conditions(obj: JSON) -> list[tuple[str, str, str]]:
    """Return type, status and reason of an object's conditions."""
    return [(each["type"], each["status"], each["reason"]) for each in obj["status"].get("conditions", ())]
