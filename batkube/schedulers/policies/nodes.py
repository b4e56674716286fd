"""A node as a policy sees it."""

from dataclasses import dataclass, field
from typing import Any

from batkube.schedulers.policies.pods import Pod
from batkube.schedulers.policies.resources import CPU, PODS, Resources, amounts

JSON = dict[str, Any]


@dataclass(slots=True, eq=False)
class Node:
    """A node. Only the Cluster that holds it changes it."""

    object: JSON
    """The whole Node as the API has it, to be read only."""
    name: str
    allocatable: Resources
    """The resources that it offers to pods, counted as ``Pod.requests``."""
    requested: dict[str, int] = field(default_factory=dict)
    """The requests of its pods together."""
    pods: dict[str, Pod] = field(default_factory=dict)
    """The pods on it, by uid."""
    schedulable: bool = True
    """True if it takes pods at all: it is not cordoned."""
    taints: list[JSON] = field(default_factory=list)
    """The taints that keep away pods that do not tolerate them (NoSchedule, NoExecute)."""

    @classmethod
    def of(cls, manifest: JSON) -> "Node":
        """Read a Node, which has no pods."""
        node = cls(manifest, manifest["metadata"]["name"], {})
        node.read(manifest)
        return node

    def read(self, manifest: JSON) -> None:
        """Take over what the API says of it now."""
        self.object = manifest
        spec = manifest.get("spec", {})
        self.schedulable = not spec.get("unschedulable", False)
        self.taints = [taint for taint in spec.get("taints", []) if taint["effect"] != "PreferNoSchedule"]
        self.allocatable = amounts(manifest.get("status", {}).get("allocatable", {}))

    def __repr__(self) -> str:
        return f"<Node {self.name}>"

    @property
    def labels(self) -> dict[str, str]:
        """The node's labels."""
        labels: dict[str, str] = self.object["metadata"].get("labels", {})
        return labels

    @property
    def open(self) -> bool:
        """True if a pod that asks for cpu may find room: it has cpu left, and room for a pod."""
        return self.schedulable and self.free(PODS) > 0 and self.free(CPU) > 0

    def free(self, resource: str) -> int:
        """Return what is left of a resource."""
        return self.allocatable.get(resource, 0) - self.requested.get(resource, 0)

    def take(self, pod: Pod) -> None:
        """Count the pod among its own."""
        self.pods[pod.uid] = pod
        requested = self.requested
        for resource, value in pod.requests.items():
            requested[resource] = requested.get(resource, 0) + value

    def give_back(self, pod: Pod) -> None:
        """Do not count the pod any more."""
        del self.pods[pod.uid]
        for resource, value in pod.requests.items():
            self.requested[resource] -= value
