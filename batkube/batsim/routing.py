"""The links of a flow between two hosts, by SimGrid's rules of zones.

Within a zone its routing decides. Between zones the route of the innermost zone that holds both joins their gateways,
and the way from each host to its gateway is added (``NetZoneImpl::get_global_route``).
"""

import math
from heapq import heappop, heappush

from batkube.batsim.platform import Platform
from batkube.batsim.topology import Link, PlatformError, Route, Zone

Links = tuple[Link, ...]

LOOPBACK_BANDWIDTH = 10e9
"""Bytes per second, SimGrid's ``network/loopback-bw``. There is no latency (``network/loopback-lat``)."""


class Router:
    """Finds routes in a platform, each once. Raises PlatformError if there is none."""

    def __init__(self, platform: Platform) -> None:
        self._zone_of = platform.zone_of
        self._hosts = {host.name for host in platform.hosts}
        self._known: dict[tuple[str, str], Links] = {}
        self._places: dict[str, str] = {}
        """The hosts that came later, and where they are."""
        self._loopback = Link("__loopback__", LOOPBACK_BANDWIDTH, 0.0, fatpipe=True)
        """The way of a host to itself if the file gives none, one link for all hosts."""

    def place(self, name: str, like: str) -> None:
        """Let a host that the platform does not have be where another one is: all routes are that one's."""
        self._places[name] = self._places.get(like, like)

    def route(self, source: str, destination: str) -> Links:
        """Return the links from one host (or router) to another, in order."""
        if self._places:
            source, destination = self._places.get(source, source), self._places.get(destination, destination)
        zone = self._zone_of[source]
        if zone.routing == "cluster" and zone is self._zone_of[destination] and not zone.unsupported:
            # The most common case is the quickest. It is so frequent that results are not worth remembering.
            return self._through_cluster(zone, source, destination)
        key = (source, destination)
        links = self._known.get(key)
        if links is None:
            links = self._known[key] = self._find(source, destination)
        return links

    def _find(self, source: str, destination: str) -> Links:
        zone, source_child, destination_child = self._meeting_zone(source, destination)
        if source_child is None and destination_child is None:
            declared = zone.routing != "full" or zone.unsupported or (source, destination) in zone.routes
            if not declared and not {source, destination} <= self._hosts:
                # SimGrid goes on if the way to a gateway is not declared, as if there were nothing in between.
                return ()
            return self._local(zone, source, destination).links
        # A host that is in no child zone is itself an end of the zone's route.
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
        """Return the innermost zone that holds both, and its child zones that they are in, if they are in one."""
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
        """Return the route inside ``zone`` between two of its hosts, routers and child zones."""
        if zone.unsupported:
            raise PlatformError(f"there is no route from {source!r} to {destination!r}: {zone.unsupported}")
        if source != destination and zone.routing in ("dijkstra", "dijkstracache", "floyd"):
            return self._shortest(zone, source, destination)
        if zone.routing == "vivaldi":
            return Route(source, destination, self._by_coordinates(zone, source, destination))
        declared = zone.routes.get((source, destination))
        if declared is not None:
            return declared
        if zone.routing == "cluster":
            return Route(source, destination, self._through_cluster(zone, source, destination))
        if source == destination:
            return Route(source, destination, (self._loopback,))
        raise self._no_route(source, destination)

    @staticmethod
    def _through_cluster(zone: Zone, source: str, destination: str) -> Links:
        """Return the private link of one host, the backbone, and the other's private link.

        A router has no private link.
        """
        up = zone.ports.get(source)
        down = zone.ports.get(destination)
        links = (up.outward if up else ()) + zone.middle + (down.inward if down else ())
        if source != destination or up is None:
            return links
        # A host that talks to itself takes each link once.
        return up.loopback or tuple(dict.fromkeys(links))

    def _by_coordinates(self, zone: Zone, source: str, destination: str) -> Links:
        """Return the links of the two peers, if any, and a latency: the distance in a plane, and both heights.

        So a host with a great height is far from itself. Coordinates are milliseconds
        (``VivaldiZone::get_local_route``).
        """
        links: Links = ()
        if (up := zone.ports.get(source)) is not None:
            links += up.outward
        ends = [zone.coordinates.get(point) for point in (source, destination)]
        if None in ends:
            lacking = source if ends[0] is None else destination
            raise PlatformError(f"{lacking!r} in zone {zone.name!r} of routing Vivaldi has no coordinates")
        (x, y, height), (other_x, other_y, other_height) = (end for end in ends if end is not None)
        latency = (math.hypot(x - other_x, y - other_y) + abs(height) + abs(other_height)) / 1000
        links += (Link(f"{source} to {destination}", math.inf, latency, fatpipe=True),)
        if (down := zone.ports.get(destination)) is not None:
            links += down.inward
        return links

    def _shortest(self, zone: Zone, source: str, destination: str) -> Route:
        """Return the route of fewest links over the zone's declared ones, as SimGrid's Dijkstra and Floyd count."""
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
