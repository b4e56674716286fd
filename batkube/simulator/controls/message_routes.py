"""The cost of a message between Batsim's parts: one byte over the route from its sender's host to the master.

Like any flow it waits for the latency of the route, and then shares the links with the tasks that use them.
"""

from dataclasses import dataclass, replace

from batkube.batsim.control_latency import message_route
from batkube.batsim.platform import Host, PlatformError
from batkube.batsim.routing import Router
from batkube.simulator.sharing.infrastructure import Infrastructure
from batkube.simulator.sharing.parallel_task import Demand, demand
from batkube.simulator.time.dates import picoseconds


@dataclass(frozen=True, slots=True)
class MessageRoute:
    """The route from a host to the master."""

    latency: int
    """The latency in picoseconds."""
    byte: int
    """The picoseconds that the byte takes if no task uses the links."""
    seconds: float
    """The latency in seconds."""
    bandwidth: float
    """The bytes per second."""
    demand: Demand
    """The byte without the latency, as a task."""


class MessageRoutes:
    """Finds each route once. Raises PlatformError if there is no master or no route."""

    def __init__(self, router: Router, infrastructure: Infrastructure, master: Host | None) -> None:
        self._router = router
        self._infrastructure = infrastructure
        self._master = master
        self._known: dict[str, MessageRoute] = {}

    def of(self, host: Host | None) -> MessageRoute:
        """Return the route from a host."""
        master = self._master
        if host is None or master is None:
            raise PlatformError("exact dates need a master host, to which the messages between Batsim's parts go")
        found = self._known.get(host.name)
        if found is None:
            latency, bandwidth = message_route(self._router, host.name, master.name)
            asked = demand([host, master], [0.0, 0.0], [(0, 1, 1.0)], self._infrastructure)
            byte = replace(asked, latency=0.0)
            found = MessageRoute(picoseconds(latency), picoseconds(1.0 / bandwidth), latency, bandwidth, byte)
            self._known[host.name] = found
        return found

    @property
    def decision(self) -> int:
        """The picoseconds that Batsim's server takes for a decision; 0 on a platform without a network."""
        try:
            route = self.of(self._master)
        except PlatformError:
            return 0
        return route.latency + route.byte
