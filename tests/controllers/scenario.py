"""A scenario: objects, and deeds of users at simulated seconds. Each is a file of `scenarios/`, named as it is.

`says` is what it is about; `controllers` are those of kube-controller-manager that take part; `nodes` the cores of each
node (h0, h1 ...), `looks` the simulated seconds at which all objects are looked at, the last of which ends it; `kinds`
the resources to look at beside events. `objects` are there from second 0.

A deed has its second (`at`), and one of:

- `create`: an object
- `patch`: a resource and a name (`apps/v1/deployments/web`), with a `body` (merge patch)
- `scale`: the same, with `replicas`
- `delete`: the same, with a `propagation` if the usual one is not meant
- `evict`: a pod

`namespace` is another than `default`. Pods go by the names of recordings (`naming.py`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict

JSON = dict[str, Any]

FOLDER = Path(__file__).parent / "scenarios"


class Deed(BaseModel):
    """A deed of a user."""

    model_config = ConfigDict(extra="forbid")

    at: float
    namespace: str = "default"
    create: JSON | None = None
    patch: str = ""
    body: JSON | None = None
    scale: str = ""
    replicas: int = 0
    delete: str = ""
    propagation: str | None = None
    evict: str = ""


class Scenario(BaseModel):
    """One file."""

    model_config = ConfigDict(extra="forbid")

    says: str
    controllers: list[str]
    nodes: list[int] = [8]
    looks: list[float]
    kinds: list[str]
    objects: list[JSON] = []
    deeds: list[Deed] = []

    @property
    def end(self) -> float:
        """Return the simulated second at which it is over."""
        return self.looks[-1] + 0.5


def names() -> list[str]:
    """Return the names of all scenarios."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def read(name: str) -> Scenario:
    """Read a scenario."""
    return Scenario.model_validate(yaml.safe_load((FOLDER / f"{name}.yaml").read_text()))


def platform(scenario: Scenario) -> str:
    """Return the platform file of its nodes."""
    hosts = "".join(
        f'<host id="h{index}" core="{cores}" speed="1Gf"><prop id="memory" value="64Gi"/></host>'
        for index, cores in enumerate(scenario.nodes)
    )
    zone = f'<zone id="z" routing="Full">{hosts}<host id="master_host" speed="1Gf"/></zone>'
    return f'<platform version="4.1">{zone}</platform>'
