"""The demands of a parallel task on hosts and links, by SimGrid's model ``ptask_L07``.

A task has flops on hosts and bytes on links, and makes progress on all of them at one rate, so that it ends everywhere
at once. Before that, the longest latency of its flows passes.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from batkube.batsim.platform import Host
from batkube.batsim.profiles import Flow
from batkube.simulator.sharing.bottleneck import Shared, rate_alone
from batkube.simulator.sharing.infrastructure import Cpu, Infrastructure

TCP_GAMMA = 4194304.0
"""SimGrid's ``network/TCP-gamma`` in bytes, the largest TCP window. A flow has at most half of it in flight per
latency."""
LONGEST = 1e18
"""The longest duration of a task in seconds. A longer one is taken for a mistake in a speed or an amount."""


@dataclass(slots=True)
class Demand:
    """The whole demand of a task, from its start to its end."""

    hosts: tuple[Host, ...]
    """The host of each executor."""
    latency: float = 0.0
    """The seconds before any progress."""
    network_limit: float = math.inf
    """The greatest progress per second that the TCP windows of its flows allow; 1 is the whole task."""
    cpus: dict[Cpu, float] = field(default_factory=dict)
    """The most flops of one executor on each host."""
    uses: list[tuple[Shared, float]] = field(default_factory=list)
    """The flops of each executor on its host, and all the bytes on each link."""

    @property
    def rate_limit(self) -> float:
        """The greatest progress per second. An executor is a single thread: it never has more than a core."""
        limit = self.network_limit
        for cpu, flops in self.cpus.items():
            limit = min(limit, cpu.speed / flops)
        return limit

    @property
    def nothing(self) -> bool:
        """True if no host and no link has work: such a task ends when its latency has passed, mostly at once."""
        return not self.uses

    @property
    def alone(self) -> float:
        """The number of seconds that the task lasts when it shares with no other."""
        rate = rate_alone(self.uses, self.rate_limit)
        return self.latency + (1.0 / rate if rate else math.inf)


def demand(
    executors: Sequence[Host], flops: Sequence[float], flows: Iterable[Flow], infrastructure: Infrastructure
) -> Demand:
    """Return the demand of a task with ``flops`` on the host of each executor and ``flows`` between them.

    Raises PlatformError if the platform has no route for a flow, and ValueError if the task would never end.
    """
    result = Demand(tuple(executors))
    for host, amount in zip(executors, flops, strict=True):
        if amount > 0:
            cpu = infrastructure.cpu(host)
            result.cpus[cpu] = max(amount, result.cpus.get(cpu, 0.0))
            result.uses.append((cpu, amount))
    names = [host.name for host in executors]
    loads: dict[Shared, float] = {}
    slowest = 0.0
    # A task of a single executor is a plain computation for SimGrid, which then ignores what it sends to itself.
    for source, destination, amount in flows if len(executors) > 1 else ():
        if amount > 0:
            latency, links = infrastructure.path(names[source], names[destination])
            for link in links:
                load = loads.get(link, 0.0)
                loads[link] = max(load, amount) if link.fatpipe else load + amount
            result.latency = max(result.latency, latency)
            slowest = max(slowest, latency * amount)
    result.uses += loads.items()
    if slowest > 0 and not result.nothing:
        result.network_limit = TCP_GAMMA / (2.0 * slowest)
    if result.alone > LONGEST:
        raise ValueError(f"a parallel task would last {result.alone:g} s, longer than {LONGEST:g} s")
    return result
