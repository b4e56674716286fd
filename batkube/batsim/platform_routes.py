"""Reading the routes of a platform file, once all that they name is known.

A route is refused where SimGrid refuses it: SimGrid ends Batsim on a route without links, on a route that is declared
twice, and on a split-duplex link without direction (``FullZone::add_route`` and others).
"""

from xml.etree.ElementTree import Element

from batkube.batsim.clusters import ClusterBuilder
from batkube.batsim.platform_grammar import described, required
from batkube.batsim.topology import Link, Route, Zone

ROUTINGS = ("cluster", "dijkstra", "dijkstracache", "floyd", "full", "none", "vivaldi")
"""The routings of zones, in lower case."""
_WITH_ROUTES = {"dijkstra", "dijkstracache", "floyd", "full"}


class RouteReader:
    """Adds routes to their zones. Its methods raise ValueError, naming the route."""

    def __init__(self, zone_of: dict[str, Zone], links: dict[str, Link]) -> None:
        self._zone_of = zone_of
        """The zone of each host, router or child zone."""
        self._links = links

    def plug(self, zone: Zone, element: Element) -> None:
        """Read a ``host_link``: the private links of a host in a zone of routing ``Cluster``."""
        up, down = (self._named(element, required(element, way), way) for way in ("up", "down"))
        ClusterBuilder.join(zone, required(element, "id"), up, down)

    def add(self, zone: Zone, element: Element) -> None:
        """Read a ``route`` or ``zoneRoute``, and the way back if it is symmetrical, as it is by default."""
        who = described(element)
        if zone.routing not in _WITH_ROUTES:
            raise ValueError(f"{who}: zone {zone.name!r} of routing {zone.routing} takes no routes")
        source, destination = required(element, "src"), required(element, "dst")
        gateways = element.get("gw_src", ""), element.get("gw_dst", "")
        for end, gateway in ((source, gateways[0]), (destination, gateways[1])):
            self._check_end(who, end, gateway)
        links = tuple(self._link(who, part) for part in element if part.tag == "link_ctn")
        if not links:
            raise ValueError(f"{who}: names no link")
        self._declare(who, zone, Route(source, destination, links, *gateways))
        if element.get("symmetrical", "YES").upper() == "YES" and source != destination:
            self._declare(who, zone, zone.routes[source, destination].reversed())

    def _declare(self, who: str, zone: Zone, route: Route) -> None:
        ends = route.source, route.destination
        if ends in zone.routes:
            raise ValueError(f"{who}: there is one from {ends[0]!r} to {ends[1]!r} already (routes are symmetrical)")
        zone.routes[ends] = route

    def _check_end(self, who: str, end: str, gateway: str) -> None:
        if end not in self._zone_of:
            raise ValueError(f"{who}: there is no {end!r}")
        if not gateway:
            return
        if gateway not in self._zone_of:
            raise ValueError(f"{who}: no gateway {gateway!r}")
        if end not in (zone.name for zone in self._zone_of[gateway].ancestors):
            raise ValueError(f"{who}: gateway {gateway!r} is not in zone {end!r}")

    def _link(self, who: str, part: Element) -> Link:
        name = required(part, "id")
        link = self._named(part, name, who)
        direction = part.get("direction", "NONE").upper()
        by_direction = name != link.name  # The halves of a split-duplex link have names of their own.
        if by_direction is not (direction != "NONE"):
            wrong = "expected UP or DOWN" if by_direction else "the link is not SPLITDUPLEX, and has none"
            raise ValueError(f"{who}: link_ctn {name!r}: direction: {wrong}")
        return link.reverse if direction == "DOWN" else link

    def _named(self, element: Element, name: str, who: str) -> Link:
        if name not in self._links:
            where = f"{who}: link_ctn" if element.tag == "link_ctn" else f"{described(element)}: {who}"
            raise ValueError(f"{where}: there is no link {name!r}")
        return self._links[name]
