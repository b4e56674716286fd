"""The speeds of nodes: what an annotation says of a machine, and the times in which it is slow.

Work of pods that clients make takes longer by them. The simulator knows the times in which a host is slow
(``Hardware``), and stretches what runs in it; what the bridge times itself is stretched here.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from batkube.bridge.cluster import Cluster
from batkube.bridge.hardware import Hardware
from batkube.bridge.hosts import speed_of
from batkube.bridge.plan import Plan
from batkube.bridge.time import SimulatedTime
from batkube.event_queue import Action
from batkube.kube.server import ApiServer
from batkube.results.events import EventLog


@dataclass(frozen=True)
class Slowdown:
    """Nodes, and from when to when they are slow, in simulated seconds."""

    begin: float
    end: float
    """Infinity where they stay slow."""
    nodes: tuple[str, ...]
    speed: float
    """The share of their speed that is left."""


@dataclass(slots=True, eq=False)
class _Work:
    """A work that the bridge times."""

    plan: Plan
    act: Action
    holds: Callable[[], bool]
    left: float
    """The seconds of it that were left, at full speed, at the date ``since``."""
    since: float
    speed: float
    turn: int = 0
    """The number of the times that its end was planned anew."""


class Speeds:
    """Carries out what was planned. ``hardware``: must be there if there are ``slowdowns``."""

    def __init__(
        self,
        slowdowns: Sequence[Slowdown],
        server: ApiServer,
        cluster: Cluster,
        time: SimulatedTime,
        events: EventLog,
        hardware: Hardware | str,
    ) -> None:
        self._server = server
        self._cluster = cluster
        self._time = time
        self._events = events
        self._hardware = hardware
        self._plan = Plan()
        self._slow: dict[str, list[float]] = {}
        """The share of its speed that each node is slowed down to, once for each cause."""
        self._works: dict[str, dict[_Work, None]] = {}
        """The works under way on nodes."""
        for slowdown in slowdowns:
            for node in slowdown.nodes:
                self._plan.add(slowdown.begin, partial(self._begin, node, slowdown), lambda: True)

    @property
    def next_date(self) -> float | None:
        """The date at which a node is next slowed down, or is so no more; None for never. Never the present."""
        return self._plan.next_stop(self._time.now)

    def advance(self) -> bool:
        """Do what is due; False if there was nothing."""
        return self._plan.used and self._plan.act_until(self._time.now)

    def of_machine(self, node: str) -> float:
        """Return the speed of a node as its annotation has it."""
        found = self._server.store.get("nodes", "", node)
        return 1.0 if found is None else speed_of(found)

    def after(self, plan: Plan, node: str, seconds: float, act: Action, holds: Callable[[], bool]) -> None:
        """Plan what happens when a work of so many ``seconds`` on a node is done."""
        seconds /= self.of_machine(node)
        if not self._plan.used:
            plan.add(self._time.now + seconds, act, holds)
            return
        work = _Work(plan, act, holds, seconds, self._time.now, self._share(node))
        self._works.setdefault(node, {})[work] = None
        self._expect(node, work)

    def _share(self, node: str) -> float:
        return min(self._slow.get(node, ()), default=1.0)

    def _expect(self, node: str, work: _Work) -> None:
        work.turn += 1
        turn = work.turn

        def done() -> None:
            self._works[node].pop(work, None)
            work.act()

        work.plan.add(work.since + work.left / work.speed, done, lambda: work.turn == turn and work.holds())

    def _begin(self, node: str, slowdown: Slowdown) -> None:
        before = self._share(node)
        self._slow.setdefault(node, []).append(slowdown.speed)
        if slowdown.end != math.inf:
            self._plan.add(slowdown.end, partial(self._end, node, slowdown.speed), lambda: True)
        self._change(node, before)

    def _end(self, node: str, speed: float) -> None:
        before = self._share(node)
        self._slow[node].remove(speed)
        self._change(node, before)

    def _change(self, node: str, before: float) -> None:
        share = self._share(node)
        if share == before:
            return
        if share < 1.0:
            self._events.write(self._time.now, "node_slowed", node=node, speed=share)
        else:
            self._events.write(self._time.now, "node_slow_over", node=node)
        number = self._cluster.number_of(node)
        assert not isinstance(self._hardware, str)
        if number is not None:
            self._hardware.set_speed(number, share)
        for work in [work for work in self._works.get(node, ()) if not work.holds()]:
            del self._works[node][work]
        for work in self._works.get(node, ()):
            work.left = max(work.left - (self._time.now - work.since) * work.speed, 0.0)
            work.since, work.speed = self._time.now, share
            self._expect(node, work)
