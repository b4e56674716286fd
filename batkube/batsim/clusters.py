"""The elements ``cluster`` and ``cabinet``: many like hosts in a line, each with a link of its own.

SimGrid names the parts: hosts PREFIX + number + SUFFIX, private links ID_link_NUMBER, the backbone ID_backbone, the
router PREFIX + ID_router + SUFFIX (``sg_platf.cpp``, ``sg_platf_new_cluster_flat``).
"""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from batkube.batsim.topology import ClusterPort, Link, Zone
from batkube.batsim.units import parse_bandwidth, parse_speed, parse_time

_PARSERS = {"speed": parse_speed, "lat": parse_time, "bb_lat": parse_time, "loopback_lat": parse_time}


class ClusterBuilder:
    """The hosts and links of a ``cluster`` or ``cabinet``. Raises ValueError, naming element and attribute."""

    def __init__(self, element: Element, parent: Zone | None, properties: dict[str, str]) -> None:
        self._element = element
        self._cabinet = element.tag == "cabinet"
        self.who = f"{element.tag} {element.get('id', '')!r}"
        self.name = self._text("id")
        self.properties = properties
        """The properties of each host."""
        self.speeds = tuple(self._parsed("speed", part) for part in self._text("speed").split(","))
        self.cores = self._cores()
        self._numbers = self._radical()
        self._bandwidth = self._parsed("bw")
        self._latency = self._parsed("lat")
        self.links: list[Link] = []
        """All links made here."""
        if self._cabinet:
            assert parent is not None
            self.zone = parent
            return
        self.zone = Zone(self.name, "cluster", parent, dict(properties))
        topology = element.get("topology", "FLAT").upper()
        if topology != "FLAT":
            self.zone.unsupported = f"cluster {self.name!r} has topology {topology}"
        if element.get("bb_bw"):
            latency = self._parsed("bb_lat") if element.get("bb_lat") else 0.0
            fatpipe = element.get("bb_sharing_policy", "SHARED").upper() == "FATPIPE"
            self.zone.backbone = Link(f"{self.name}_backbone", self._parsed("bb_bw"), latency, fatpipe=fatpipe)
            self.links.append(self.zone.backbone)

    @property
    def router(self) -> str:
        """The name of the router, which routes between zones use as a gateway."""
        given = self._element.get("router_id")
        return given or f"{self._affix('prefix')}{self.name}_router{self._affix('suffix')}"

    @property
    def size(self) -> int:
        """The number of hosts."""
        return sum(len(numbers) for numbers in self._numbers)

    @property
    def host_names(self) -> Iterator[str]:
        for numbers in self._numbers:
            for number in numbers:
                yield f"{self._affix('prefix')}{number}{self._affix('suffix')}"

    def plug(self, host: str) -> None:
        """Give ``host`` its own links."""
        policy = self._element.get("sharing_policy", "SPLITDUPLEX").upper()
        name = f"{self.name}_link_{host}"
        if policy in ("SPLITDUPLEX", "FULLDUPLEX"):
            up = Link(f"{name}_UP", self._bandwidth, self._latency)
            down = Link(f"{name}_DOWN", self._bandwidth, self._latency)
            up.reverse, down.reverse = down, up
            self.links += [up, down]
        else:
            # Whatever the policy says, SimGrid 3.32 makes no private link of a flat cluster FATPIPE.
            up = down = Link(name, self._bandwidth, self._latency)
            self.links.append(up)
        limiter: tuple[Link, ...] = ()
        if self._element.get("limiter_link"):
            limiter = (Link(f"{name}_limiter", self._parsed("limiter_link"), 0.0),)
            self.links += limiter
        loopback: tuple[Link, ...] = ()
        if self._element.get("loopback_bw"):
            latency = self._parsed("loopback_lat") if self._element.get("loopback_lat") else 0.0
            loopback = (Link(f"{name}_loopback", self._parsed("loopback_bw"), latency, fatpipe=True),)
            self.links += loopback
        self.zone.ports[host] = ClusterPort((*limiter, up), (down, *limiter), loopback)

    @staticmethod
    def join(zone: Zone, host: str, up: Link, down: Link) -> None:
        """Read the element ``host_link``: plug a host into a zone of routing ``Cluster`` with links given by name."""
        zone.ports[host] = ClusterPort((up,), (down,))

    def _affix(self, attribute: str) -> str:
        return self._element.get(attribute, "")

    def _text(self, attribute: str) -> str:
        value = self._element.get(attribute)
        if not value:
            raise ValueError(f"{self.who}: {attribute}: missing")
        return value

    def _parsed(self, attribute: str, text: str | None = None) -> float:
        text = self._text(attribute) if text is None else text
        parse = _PARSERS.get(attribute, parse_bandwidth)
        try:
            value = parse(text)
        except ValueError as error:
            raise ValueError(f"{self.who}: {attribute}: {error}") from None
        if parse is parse_bandwidth and not value > 0:
            raise ValueError(f"{self.who}: {attribute}: expected more than 0, not {text!r}")
        return value

    def _cores(self) -> int:
        text = self._element.get("core", "1")
        if not text.isdecimal() or int(text) < 1:
            raise ValueError(f"{self.who}: core: expected 1 or more, not {text!r}")
        return int(text)

    def _radical(self) -> list[range]:
        numbers = []
        for part in self._text("radical").split(","):
            first, dash, last = part.strip().partition("-")
            if not first.isdecimal() or (dash and not last.isdecimal()) or max(len(first), len(last)) > 9:
                raise ValueError(f"{self.who}: radical: expected numbers and ranges such as 0-7, not {part!r}")
            numbers.append(range(int(first), int(last or first) + 1))
        if not any(numbers):
            raise ValueError(f"{self.who}: radical: no number lies in {self._text('radical')!r}, so there is no host")
        return numbers
