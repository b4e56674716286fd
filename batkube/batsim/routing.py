"""Which links a flow between two hosts takes, by SimGrid's rules of zones.

Within a zone its routing says; between zones the route of the innermost zone that holds both joins their gateways, and
the way from each host to its gateway comes on top (``NetZoneImpl::get_global_route``).
"""

from heapq import heappop, heappush

from batkube.batsim.platform import Platform
from batkube.batsim.topology import Link, PlatformError, Route, Zone

Links = tuple[Link, ...]


class Router:
    """Finds routes in a platform, each once. Raises PlatformError where there is none."""

    def __init__(self, platform: Platform) -> None:
        self._zone_of = platform.zone_of
        self._known: dict[tuple[str, str], Links] = {}

    def route(self, source: str, destination: str) -> Links:
        """The links from one host (or router) to another, in order."""
        zone = self._zone_of[source]
        if zone.routing == "cluster" and zone is self._zone_of[destination] and not zone.unsupported:
            # The most common case is the quickest, and so many that they are not worth remembering.
            return self._through_cluster(zone, source, destination)
        key = (source, destination)
        links = self._known.get(key)
        if links is None:
            links = self._known[key] = self._find(source, destination)
        return links

    def _find(self, source: str, destination: str) -> Links:
        zone, source_child, destination_child = self._meeting_zone(source, destination)
        if source_child is None and destination_child is None:
            return self._local(zone, source, destination).links
        # A host that is no child zone's is an end of the zone's route itself.
        route = self._local(
            zone,
            source_child.name if source_child else source,
            destination_child.name if destination_child else destination,
        )
        links = route.links
        if source_child is not None and source != route.source_gateway:
            links = self.route(source, self._gateway(route.source_gateway, source_child)) + links
        if destination_child is not None and destination != route.destination_gateway:
            links += self.route(self._gateway(route.destination_gateway, destination_child), destination)
        return links

    def _gateway(self, name: str, zone: Zone) -> str:
        if not name:
            raise PlatformError(f"a route to zone {zone.name!r} names no gateway")
        return name

    def _meeting_zone(self, source: str, destination: str) -> tuple[Zone, Zone | None, Zone | None]:
        """The innermost zone that holds both, and the child zones of it that they are in, if they are in one."""
        above_source = self._zone_of[source].ancestors
        above_destination = self._zone_of[destination].ancestors
        depth = 0
        for one, other in zip(above_source, above_destination, strict=False):
            if one is not other:
                break
            depth += 1
        if depth == 0:
            raise self._no_route(source, destination)
        return (
            above_source[depth - 1],
            above_source[depth] if depth < len(above_source) else None,
            above_destination[depth] if depth < len(above_destination) else None,
        )

    def _local(self, zone: Zone, source: str, destination: str) -> Route:
        """The route inside ``zone`` between two of its hosts, routers and child zones."""
        if zone.unsupported:
            raise PlatformError(f"there is no route from {source!r} to {destination!r}: {zone.unsupported}")
        if source != destination and zone.routing in ("dijkstra", "dijkstracache", "floyd"):
            return self._shortest(zone, source, destination)
        declared = zone.routes.get((source, destination))
        if declared is not None:
            return declared
        if zone.routing == "cluster":
            return Route(source, destination, self._through_cluster(zone, source, destination))
        if source == destination:
            return Route(source, destination, ())
        raise self._no_route(source, destination)

    @staticmethod
    def _through_cluster(zone: Zone, source: str, destination: str) -> Links:
        """Up the private link of one host, over the backbone, down that of the other. A router has no private link."""
        up = zone.ports.get(source)
        down = zone.ports.get(destination)
        return (up.outward if up else ()) + zone.middle + (down.inward if down else ())

    def _shortest(self, zone: Zone, source: str, destination: str) -> Route:
        """The route of fewest links over the zone's declared ones, as SimGrid's Dijkstra and Floyd count."""
        step: dict[str, Route] = {}
        cost = {source: 0}
        heap = [(0, source)]
        edges: dict[str, list[Route]] = {}
        for route in zone.routes.values():
            edges.setdefault(route.source, []).append(route)
        while heap:
            so_far, point = heappop(heap)
            if point == destination:
                return self._joined(source, destination, step)
            if so_far > cost[point]:
                continue
            for route in edges.get(point, ()):
                total = so_far + len(route.links)
                if total < cost.get(route.destination, total + 1):
                    cost[route.destination] = total
                    step[route.destination] = route
                    heappush(heap, (total, route.destination))
        raise self._no_route(source, destination)

    def _joined(self, source: str, destination: str, step: dict[str, Route]) -> Route:
        chain: list[Route] = []
        point = destination
        while point != source:
            chain.insert(0, step[point])
            point = step[point].source
        links: Links = ()
        for index, route in enumerate(chain):
            if index:
                # From the gateway by which a child zone was entered to the one by which it is left.
                entered, left = chain[index - 1].destination_gateway, route.source_gateway
                if entered != left:
                    links += self.route(entered, left)
            links += route.links
        return Route(source, destination, links, chain[0].source_gateway, chain[-1].destination_gateway)

    @staticmethod
    def _no_route(source: str, destination: str) -> PlatformError:
        return PlatformError(f"the platform has no route from {source!r} to {destination!r}")
