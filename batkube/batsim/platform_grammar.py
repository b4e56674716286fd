"""The grammar of SimGrid's platform files: which element may stand where, and which attributes it has.

SimGrid checks files against its DTD (https://simgrid.org/simgrid.dtd) and ends Batsim on any fault. Files that are
refused here would be refused there: for a misspelled attribute, for example, no default is silently taken.
"""

from collections.abc import Iterator, Sequence
from xml.etree.ElementTree import Element

_ROUTE = "src dst symmetrical"
_ZONE_ROUTE = f"{_ROUTE} gw_src gw_dst"

_ATTRIBUTES = {
    name: frozenset(attributes.split())
    for name, attributes in {
        "platform": "version",
        "config": "id",
        "prop": "id value",
        "zone": "id routing",
        "host": "id speed core speed_file availability_file state_file coordinates pstate",
        "disk": "id read_bw write_bw",
        "cluster": "id prefix suffix radical speed core bw lat sharing_policy topology topo_parameters bb_bw bb_lat "
        "bb_sharing_policy router_id limiter_link loopback_bw loopback_lat",
        "cabinet": "id prefix suffix radical speed bw lat",
        "peer": "id speed bw_in bw_out lat coordinates speed_file availability_file state_file",
        "router": "id coordinates",
        "backbone": "id bandwidth latency",
        "link": "id bandwidth bandwidth_file latency latency_file state_file sharing_policy",
        "host_link": "id up down",
        "route": _ROUTE,
        "zoneRoute": _ZONE_ROUTE,
        "link_ctn": "id direction",
    }.items()
}
_ATTRIBUTES |= {"AS": _ATTRIBUTES["zone"], "ASroute": _ATTRIBUTES["zoneRoute"]}

_ZONES = {"zone", "AS", "cluster", "peer"}
_PLACES = {"host", "cabinet", "router", "host_link"}
_EITHER = {"link", "backbone"}
_BETWEEN_ZONES = {"zoneRoute", "ASroute", "bypassZoneRoute", "bypassASroute"}
_BETWEEN_HOSTS = {"route", "bypassRoute"}
_ANYWHERE = {"trace", "trace_connect", "include", "random"}
"""The elements passed over here (``include`` has an error of its own)."""

_CHILDREN = {
    "platform": [{"config"}, {*_ZONES, "cabinet"}, {"process", "actor"}],
    "host": [{"disk", "prop", "mount"}],
    "disk": [{"prop"}],
    "cluster": [{"prop"}],
    "link": [{"prop"}],
    "config": [{"prop"}],
    "route": [{"link_ctn"}],
    "zoneRoute": [{"link_ctn"}],
    "ASroute": [{"link_ctn"}],
}
"""The groups of elements that each element holds, in this order; within a group the order is free."""
_INNER_ZONE = [{"prop"}, {*_ZONES, *_EITHER}, _BETWEEN_ZONES]
_LEAF_ZONE = [{"prop"}, {*_PLACES, *_EITHER, "storage", "storage_type"}, _BETWEEN_HOSTS]


def check_grammar(root: Element) -> None:
    """Raise ValueError, naming the element, for the first fault in a tree."""
    waiting = [root]
    while waiting:
        element = waiting.pop()
        _check_attributes(element)
        _check_children(element)
        waiting.extend(reversed(element))


def _check_attributes(element: Element) -> None:
    known = _ATTRIBUTES.get(element.tag)
    for name in element.keys():  # noqa: SIM118
        if known is not None and name not in known:
            raise ValueError(
                f"{described(element)}: {name}: is no attribute of a <{element.tag}>; it has {', '.join(sorted(known))}"
            )


def _check_children(element: Element) -> None:
    groups = _groups(element)
    if groups is None:
        return
    reached = 0
    for child in _known_place(element):
        place = next((number for number, group in enumerate(groups) if child.tag in group), None)
        if place is None:
            raise ValueError(f"{described(element)}: {_wrong_child(element, child)}")
        if place < reached:
            raise ValueError(
                f"{described(child)}: must come before {_first_of(groups[reached], element)} of {described(element)}"
            )
        reached = place


def _groups(element: Element) -> Sequence[set[str]] | None:
    if element.tag not in ("zone", "AS"):
        return _CHILDREN.get(element.tag)
    inner = any(child.tag in _ZONES or child.tag in _BETWEEN_ZONES for child in element)
    return _INNER_ZONE if inner else _LEAF_ZONE


def _known_place(element: Element) -> Iterator[Element]:
    return (child for child in element if child.tag not in _ANYWHERE)


def _wrong_child(element: Element, child: Element) -> str:
    if element.tag in ("zone", "AS") and child.tag in _PLACES | _BETWEEN_HOSTS:
        return f"holds zones or clusters, and so cannot hold a <{child.tag}> itself; put it into a zone of its own"
    return f"holds a <{child.tag}>, which SimGrid does not know there"


def _first_of(group: set[str], element: Element) -> str:
    return f"the first <{next(child.tag for child in element if child.tag in group)}>"


def described(element: Element) -> str:
    """Return the element's name in errors: its tag and its id, or its ends."""
    if element.get("src") is not None:
        return f"{element.tag} {element.get('src')!r} to {element.get('dst')!r}"
    return f"{element.tag} {element.get('id')!r}" if element.get("id") else element.tag


def required(element: Element, name: str) -> str:
    """Return the attribute. Raises ValueError if it is missing or empty."""
    value = element.get(name)
    if not value:
        raise ValueError(f"{described(element) if name != 'id' else element.tag}: {name}: missing")
    return value
