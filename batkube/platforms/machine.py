"""A machine of a cluster, as a node of Kubernetes has it."""

from dataclasses import dataclass, field, replace
from typing import Any

JSON = dict[str, Any]

ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
GPU = "nvidia.com/gpu"


@dataclass(frozen=True)
class Machine:
    """A machine; quantities are spelt as Kubernetes does."""

    name: str
    """Empty for one that gets its name later."""
    cpu: str
    memory: str | None = None
    pods: str | None = None
    resources: dict[str, str] = field(default_factory=dict)
    """Other resources that it offers: ``nvidia.com/gpu``."""
    labels: dict[str, str] = field(default_factory=dict)
    taints: list[JSON] = field(default_factory=list)
    unschedulable: bool = False
    """True if it is cordoned."""
    speed: float = 1.0
    """The speed, where 1 is usual (annotation ``batkube.io/speed``)."""

    def named(self, name: str) -> "Machine":
        """Return one like it with another name."""
        return replace(self, name=name)


def numbered(machines: list[Machine], taken: set[str]) -> list[Machine]:
    """Return the machines, those without a name as ``node-001`` and so on: in the order of their names, too."""
    nameless = sum(not machine.name for machine in machines)
    width, number = len(str(nameless)), 0
    given = []
    for machine in machines:
        if not machine.name:
            while True:
                number += 1
                if (name := f"node-{number:0{width}}") not in taken:
                    break
            machine = machine.named(name)
        given.append(machine)
    return given
