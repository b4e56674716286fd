"""Machines as a platform file of SimGrid's, with the properties by which batkube makes nodes of hosts.

The network is flat: any host is half a tenth of a millisecond from any other, and no link is ever full. That is a zone
of routing Vivaldi with all hosts in one place, and costs nothing to route, however many they are.
"""

import json
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any
from xml.sax.saxutils import quoteattr

from batkube.bridge.hosts import NODE_PROPERTY, SPEED_ANNOTATION
from batkube.kube.apimachinery.quantity import Quantity
from batkube.platforms.machine import ZONE, Machine

_BEGIN = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="cluster" routing="Vivaldi">
    <host id="master_host" coordinates="0 0 0.025" speed="1Gf"/>
"""
_END = "  </zone>\n</platform>\n"


def platform_text(machines: Iterable[Machine]) -> str:
    """Return the file."""
    return _BEGIN + "".join(map(_host, machines)) + _END


def _host(machine: Machine) -> str:
    cores = max(1, int(Quantity.parse(machine.cpu).value))
    properties = {"core": machine.cpu} if Quantity.parse(machine.cpu).value != Fraction(cores) else {}
    for name, value in (("memory", machine.memory), ("pods", machine.pods)):
        if value is not None:
            properties[name] = value
    properties |= machine.resources
    properties[NODE_PROPERTY] = json.dumps(_fragment(machine), separators=(",", ":"))
    speed = f"{machine.speed:g}Gf"
    lines = [f'    <host id={quoteattr(machine.name)} coordinates="0 0 0.025" speed="{speed}" core="{cores}">\n']
    lines += [f"      <prop id={quoteattr(name)} value={quoteattr(text)}/>\n" for name, text in properties.items()]
    return "".join([*lines, "    </host>\n"])


def _fragment(machine: Machine) -> dict[str, Any]:
    """Return what the node has beside what it offers; the zone of the file is none of the cluster's."""
    labels: dict[str, str | None] = {ZONE: None, **machine.labels}
    metadata: dict[str, Any] = {"labels": labels}
    if machine.speed != 1.0:
        metadata["annotations"] = {SPEED_ANNOTATION: f"{machine.speed:g}"}
    spec = dict(_spec(machine))
    return {"metadata": metadata, **({"spec": spec} if spec else {})}


def _spec(machine: Machine) -> Iterator[tuple[str, Any]]:
    if machine.taints:
        yield "taints", machine.taints
    if machine.unschedulable:
        yield "unschedulable", True
