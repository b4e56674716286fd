"""The machines of a cluster by name, zone and label, as their nodes will have them, before there are any nodes."""

from collections.abc import Iterable
from dataclasses import dataclass

from batkube.batsim.platform import Resources
from batkube.bridge.hosts import Host, node
from batkube.bridge.names import Names
from batkube.platforms.machine import ZONE
from batkube.startup.selector import read_selector


@dataclass(frozen=True)
class Place:
    """A machine."""

    host: str
    """The name of the host in the platform."""
    node: str
    """The name of its node."""
    labels: dict[str, str]

    @property
    def zone(self) -> str:
        """The zone by its label; empty for none."""
        return self.labels.get(ZONE, "")


class Places:
    """All machines, in the order of their hosts' numbers. Methods raise ValueError where nothing is found."""

    def __init__(self, places: Iterable[Place]) -> None:
        self.all = list(places)

    @classmethod
    def of(cls, resources: Resources) -> "Places":
        """Return the machines of a platform. Raises InputError for a host that cannot be shown as a node."""
        names = Names()
        names.reserve(host.name for host in resources.compute)
        places = []
        for number, host in enumerate(resources.compute):
            name = names.claim(host.name)
            shown = Host(number, host.name, host.cores, host.properties, host.zone_properties, host.zones)
            made = node(shown, name, exclusive=False, now="")
            places.append(Place(host.name, name, made["metadata"]["labels"]))
        return cls(places)

    def named(self, name: str) -> list[Place]:
        """Return the one with this name, of a node or of a host."""
        found = [place for place in self.all if name == place.node] or [
            place for place in self.all if name == place.host
        ]
        if not found:
            raise ValueError(f"there is no node {name!r}")
        return found

    def in_zone(self, zone: str) -> list[Place]:
        """Return those of a zone."""
        found = [place for place in self.all if zone and place.zone == zone]
        if not found:
            zones = ", ".join(self.zones) or "none"
            raise ValueError(f"there is no node in zone {zone!r} (label {ZONE}); zones are: {zones}")
        return found

    def labelled(self, selector: str) -> list[Place]:
        """Return those whose labels match, by a selector as kubectl's ``-l`` has it."""
        wanted = read_selector(selector)
        found = [place for place in self.all if wanted.matches(place.labels)]
        if not found:
            raise ValueError(f"no node has labels such as {selector!r}")
        return found

    @property
    def zones(self) -> list[str]:
        """The zones that there are."""
        return sorted({place.zone for place in self.all} - {""})
