"""The hosts and links of a platform as tasks use them."""

import math

from batkube.batsim.platform import Host
from batkube.batsim.routing import Router
from batkube.batsim.topology import Link
from batkube.simulator.sharing.bottleneck import Shared


class Cpu(Shared):
    """The cores of a host, at the speed of its present pstate."""

    __slots__ = ("cores", "host", "speed")

    def __init__(self, host: Host) -> None:
        super().__init__(host.cores * host.speed)
        self.host = host
        self.cores = host.cores
        self.speed = host.speed
        """The flops per second of a core."""

    def set_speed(self, speed: float) -> None:
        """Go on at another speed."""
        self.speed = speed
        self.capacity = self.cores * speed


class Infrastructure:
    """The shared resource of each host and link. Raises PlatformError if there is no route."""

    def __init__(self, router: Router) -> None:
        self._router = router
        self._cpus: dict[str, Cpu] = {}
        self._links: dict[Link, Shared] = {}

    def cpu(self, host: Host) -> Cpu:
        cpu = self._cpus.get(host.name)
        if cpu is None:
            cpu = self._cpus[host.name] = Cpu(host)
        return cpu

    def path(self, source: str, destination: str) -> tuple[float, tuple[Shared, ...]]:
        """Return the latency in seconds from one host to another, or to itself, and the links of the route."""
        links = self._router.route(source, destination)
        return sum(link.latency for link in links), tuple(
            self._link(link) for link in links if link.bandwidth < math.inf
        )

    def _link(self, link: Link) -> Shared:
        shared = self._links.get(link)
        if shared is None:
            shared = self._links[link] = Shared(link.bandwidth, fatpipe=link.fatpipe)
        return shared
