"""SET_RESOURCE_STATE: hosts change their pstate, at once or through a transition.

The rules are those of Batsim's ``server_on_pstate_modification`` and ``pstate.cpp``: between computation pstates a host
changes at once, tasks on it included; to and from a sleep pstate it computes one flop in a transition pstate first. The
decision process is told when all hosts of its decision have changed.
"""

from dataclasses import dataclass
from functools import partial

from batkube.batsim.power import PstateKind
from batkube.simulator.books.energy import Energy
from batkube.simulator.books.hosts import Hosts, HostState, SimulatedHost
from batkube.simulator.books.machine_states import MachineStates
from batkube.simulator.server.server import Server
from batkube.simulator.sharing.parallel_task import demand
from batkube.simulator.work.execution import Machinery


@dataclass(slots=True, eq=False)
class _Switch:
    """A decision that is being carried out."""

    pstate: int
    hosts: tuple[int, ...]
    left: set[int]


class Switching:
    """Carries out SET_RESOURCE_STATE. Raises ValueError where Batsim aborts."""

    def __init__(
        self, hosts: Hosts, energy: Energy, states: MachineStates, machinery: Machinery, server: Server
    ) -> None:
        self._hosts = hosts
        self._energy = energy
        self._states = states
        self._machinery = machinery
        self._server = server
        self._under_way: list[_Switch] = []

    def set_state(self, hosts: tuple[int, ...], pstate: int) -> None:
        """Handle SET_RESOURCE_STATE, as the server does."""
        self._hosts.check(hosts)
        kinds = self._energy.meters[hosts[0]].power.kinds
        kind = kinds[pstate] if pstate < len(kinds) else PstateKind.COMPUTATION
        self._under_way.append(_Switch(pstate, hosts, set(hosts)))
        self._energy.record("p")
        self._energy.changes.decided(hosts, kind)
        for number in hosts:
            self._begin(self._hosts.all[number], pstate)
        self._states.write()

    def _begin(self, host: SimulatedHost, pstate: int) -> None:
        meter = self._energy.meters[host.number]
        kinds = meter.power.kinds
        if meter.kind is PstateKind.TRANSITION:
            return  # Batsim logs an error, and the decision is never done.
        if pstate >= len(kinds):
            raise ValueError(f"host {host.number} ({host.host.name}) has no pstate {pstate}: it has {len(kinds)}")
        if meter.kind is PstateKind.SLEEP:
            if kinds[pstate] is not PstateKind.COMPUTATION:
                raise ValueError(
                    f"host {host.number} ({host.host.name}) sleeps: pstate {pstate} is not for computation"
                )
            self._go_through(host, meter.power.sleep[meter.pstate].on, pstate, HostState.SWITCHING_ON, HostState.IDLE)
        elif kinds[pstate] is PstateKind.SLEEP:
            if host.jobs:
                raise ValueError(f"host {host.number} ({host.host.name}) is busy with {next(iter(host.jobs))}")
            self._go_through(host, meter.power.sleep[pstate].off, pstate, HostState.SWITCHING_OFF, HostState.SLEEPING)
        elif kinds[pstate] is PstateKind.COMPUTATION:
            self._set_pstate(host.number, pstate)
            self._done(host.number, pstate)

    def _go_through(
        self, host: SimulatedHost, transition: int, pstate: int, meanwhile: HostState, afterwards: HostState
    ) -> None:
        self._hosts.set_state(host, meanwhile)
        self._server.switching += 1
        machinery = self._machinery

        def begin() -> None:
            if host.state is not meanwhile:
                raise ValueError(f"host {host.number} ({host.host.name}) became {host.state.value} as it was switched")
            self._set_pstate(host.number, transition)
            flop = demand([host.host], [1.0], [], machinery.infrastructure)
            task = machinery.tasks.start(flop, machinery.now(), lambda: ended())

            def ended() -> None:
                machinery.tasks.stop(task)
                machinery.control.resume(end)

        def end() -> None:
            self._set_pstate(host.number, pstate)
            self._hosts.set_state(host, afterwards)
            machinery.control.send(host.host, partial(self._switched, host.number, pstate))

        machinery.control.spawn(begin)

    def _set_pstate(self, number: int, pstate: int) -> None:
        self._machinery.tasks.touch(self._energy.set_pstate(number, pstate))

    def _switched(self, number: int, pstate: int) -> None:
        """Handle the end of a host's transition, as the server does."""
        self._done(number, pstate, write=True)
        self._server.switching -= 1

    def _done(self, number: int, pstate: int, *, write: bool = False) -> None:
        switch = next(s for s in self._under_way if s.pstate == pstate and number in s.left)
        switch.left.discard(number)
        if switch.left:
            return
        self._under_way.remove(switch)
        self._energy.changes.done(switch.hosts, pstate)
        self._energy.record("p")
        if write:
            self._states.write()
        self._server.resource_state_changed(switch.hosts, pstate)
