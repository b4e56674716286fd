"""A scenario: objects, and deeds of users at simulated seconds. Each is a file of `scenarios/`, named as it is.

`says` is what it is about; `controllers` are those of kube-controller-manager that take part; `nodes` the cores of each
node (h0, h1 ...), `zones` theirs if they have any; `looks` the simulated seconds at which all objects are looked at,
the last of which ends it; `kinds` the resources to look at beside events. `objects` are there from second 0.

A deed has its second (`at`), and one of:

- `create`: an object
- `patch`: a resource and a name (`apps/v1/deployments/web`), with a `body` (merge patch)
- `scale`: the same, with `replicas`
- `delete`: the same, with a `propagation` if the usual one is not meant
- `evict`: a pod

An outage has its second, the nodes whose hosts fail, and how many seconds it `lasts`. Where there are some they are
noticed as kube-controller-manager does it, after the grace period that it has by default.

`namespace` is another than `default`. Pods go by the names of recordings (`naming.py`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import yaml
from pydantic import BaseModel, ConfigDict

JSON = dict[str, Any]

FOLDER = Path(__file__).parent / "scenarios"
GRACE = 50.0
"""The grace period of kube-controller-manager's node life-cycle controller, in seconds."""


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


class Outage(BaseModel):
    """Hosts that fail, and are back after so many seconds."""

    model_config = ConfigDict(extra="forbid")

    at: float
    nodes: list[str]
    lasts: float


class Scenario(BaseModel):
    """One file."""

    model_config = ConfigDict(extra="forbid")

    says: str
    controllers: list[str]
    nodes: list[int] = [8]
    zones: list[str] = []
    outages: list[Outage] = []
    looks: list[float]
    kinds: list[str]
    objects: list[JSON] = []
    deeds: list[Deed] = []

    @property
    def grace(self) -> float:
        """Return the seconds after which a failure is noticed."""
        return GRACE if self.outages else 0.0

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
        f'<host id="h{index}" core="{cores}" speed="1Gf"><prop id="memory" value="64Gi"/>{_zone(scenario, index)}'
        "</host>"
        for index, cores in enumerate(scenario.nodes)
    )
    zone = f'<zone id="z" routing="Full">{hosts}<host id="master_host" speed="1Gf"/></zone>'
    return f'<platform version="4.1">{zone}</platform>'


def _zone(scenario: Scenario, index: int) -> str:
    if not scenario.zones:
        return ""
    labels = {"metadata": {"labels": {"topology.kubernetes.io/zone": scenario.zones[index]}}}
    return f'<prop id="batkube.io/node" value={quoteattr(json.dumps(labels))}/>'


def machine_events(scenario: Scenario) -> str:
    """Return the file of external events, as Batsim has it; hosts have the numbers of their names."""
    dates = [
        (date, kind, outage.nodes)
        for outage in scenario.outages
        for date, kind in ((outage.at, "machine_unavailable"), (outage.at + outage.lasts, "machine_available"))
    ]
    lines = [
        {"type": kind, "timestamp": date, "resources": " ".join(node.removeprefix("h") for node in nodes)}
        for date, kind, nodes in sorted(dates)
    ]
    return "".join(f"{json.dumps(line)}\n" for line in lines)
