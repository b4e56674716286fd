"""What a parallel task asks of hosts and links, SimGrid's model ``ptask_L07``.

A task has flops on hosts and bytes on links, and makes progress on all of them at one rate, so that it ends everywhere
at once. Before, the longest latency of its flows passes.
"""

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

from batkube.batsim.platform import Host
from batkube.batsim.profiles import (
    ComposedProfile,
    DataStagingProfile,
    DelayProfile,
    HomogeneousProfile,
    ParallelProfile,
    PfsProfile,
    Profile,
)
from batkube.batsim.routing import Router
from batkube.batsim.topology import Link

TCP_GAMMA = 4194304.0
"""Bytes: SimGrid's ``network/TCP-gamma``, the largest TCP window. A flow has at most half of it in flight a latency."""
LONGEST = 1e18
"""Seconds. A task that lasts longer is taken for a slip in a speed or an amount."""


@dataclass(slots=True)
class Demand:
    """What a task needs in all, from its start to its end."""

    latency: float = 0.0
    """Seconds before any progress."""
    rate_limit: float = math.inf
    """The greatest progress in a second that a core and a TCP window allow; 1 is the whole task."""
    uses: dict[Hashable, float] = field(default_factory=dict)
    """Flops or bytes on each shared resource."""
    capacities: dict[Hashable, float] = field(default_factory=dict)
    """Flops or bytes a second that each of these resources has."""

    @property
    def nothing(self) -> bool:
        """Whether there is no work at all: such a task ends as it starts."""
        return not self.uses and self.rate_limit == math.inf

    @property
    def alone(self) -> float:
        """How many seconds the task lasts when it shares with no other."""
        rate = self.rate_alone
        return self.latency + (1.0 / rate if rate else math.inf)

    @property
    def rate_alone(self) -> float:
        """The progress in a second when it shares with no other."""
        available = (self.capacities[key] / amount for key, amount in self.uses.items())
        return min(self.rate_limit, min(available, default=math.inf))

    def limit(self, rate: float) -> None:
        self.rate_limit = min(self.rate_limit, rate)

    def use(self, resource: Hashable, amount: float, capacity: float) -> None:
        self.uses[resource] = self.uses.get(resource, 0.0) + amount
        self.capacities[resource] = capacity


Flow = tuple[int, int, float]
"""From one executor to another, bytes."""


def demand(executors: Sequence[Host], flops: Sequence[float], flows: Iterable[Flow], router: Router) -> Demand:
    """The demand of a task with ``flops`` on the host of each executor and ``flows`` between them.

    Raises PlatformError where the platform has no route for a flow, and ValueError where the task would never end.
    """
    result = Demand()
    for host, amount in zip(executors, flops, strict=True):
        if amount > 0:
            # An executor is a single thread: it never has more than a core.
            result.limit(host.speed / amount)
            result.use(host.name, amount, host.cores * host.speed)
    names = [host.name for host in executors]
    loads: dict[Link, float] = {}
    for source, destination, amount in flows:
        # What an executor sends to itself takes no time.
        if amount > 0 and source != destination:
            latency = 0.0
            for link in router.route(names[source], names[destination]):
                latency += link.latency
                if link.fatpipe:
                    result.limit(link.bandwidth / amount)
                else:
                    loads[link] = loads.get(link, 0.0) + amount
            if latency > 0:
                result.latency = max(result.latency, latency)
                result.limit(TCP_GAMMA / (2.0 * latency * amount))
    for link, load in loads.items():
        result.use(link, load, link.bandwidth)
    if result.alone > LONGEST:
        raise ValueError(f"a parallel task would last {result.alone:g} s, longer than {LONGEST:g} s")
    return result


Work = tuple[Sequence[float], list[Flow]]
"""The flops of each executor, and the flows between them."""

_SUPPORTED = (DelayProfile, ComposedProfile, HomogeneousProfile, ParallelProfile, PfsProfile, DataStagingProfile)


def check_supported(profiles: Iterable[Profile]) -> None:
    """Raise ValueError for the first profile that the embedded simulator cannot run."""
    for profile in profiles:
        if not isinstance(profile, _SUPPORTED):
            raise ValueError(
                f"profile {profile.name!r}: type: the embedded simulator has no {profile.type}, Batsim has"
            )


def work(profile: Profile, executors: int) -> Work:
    """What a parallel profile stands for on so many executors.

    Storage hosts count as further executors behind them: the one that a PfsProfile names, or source and destination of
    a DataStagingProfile.
    """
    if isinstance(profile, HomogeneousProfile):
        share = executors if profile.total else 1
        return [profile.cpu / share] * executors, _all_pairs(executors, profile.com / share)
    if isinstance(profile, ParallelProfile):
        flows = [(index // executors, index % executors, amount) for index, amount in enumerate(profile.com) if amount]
        return profile.cpu or [0.0] * executors, flows
    if isinstance(profile, PfsProfile):
        # Each executor for itself reads and writes all of the bytes.
        reads = [(executors, executor, profile.bytes_to_read) for executor in range(executors)]
        writes = [(executor, executors, profile.bytes_to_write) for executor in range(executors)]
        return [0.0] * (executors + 1), reads + writes
    assert isinstance(profile, DataStagingProfile), profile
    return [0.0] * (executors + 2), [(executors, executors + 1, profile.nb_bytes)]


def storages(profile: Profile) -> tuple[str, ...]:
    """The storages that a profile names, in the order in which ``work`` counts them."""
    if isinstance(profile, PfsProfile):
        return (profile.storage,)
    if isinstance(profile, DataStagingProfile):
        return (profile.source, profile.destination)
    return ()


def _all_pairs(executors: int, amount: float) -> list[Flow]:
    if not amount:
        return []
    everyone = range(executors)
    return [(source, destination, amount) for source in everyone for destination in everyone if source != destination]
