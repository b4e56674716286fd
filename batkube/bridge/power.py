"""Hosts switched off while no pod uses them, and on when a pod comes: Batsim's SET_RESOURCE_STATE (its option ``-E``).

A node that is off stays schedulable, as one that wakes up on demand: a pod bound to it waits, ContainerCreating, until
its host is up. A host is switched off, or on, for these reasons: no pod has used it for ``off_after`` simulated
seconds; the node is cordoned, or uncordoned; its annotation ``batkube.io/power`` is ``off`` or ``on``.
``batkube.io/pstate`` chooses the pstate in which it computes. ``batkube.io/power-state`` shows its state.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from batkube.batsim.platform import Platform, PlatformError
from batkube.batsim.power import HostPower, PstateKind, host_power
from batkube.bridge.cluster import Cluster
from batkube.bridge.decisions import Decisions
from batkube.bridge.errors import InputError
from batkube.bridge.hosts import Host
from batkube.bridge.outages import Outages
from batkube.bridge.power_meter import PowerMeter, Use
from batkube.bridge.subscription import Subscription
from batkube.bridge.time import SimulatedTime
from batkube.kube.server import ApiServer
from batkube.kube.storage.store import DELETED, Change
from batkube.results.events import EventLog

JSON = dict[str, Any]

WISH = "batkube.io/power"
PSTATE = "batkube.io/pstate"
SHOWN = "batkube.io/power-state"


class PowerState(StrEnum):
    """The power state of a host."""

    ON = "on"
    SWITCHING_OFF = "switching-off"
    OFF = "off"
    SWITCHING_ON = "switching-on"


@dataclass(slots=True)
class _Switch:
    """A host that can be switched off, or changes its pstate."""

    number: int
    power: HostPower
    pstate: int
    """The pstate in which it computes."""
    sleep: int | None
    """The pstate in which it sleeps; None if it cannot."""
    state: PowerState = PowerState.ON
    idle_since: float | None = 0.0
    requested: str | None = None
    """``off`` or ``on``, if a user wants either."""
    waiting: list[Callable[[], None]] = field(default_factory=list)
    """Functions to call when it is on."""


class Power:
    """All hosts with pstates. ``off_after``: simulated seconds without a pod; None for never."""

    def __init__(
        self,
        server: ApiServer,
        cluster: Cluster,
        decisions: Decisions,
        time: SimulatedTime,
        events: EventLog,
        outages: Outages,
        warn: Callable[[str], None],
        *,
        off_after: float | None = None,
    ) -> None:
        self._server = server
        self._cluster = cluster
        self._decisions = decisions
        self._time = time
        self._events = events
        self._outages = outages
        self._warn = warn
        self._off_after = off_after
        self._platform: Platform | None = None
        """The platform, where energy is simulated."""
        self._switches: dict[str, _Switch] = {}
        """The hosts by node."""
        self._changed: dict[str, None] = {}
        self._changes = Subscription(server, self._on_change, ("nodes",))
        self.meter = PowerMeter()

    def begin(self, platform: Platform | None) -> None:
        """Begin to simulate energy: take the hosts' pstates from the platform file.

        Raises InputError if there is none, or if it lacks what energy simulation needs.
        """
        if platform is None:
            raise InputError("switching hosts needs their pstates: give the platform file with --platform")
        self._platform = platform
        for node, host in self._cluster.hosts.items():
            self._add(node, host, platform)
        self._changes.start()

    def _add(self, node: str, host: Host, platform: Platform) -> None:
        described = platform.hosts_by_name[host.name]
        try:
            power = host_power(described)
        except PlatformError as error:
            raise InputError(str(error)) from None
        sleep = min(power.sleep, default=None)
        switch = _Switch(host.number, power, described.pstate, sleep, idle_since=self._time.now)
        self._switches[node] = switch
        self._measure(node, switch)

    def joined(self, node: str, host: Host, former: str) -> None:
        """Note that a client has made a node of a host, which was that of ``former`` before, if of any."""
        if self._platform is None:
            return
        if former in self._switches:
            self._switches[node] = self._switches.pop(former)
        else:
            self._add(node, host, self._platform)

    def stop(self) -> None:
        """Switch nothing any more."""
        self._changes.stop()

    @property
    def switches_hosts(self) -> bool:
        """True if there are hosts that can be switched."""
        return bool(self._switches)

    # Jobs

    def wake(self, nodes: Iterable[str], then: Callable[[], None]) -> bool:
        """Tell whether all ``nodes`` are on.

        Else switch on those that are off, and call ``then`` each time one is on.
        """
        ready = True
        for node in dict.fromkeys(nodes):
            switch = self._switches.get(node)
            if switch is not None and switch.state is not PowerState.ON:
                ready = False
                switch.waiting.append(then)
                if switch.state is PowerState.OFF:
                    self._switch_on(node, switch)
        return ready

    @property
    def switching(self) -> bool:
        """True if Batsim has still to tell that a host has switched."""
        busy = (PowerState.SWITCHING_OFF, PowerState.SWITCHING_ON)
        return any(switch.state in busy for switch in self._switches.values())

    # Time

    @property
    def next_date(self) -> float | None:
        """The date when the next idle host is to be switched off, in simulated seconds; None if there is none."""
        if self._off_after is None:
            return None
        dates = [
            switch.idle_since + self._off_after
            for node, switch in self._switches.items()
            if switch.idle_since is not None and self._may_sleep(node, switch) and switch.requested is None
        ]
        return min(dates, default=None)

    def advance(self) -> bool:
        """Note which hosts are idle, and act on wishes and on idleness; tell whether anything was switched."""
        if not self._switches:
            return False
        for node in self._changed:
            self._read_request(node)
        self._changed.clear()
        acted = False
        for node, switch in self._switches.items():
            used = self._cluster.occupancy.in_use(node)
            if used != (switch.idle_since is None):
                switch.idle_since = None if used else self._time.now
                self._measure(node, switch)
            if used:
                continue
            if self._may_sleep(node, switch) and self._wants_sleep(switch):
                self._switch_off(node, switch)
                acted = True
        return acted

    def _may_sleep(self, node: str, switch: _Switch) -> bool:
        # A host that is to go and come back while it sleeps makes Batsim abort.
        return (
            switch.state is PowerState.ON
            and switch.sleep is not None
            and self._cluster.is_up(node)
            and not self._outages.to_come(switch.number)
        )

    def _wants_sleep(self, switch: _Switch) -> bool:
        if switch.requested is not None:
            return switch.requested == "off"
        idle = switch.idle_since
        return self._off_after is not None and idle is not None and self._time.now >= idle + self._off_after

    # Batsim's messages

    def changed(self, hosts: Iterable[int], pstate: int) -> None:
        """Note RESOURCE_STATE_CHANGED: hosts have come to a pstate."""
        numbers = set(hosts)
        for node, switch in self._switches.items():
            if switch.number not in numbers:
                continue
            asleep = switch.power.kinds[pstate] is PstateKind.SLEEP
            self._show(node, switch, PowerState.OFF if asleep else PowerState.ON)
            if asleep:
                if switch.waiting or switch.requested == "on":
                    self._switch_on(node, switch)
                continue
            self._decisions.table.open_host(switch.number)
            switch.idle_since = None if self._cluster.occupancy.in_use(node) else self._time.now
            self._measure(node, switch)
            waiting, switch.waiting = switch.waiting, []
            for then in waiting:
                then()

    def returned(self, node: str) -> None:
        """Note that a host that was unavailable is back, in the pstate in which it went."""
        switch = self._switches.get(node)
        if switch is not None and switch.state is not PowerState.ON:
            self._decisions.table.close_host(switch.number, str(switch.state))

    # Switching

    def _switch_off(self, node: str, switch: _Switch) -> None:
        assert switch.sleep is not None
        self._decisions.table.close_host(switch.number, "asleep")
        self._decisions.set_resource_state(str(switch.number), switch.sleep)
        self._show(node, switch, PowerState.SWITCHING_OFF)

    def _switch_on(self, node: str, switch: _Switch) -> None:
        self._decisions.set_resource_state(str(switch.number), switch.pstate)
        self._show(node, switch, PowerState.SWITCHING_ON)

    def _show(self, node: str, switch: _Switch, state: PowerState) -> None:
        if state is switch.state:
            return
        switch.state = state
        self._measure(node, switch)
        self._events.write(self._time.now, "node_power", node=node, state=state.value)
        current = self._server.store.get("nodes", "", node)
        if current is None:
            return
        annotations = {**current["metadata"].get("annotations", {}), SHOWN: state.value}
        self._server.update("nodes", {**current, "metadata": {**current["metadata"], "annotations": annotations}})

    def _measure(self, node: str, switch: _Switch) -> None:
        ranges = switch.power.ranges
        match switch.state:
            case PowerState.OFF:
                use, pstate = Use.OFF, switch.sleep
            case PowerState.ON:
                use, pstate = Use.USED if switch.idle_since is None else Use.IDLE, switch.pstate
            case going:
                assert switch.sleep is not None
                transitions = switch.power.sleep[switch.sleep]
                use = Use.SWITCHING
                pstate = transitions.off if going is PowerState.SWITCHING_OFF else transitions.on
        assert pstate is not None
        watts = {Use.USED: 0.0, Use.SWITCHING: ranges[pstate].full}.get(use, ranges[pstate].idle)
        self.meter.note(switch.number, self._time.now, use, watts)

    # What nodes ask for

    def _on_change(self, change: Change) -> None:
        name = change.object["metadata"]["name"]
        if change.type == DELETED or change.previous is None:
            return
        if name in self._switches and _requested(change.object) != _requested(change.previous):
            self._changed[name] = None

    def _read_request(self, node: str) -> None:
        switch = self._switches[node]
        power, pstate, cordoned = _requested(self._server.get("nodes", node))
        requested = "off" if cordoned else power
        if requested not in (None, "off", "on"):
            self._warn(f"node {node}: annotation {WISH}: expected on or off, not {requested!r}")
            requested = None
        if requested == "off" and switch.sleep is None:
            self._warn(f"node {node} has no sleep pstate, and cannot be switched off")
        before, switch.requested = switch.requested, requested
        if switch.state is PowerState.OFF and (requested == "on" or (before == "off" and requested is None)):
            self._switch_on(node, switch)
        if pstate is not None:
            self._compute_in(node, switch, pstate)

    def _compute_in(self, node: str, switch: _Switch, text: str) -> None:
        kinds = switch.power.kinds
        number = int(text) if text.isdecimal() and int(text) < len(kinds) else None
        if number is None or kinds[number] is not PstateKind.COMPUTATION:
            fit = ", ".join(str(index) for index, kind in enumerate(kinds) if kind is PstateKind.COMPUTATION)
            self._warn(f"node {node}: annotation {PSTATE}: expected one to compute in ({fit}), not {text!r}")
        elif number != switch.pstate:
            switch.pstate = number
            self._measure(node, switch)
            if switch.state is PowerState.ON:
                self._decisions.set_resource_state(str(switch.number), number)


def _requested(node: JSON) -> tuple[str | None, str | None, bool]:
    """Return power, pstate, and whether the node is cordoned."""
    annotations = node["metadata"].get("annotations", {})
    return annotations.get(WISH), annotations.get(PSTATE), bool(node.get("spec", {}).get("unschedulable"))
