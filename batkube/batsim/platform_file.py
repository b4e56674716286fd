"""Reading SimGrid's platform XML, version 4, into hosts, links and zones.

https://simgrid.org/doc/latest/XML_reference.html. Elements that change nothing for batkube (``config``, ``random``,
traces of availability ...) are passed over. Nothing outside the file is fetched, entities are not expanded.
"""

import io
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import iterparse

from batkube.batsim.clusters import ClusterBuilder
from batkube.batsim.topology import Host, Link, Route, Zone
from batkube.batsim.units import parse_bandwidth, parse_speed, parse_time

MAX_DEPTH = 100
"""Zones in zones; deeper files are refused."""
MAX_HOSTS = 1_000_000

Value = TypeVar("Value")


@dataclass
class Contents:
    """What a file holds."""

    hosts: dict[str, Host] = field(default_factory=dict)
    zone_of: dict[str, Zone] = field(default_factory=dict)
    """By host, router or child zone."""
    links: dict[str, Link] = field(default_factory=dict)


def read_xml(text: str) -> Contents:
    """The contents of a platform file. Raises ValueError, naming element and attribute."""
    root = _parse(text)
    if root.tag != "platform":
        raise ValueError(f"expected a <platform>, found a <{root.tag}>")
    version = root.get("version", "")
    if not version.startswith("4"):
        raise ValueError(f"platform: version: expected 4 or 4.1, not {version!r}")
    reader = _Reader()
    reader.children(root, None)
    if not reader.contents.hosts:
        raise ValueError("has no host")
    reader.check_routes()
    return reader.contents


def _parse(text: str) -> Element:
    depth = 0
    root: Element | None = None
    # Some of Batsim's own files begin with an empty line, which XML forbids and SimGrid takes.
    source = io.BytesIO(text.lstrip().encode())
    try:
        # A DOCTYPE that names SimGrid's DTD is fine: it is never loaded.
        for event, element in iterparse(source, events=("start", "end"), forbid_entities=True):
            depth += 1 if event == "start" else -1
            if depth > MAX_DEPTH:
                raise ValueError("is nested too deeply")
            root = element
    except ParseError as error:
        raise ValueError(f"not XML: {error}") from None
    except DefusedXmlException as error:
        raise ValueError(f"declares entities or takes in other files, which is refused: {error}") from None
    assert root is not None  # an empty text is a ParseError
    return root


class _Reader:
    """Walks the tree once; knows the zone it is in."""

    def __init__(self) -> None:
        self.contents = Contents()
        self._zones: dict[str, Zone] = {}
        self._routes: list[tuple[Zone, Element]] = []
        self._host_links: list[tuple[Zone, Element]] = []

    def children(self, parent: Element, zone: Zone | None) -> None:
        readers: dict[str, Callable[[Element, Zone | None], None]] = {
            "zone": self._zone,
            "AS": self._zone,
            "cluster": self._cluster,
            "cabinet": self._cluster,
            "host": self._host,
            "peer": self._peer,
            "router": self._router,
            "link": self._link,
            "backbone": self._backbone,
        }
        for element in parent:
            if reader := readers.get(element.tag):
                reader(element, zone)
            elif element.tag in ("route", "zoneRoute", "ASroute") and zone is not None:
                self._routes.append((zone, element))
            elif element.tag == "host_link" and zone is not None:
                self._host_links.append((zone, element))
            elif element.tag == "include":
                raise ValueError("takes in another file by <include>, which batkube does not")

    def _zone(self, element: Element, parent: Zone | None) -> None:
        name = _attribute(element, "id")
        zone = Zone(name, element.get("routing", "Full").lower(), parent, _properties(element))
        self._add_zone(zone)
        if zone.routing == "vivaldi":
            zone.unsupported = f"zone {name!r} has Vivaldi coordinates in place of links"
        self.children(element, zone)

    def _add_zone(self, zone: Zone) -> None:
        if zone.name in self._zones:
            raise ValueError(f"zone {zone.name!r}: id: used twice")
        self._zones[zone.name] = zone
        if zone.parent is not None:
            self.contents.zone_of[zone.name] = zone.parent

    def _cluster(self, element: Element, parent: Zone | None) -> None:
        cabinet = element.tag == "cabinet"
        if cabinet and parent is None:
            raise ValueError(f"cabinet {element.get('id')!r}: must be in a zone")
        builder = ClusterBuilder(element, parent, _properties(element))
        zone = builder.zone
        if not cabinet:
            self._add_zone(zone)
            self._add_point(builder.router, zone)
        if len(self.contents.hosts) + builder.size > MAX_HOSTS:
            raise ValueError(f"{builder.who}: radical: more than {MAX_HOSTS} hosts")
        for name in builder.host_names:
            self._add_host(name, builder.speeds, builder.cores, 0, builder.properties, zone)
            builder.plug(name)
        for link in builder.links:
            self._add_link(link)

    def _host(self, element: Element, zone: Zone | None) -> None:
        name = _attribute(element, "id")
        who = f"host {name!r}"
        speeds = _convert(who, "speed", _attribute(element, "speed"), _speeds)
        cores = _convert(who, "core", element.get("core", "1"), _positive)
        pstate = _convert(who, "pstate", element.get("pstate", "0"), int)
        if not 0 <= pstate < len(speeds):
            raise ValueError(f"{who}: pstate: expected a number below {len(speeds)}, not {pstate}")
        self._add_host(name, speeds, cores, pstate, _properties(element), zone)

    def _peer(self, element: Element, zone: Zone | None) -> None:
        name = _attribute(element, "id")
        speeds = _convert(f"peer {name!r}", "speed", _attribute(element, "speed"), _speeds)
        self._add_host(name, speeds, 1, 0, _properties(element), zone)

    def _router(self, element: Element, zone: Zone | None) -> None:
        self._add_point(_attribute(element, "id"), zone)

    def _add_host(
        self,
        name: str,
        speeds: tuple[float, ...],
        cores: int,
        pstate: int,
        properties: dict[str, str],
        zone: Zone | None,
    ) -> None:
        self._add_point(name, zone)
        zones = zone.ancestors if zone else ()
        inherited: dict[str, str] = {}
        for outer in zones:
            inherited.update(outer.properties)
        self.contents.hosts[name] = Host(
            name, speeds, cores, properties, tuple(outer.name for outer in zones), inherited, pstate
        )

    def _add_point(self, name: str, zone: Zone | None) -> None:
        if zone is None:
            raise ValueError(f"host {name!r}: must be in a zone")
        if name in self.contents.zone_of:
            raise ValueError(f"host {name!r}: id: used twice")
        self.contents.zone_of[name] = zone

    def _link(self, element: Element, zone: Zone | None) -> None:
        name = _attribute(element, "id")
        who = f"link {name!r}"
        bandwidth = _convert(who, "bandwidth", _attribute(element, "bandwidth"), parse_bandwidth)
        latency = _convert(who, "latency", element.get("latency", "0s"), parse_time)
        if not bandwidth > 0:
            raise ValueError(f"{who}: bandwidth: expected more than 0")
        policy = element.get("sharing_policy", "SHARED").upper()
        if policy == "SPLITDUPLEX":
            up, down = Link(f"{name}_UP", bandwidth, latency), Link(f"{name}_DOWN", bandwidth, latency)
            up.reverse, down.reverse = down, up
            self._add_link(up)
            self._add_link(down)
            self.contents.links[name] = up
        elif policy in ("SHARED", "FATPIPE"):
            self._add_link(Link(name, bandwidth, latency, fatpipe=policy == "FATPIPE"))
        else:
            raise ValueError(f"{who}: sharing_policy: expected SHARED, SPLITDUPLEX or FATPIPE, not {policy!r}")

    def _add_link(self, link: Link) -> None:
        if link.name in self.contents.links:
            raise ValueError(f"link {link.name!r}: id: used twice")
        self.contents.links[link.name] = link

    def _backbone(self, element: Element, zone: Zone | None) -> None:
        self._link(element, zone)
        if zone is not None:
            zone.backbone = self.contents.links[_attribute(element, "id")]

    # Routes name hosts, links and zones that may come later in the file, and so are read last.

    def check_routes(self) -> None:
        for zone, element in self._host_links:
            host = _attribute(element, "id")
            ClusterBuilder.join(zone, host, self._named_link(element, "up"), self._named_link(element, "down"))
        for zone, element in self._routes:
            route = self._route(element)
            for end, gateway in (
                (route.source, route.source_gateway),
                (route.destination, route.destination_gateway),
            ):
                if end not in self.contents.zone_of:
                    raise ValueError(f"route {route.source!r} to {route.destination!r}: there is no {end!r}")
                if gateway and gateway not in self.contents.zone_of:
                    raise ValueError(f"route {route.source!r} to {route.destination!r}: no gateway {gateway!r}")
            zone.routes[route.source, route.destination] = route
            if element.get("symmetrical", "YES").upper() in ("YES", "1", "TRUE"):
                zone.routes.setdefault((route.destination, route.source), route.reversed())

    def _route(self, element: Element) -> Route:
        source, destination = _attribute(element, "src"), _attribute(element, "dst")
        who = f"route {source!r} to {destination!r}"
        links = []
        for part in element:
            if part.tag != "link_ctn":
                continue
            name = _attribute(part, "id")
            if name not in self.contents.links:
                raise ValueError(f"{who}: link_ctn: there is no link {name!r}")
            link = self.contents.links[name]
            links.append(link.reverse if part.get("direction", "").upper() == "DOWN" else link)
        return Route(source, destination, tuple(links), element.get("gw_src", ""), element.get("gw_dst", ""))

    def _named_link(self, element: Element, attribute: str) -> Link:
        name = _attribute(element, attribute)
        if name not in self.contents.links:
            raise ValueError(f"host_link {element.get('id')!r}: {attribute}: there is no link {name!r}")
        return self.contents.links[name]


def _attribute(element: Element, name: str) -> str:
    value = element.get(name)
    if not value:
        who = element.get("id") or element.get("src")
        raise ValueError(f"{element.tag}{f' {who!r}' if who else ''}: {name}: missing")
    return value


def _properties(element: Element) -> dict[str, str]:
    return {_attribute(prop, "id"): prop.get("value", "") for prop in element if prop.tag == "prop"}


def _convert(who: str, attribute: str, text: str, parse: Callable[[str], Value]) -> Value:
    try:
        return parse(text)
    except ValueError as error:
        detail = str(error) if "expected" in str(error) else f"expected a whole number, not {text!r}"
        raise ValueError(f"{who}: {attribute}: {detail}") from None


def _speeds(text: str) -> tuple[float, ...]:
    return tuple(parse_speed(part) for part in text.split(","))


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ValueError(f"expected 1 or more, not {value}")
    return value
