"""The parts of a platform: hosts, the links between them, and the zones that say which links a route takes.

The notions are SimGrid's: https://simgrid.org/doc/latest/Platform.html.
"""

from dataclasses import dataclass, field


class PlatformError(ValueError):
    """A platform that cannot be used. The text, one line, names file, host or other element, and attribute."""


@dataclass(frozen=True)
class Host:
    """A host as the file describes it."""

    name: str
    speeds: tuple[float, ...]
    """The flops per second of one core, by pstate."""
    cores: int
    """The attribute ``core``; a property of that name is another thing."""
    properties: dict[str, str]
    """The host's own properties, and for a host of a cluster those of the cluster."""
    zones: tuple[str, ...]
    """The zones that hold it, outermost first; the last is its cluster, if it has one."""
    zone_properties: dict[str, str]
    """The properties of its zones together; the innermost wins."""
    pstate: int = 0
    """The pstate at the beginning."""

    @property
    def speed(self) -> float:
        """The flops per second of one core, at the beginning."""
        return self.speeds[self.pstate]


@dataclass(eq=False)
class Link:
    """A link in one direction, or in both if they share it."""

    name: str
    bandwidth: float
    """The bytes per second; infinite if the file gives only a latency."""
    latency: float
    """The latency in seconds."""
    fatpipe: bool = False
    """True if each flow has the whole bandwidth."""
    reverse: "Link" = field(init=False, repr=False)
    """The link of the way back: another one in a split-duplex link, else the link itself."""

    def __post_init__(self) -> None:
        self.reverse = self


@dataclass(frozen=True, eq=False)
class Route:
    """The route between two points of a zone: hosts, or child zones through a gateway each."""

    source: str
    destination: str
    links: tuple[Link, ...]
    source_gateway: str = ""
    destination_gateway: str = ""

    def reversed(self) -> "Route":
        back = tuple(link.reverse for link in reversed(self.links))
        return Route(self.destination, self.source, back, self.destination_gateway, self.source_gateway)


@dataclass(eq=False)
class ClusterPort:
    """The links of a host in a cluster."""

    outward: tuple[Link, ...]
    """The private links that a flow from the host takes first."""
    inward: tuple[Link, ...]
    """The private links that a flow to the host takes last."""
    loopback: tuple[Link, ...] = ()
    """The links of a flow from the host to itself, if the file gives one for that; else such a flow goes out and comes
    back."""


@dataclass(eq=False)
class Zone:
    """A networking zone, the scope of routes."""

    name: str
    routing: str
    """``full``, ``cluster``, ``dijkstra``, ``floyd``, ``none`` ..., in lower case."""
    parent: "Zone | None" = None
    properties: dict[str, str] = field(default_factory=dict)
    routes: dict[tuple[str, str], Route] = field(default_factory=dict)
    ports: dict[str, ClusterPort] = field(default_factory=dict)
    """The ports by host, only of clusters, and of peers in zones of routing ``Vivaldi``."""
    backbone: Link | None = None
    coordinates: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    """The coordinates by host, in milliseconds: only of zones of routing ``Vivaldi``."""
    unsupported: str = ""
    """The reason why batkube knows no routes here, if so."""

    @property
    def middle(self) -> tuple[Link, ...]:
        """The links that the hosts of a cluster share: its backbone, if it has one."""
        return (self.backbone,) if self.backbone else ()

    @property
    def ancestors(self) -> "tuple[Zone, ...]":
        """The zones from the outermost to this one."""
        return (*self.parent.ancestors, self) if self.parent else (self,)
