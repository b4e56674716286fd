"""What a platform is made of: hosts, the links between them, and the zones that say which links a route takes.

SimGrid's notions: https://simgrid.org/doc/latest/Platform.html.
"""

from dataclasses import dataclass, field


class PlatformError(ValueError):
    """A platform that cannot be used. The text, one line, names file, host or other element, and attribute."""


@dataclass(frozen=True)
class Host:
    """A host as the file describes it."""

    name: str
    speeds: tuple[float, ...]
    """Flops per second of one core, by pstate."""
    cores: int
    """The attribute ``core``; a property of that name is another thing."""
    properties: dict[str, str]
    """Its own, and for a host of a cluster those of the cluster."""
    zones: tuple[str, ...]
    """The zones that hold it, outermost first; the last is its cluster, if it has one."""
    zone_properties: dict[str, str]
    """Those of its zones together, the innermost wins."""
    pstate: int = 0
    """The pstate at the beginning."""

    @property
    def speed(self) -> float:
        """Flops per second of one core, at the beginning."""
        return self.speeds[self.pstate]


@dataclass(eq=False)
class Link:
    """A link in one direction, or in both where they share it."""

    name: str
    bandwidth: float
    """Bytes per second."""
    latency: float
    """Seconds."""
    fatpipe: bool = False
    """Each flow has the whole bandwidth."""
    reverse: "Link" = field(init=False, repr=False)
    """The link of the way back: another one in a split-duplex link, else the link itself."""

    def __post_init__(self) -> None:
        self.reverse = self


@dataclass(frozen=True, eq=False)
class Route:
    """How two points of a zone are joined: hosts, or child zones through a gateway each."""

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
    """How a host of a cluster is plugged in."""

    outward: tuple[Link, ...]
    """The links of its own that a flow from it takes first."""
    inward: tuple[Link, ...]
    """Those that a flow to it takes last."""


@dataclass(eq=False)
class Zone:
    """A networking zone, the scope of routes."""

    name: str
    routing: str
    """``Full``, ``Cluster``, ``Dijkstra``, ``Floyd``, ``None`` ... in lower case."""
    parent: "Zone | None" = None
    properties: dict[str, str] = field(default_factory=dict)
    routes: dict[tuple[str, str], Route] = field(default_factory=dict)
    ports: dict[str, ClusterPort] = field(default_factory=dict)
    """By host; clusters only."""
    backbone: Link | None = None
    unsupported: str = ""
    """Why batkube knows no routes here, if so."""

    @property
    def middle(self) -> tuple[Link, ...]:
        """What the hosts of a cluster have in common: its backbone, if it has one."""
        return (self.backbone,) if self.backbone else ()

    @property
    def ancestors(self) -> "tuple[Zone, ...]":
        """From the outermost to this zone."""
        return (*self.parent.ancestors, self) if self.parent else (self,)
