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
from batkube.batsim.platform_grammar import check_grammar, described, required
from batkube.batsim.platform_routes import ROUTINGS, RouteReader
from batkube.batsim.topology import ClusterPort, Host, Link, Zone
from batkube.batsim.units import parse_bandwidth, parse_speed, parse_time

MAX_DEPTH = 100
"""The deepest nesting of zones. Deeper files are refused."""
MAX_HOSTS = 1_000_000

Value = TypeVar("Value")


@dataclass
class Contents:
    """The contents of a file."""

    hosts: dict[str, Host] = field(default_factory=dict)
    zone_of: dict[str, Zone] = field(default_factory=dict)
    """The zone of each host, router or child zone."""
    links: dict[str, Link] = field(default_factory=dict)


def read_xml(text: str) -> Contents:
    """Return the contents of a platform file. Raises ValueError, naming element and attribute."""
    root = _parse(text)
    if root.tag != "platform":
        raise ValueError(f"expected a <platform>, found a <{root.tag}>")
    version = root.get("version", "")
    if not version.startswith("4"):
        raise ValueError(f"platform: version: expected 4 or 4.1, not {version!r}")
    check_grammar(root)
    reader = _Reader()
    reader.children(root, None)
    if not reader.contents.hosts:
        raise ValueError("has no host")
    reader.read_routes()
    return reader.contents


def _parse(text: str) -> Element:
    depth = 0
    root: Element | None = None
    # Some of Batsim's own files begin with an empty line, which XML forbids and SimGrid accepts.
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
    """Walks the tree once, and knows the zone it is in."""

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
        name = required(element, "id")
        routing = required(element, "routing").lower()
        if routing not in ROUTINGS:
            raise ValueError(f"zone {name!r}: routing: expected {', '.join(ROUTINGS)}, not {routing!r}")
        zone = Zone(name, routing, parent, _properties(element))
        self._add_zone(zone)
        if zone.routing == "none":
            zone.unsupported = f"zone {name!r} has routing None, and so no routes"
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
        name = required(element, "id")
        who = f"host {name!r}"
        speeds = _convert(who, "speed", required(element, "speed"), _speeds)
        cores = _convert(who, "core", element.get("core", "1"), _positive)
        pstate = _convert(who, "pstate", element.get("pstate", "0"), int)
        if not 0 <= pstate < len(speeds):
            raise ValueError(f"{who}: pstate: expected a number below {len(speeds)}, not {pstate}")
        self._add_host(name, speeds, cores, pstate, _properties(element), zone)
        self._add_coordinates(element, zone)

    def _peer(self, element: Element, zone: Zone | None) -> None:
        name = required(element, "id")
        who = f"peer {name!r}"
        speeds = _convert(who, "speed", required(element, "speed"), _speeds)
        self._add_host(name, speeds, 1, 0, _properties(element), zone)
        self._add_coordinates(element, zone)
        up = Link(f"link_{name}_UP", _convert(who, "bw_out", required(element, "bw_out"), parse_bandwidth), 0.0)
        down = Link(f"link_{name}_DOWN", _convert(who, "bw_in", required(element, "bw_in"), parse_bandwidth), 0.0)
        up.reverse, down.reverse = down, up
        self._add_link(up)
        self._add_link(down)
        if zone is not None:
            zone.ports[name] = ClusterPort((up,), (down,))

    def _router(self, element: Element, zone: Zone | None) -> None:
        self._add_point(required(element, "id"), zone)
        self._add_coordinates(element, zone)

    def _add_coordinates(self, element: Element, zone: Zone | None) -> None:
        text = element.get("coordinates")
        if text and zone is not None:
            zone.coordinates[required(element, "id")] = _convert(described(element), "coordinates", text, _coordinates)

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
        name = required(element, "id")
        who = f"link {name!r}"
        bandwidth = _convert(who, "bandwidth", required(element, "bandwidth"), parse_bandwidth)
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
            zone.backbone = self.contents.links[required(element, "id")]

    def read_routes(self) -> None:
        """Read the routes, which name hosts, links and zones that may come later in the file."""
        reader = RouteReader(self.contents.zone_of, self.contents.links)
        for zone, element in self._host_links:
            reader.plug(zone, element)
        for zone, element in self._routes:
            reader.add(zone, element)


def _properties(element: Element) -> dict[str, str]:
    return {required(prop, "id"): prop.get("value", "") for prop in element if prop.tag == "prop"}


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


def _coordinates(text: str) -> tuple[float, float, float]:
    parts = text.split()
    try:
        x, y, height = map(float, parts)
    except ValueError:
        raise ValueError(f"expected three numbers such as '30 40 2', not {text!r}") from None
    return x, y, height
