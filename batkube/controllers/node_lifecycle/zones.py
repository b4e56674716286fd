"""Zones of nodes: how many of their nodes are lost, and how fast such nodes get their taints therefore."""

from collections.abc import Callable, Iterable
from enum import Enum

from batkube.controllers.controller import JSON
from batkube.controllers.flags import Flags
from batkube.controllers.node_lifecycle.taints import ready_status

_EXCLUDED = "node.kubernetes.io/exclude-disruption"
"""The label of nodes that do not count in their zone."""
_FEW = 2
"""The nodes that a zone may always lose."""
_SAME = 1e-6
"""Simulated seconds by which a date may be missed: calls come at whole microseconds."""


class State(Enum):
    """The state of a zone."""

    INITIAL = "Initial"
    NORMAL = "Normal"
    PARTIAL_DISRUPTION = "PartialDisruption"
    FULL_DISRUPTION = "FullDisruption"

    @classmethod
    def of(cls, ready: Iterable[bool], flags: Flags) -> "State":
        """Return the state of a zone whose nodes are ready, or not (``ComputeZoneState``)."""
        states = list(ready)
        lost = states.count(False)
        if lost and lost == len(states):
            return cls.FULL_DISRUPTION
        if lost > _FEW and lost / len(states) >= flags.unhealthy_zone_threshold:
            return cls.PARTIAL_DISRUPTION
        return cls.NORMAL


class Limiter:
    """A bucket of one token that is filled at a rate (``NewTokenBucketRateLimiter``); at rate 0 it has none."""

    def __init__(self, rate: float) -> None:
        self.rate = rate
        self._full_at = 0.0

    def accepts(self, now: float) -> bool:
        """Take the token, if it is there."""
        if not self.rate or now + _SAME < self._full_at:
            return False
        self._full_at = now + 1 / self.rate
        return True

    def next_date(self, now: float) -> float | None:
        """Return when there is a token; None for never."""
        return max(now, self._full_at) if self.rate else None

    def swap(self, rate: float, now: float) -> "Limiter":
        """Return the limiter of another rate: without a token, if this one has none (``SwapLimiter``)."""
        if rate == self.rate:
            return self
        new = Limiter(rate)
        if rate and not self.accepts(now):
            new.accepts(now)
        return new


class Zone:
    """A zone, and its nodes that are to be tainted, one after the other."""

    def __init__(self, flags: Flags) -> None:
        self.state = State.INITIAL
        self.limiter = Limiter(flags.node_eviction_rate)
        self._flags = flags
        self._queue: dict[str, None] = {}
        self._known: set[str] = set()
        """The nodes in the queue, and those that have left it tainted."""

    def add(self, node: str) -> None:
        """Have a node tainted, once."""
        if node not in self._known:
            self._known.add(node)
            self._queue[node] = None

    def remove(self, node: str) -> None:
        """Have a node tainted no more, or again."""
        self._known.discard(node)
        self._queue.pop(node, None)

    def take(self, now: float) -> str | None:
        """Return the next node that may be tainted now, if there is one."""
        if not self._queue or not self.limiter.accepts(now):
            return None
        node = next(iter(self._queue))
        del self._queue[node]
        return node

    def take_any(self, which: Callable[[str], bool]) -> str | None:
        """Return the next of these nodes, at whatever rate; None if there is none."""
        node = next((name for name in self._queue if which(name)), None)
        if node is not None:
            del self._queue[node]
        return node

    def next_date(self, now: float) -> float | None:
        """Return when the next node may be tainted; None if none is to be."""
        return self.limiter.next_date(now) if self._queue else None

    def limit(self, rate: float, now: float) -> None:
        """Let nodes be tainted at another rate."""
        self.limiter = self.limiter.swap(rate, now)

    def enter(self, state: State, nodes: int, now: float) -> None:
        """Go into another state, with so many nodes (``setLimiterInZone``)."""
        if state is State.PARTIAL_DISRUPTION:
            large = nodes > self._flags.large_cluster_size_threshold
            self.limit(self._flags.secondary_node_eviction_rate if large else 0.0, now)
        else:
            self.limit(self._flags.node_eviction_rate, now)
        self.state = state


class Readiness:
    """The nodes of each zone that are ready, and those that are not, as the last change of each has it."""

    def __init__(self) -> None:
        self._zones: dict[str, dict[str, bool]] = {}

    def note(self, name: str, before: JSON | None, node: JSON | None) -> None:
        """Note that a node has changed. None: it was not there, or is not any more."""
        if before is not None:
            self._zones.get(zone_of(before), {}).pop(name, None)
        if node is not None and _EXCLUDED not in (node["metadata"].get("labels") or {}):
            self._zones.setdefault(zone_of(node), {})[name] = ready_status(node) == "True"

    def by_zone(self) -> dict[str, list[bool]]:
        """Return of the nodes of each zone, but for those that do not count, whether they are ready."""
        return {key: [*found.values()] for key, found in self._zones.items() if found}


def zone_of(node: JSON) -> str:
    """Return the key of a node's zone (``GetZoneKey``); empty for a node without one."""
    labels = node["metadata"].get("labels") or {}
    region, zone = (
        str(labels.get(f"failure-domain.beta.kubernetes.io/{kind}", labels.get(f"topology.kubernetes.io/{kind}", "")))
        for kind in ("region", "zone")
    )
    return f"{region}:\x00:{zone}" if region or zone else ""
