"""The cost in simulated time of the messages between Batsim's own parts.

Batsim's actors (submitters, jobs, its server on the master host) talk over the simulated network: a message is one byte
from the sender's host to the master. It takes the latency of the route and the time of one byte over the narrowest
link.
"""

from batkube.batsim.platform import PlatformError, Resources
from batkube.batsim.routing import Router


def control_latency(router: Router, host: str, master: str) -> float:
    """Return the simulated seconds that a message from ``host`` to ``master`` takes.

    Raises PlatformError if the platform has no route.
    """
    latency, bandwidth = message_route(router, host, master)
    return latency + 1.0 / bandwidth


def message_route(router: Router, host: str, master: str) -> tuple[float, float]:
    """Return the latency of the route in seconds, and its narrowest bandwidth. Raises PlatformError."""
    links = router.route(host, master)
    return sum(link.latency for link in links), min((link.bandwidth for link in links), default=float("inf"))


def largest_control_latency(router: Router, resources: Resources) -> float:
    """Return the latency of the host farthest from the master; 0 if there is no master to send messages to.

    Hosts without a route to the master never send anything and do not count.
    """
    if resources.master is None:
        return 0.0
    master = resources.master.name
    found = [control_latency(router, master, master)]
    for host in resources.numbered:
        try:
            found.append(control_latency(router, host.name, master))
        except PlatformError:
            continue
    return max(found)
