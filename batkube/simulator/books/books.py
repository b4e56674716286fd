"""Batsim's records of machines: their states, and with ``-E`` their energy and pstates."""

from collections.abc import Sequence

from batkube.batsim.outputs import EnergyRow, MachineTotals, PstateRow
from batkube.batsim.platform import Platform, PlatformError
from batkube.batsim.power import HostPower, PstateKind, check_power, host_power
from batkube.batsim.topology import Host
from batkube.event_queue import Action
from batkube.simulator.books.energy import Energy
from batkube.simulator.books.hosts import Hosts
from batkube.simulator.books.machine_states import MachineStates
from batkube.simulator.books.watching import Watcher
from batkube.simulator.controls.control import Control
from batkube.simulator.sharing.infrastructure import Infrastructure
from batkube.simulator.sharing.tasks import Tasks
from batkube.simulator.time.clock import Clock
from batkube.simulator.time.dates import SECOND


class Books:
    """Watches machines and jobs. ``energy``: counts joules. ``trace``: keeps the rows of ``machine_states.csv``.

    Raises PlatformError if the platform lacks what energy simulation needs.
    """

    def __init__(
        self,
        platform: Platform,
        hosts: Hosts,
        infrastructure: Infrastructure,
        tasks: Tasks,
        control: Control,
        clock: Clock,
        watchers: list[Watcher],
        *,
        energy: bool,
        trace: bool,
    ) -> None:
        compute = sum(not host.storage for host in hosts.all)
        self.states = MachineStates(compute, clock, trace=trace)
        hosts.watchers.append(self.states.changed)
        watchers.append(self.states)
        self._control = control
        self.energy: Energy | None = None
        if energy:
            powers = [_power(platform, host.host, storage=host.storage) for host in hosts.all]
            _check(platform)
            cpus = [infrastructure.cpu(host.host) for host in hosts.all]
            self.energy = Energy(cpus, powers, clock, tasks.usage)
            watchers.append(self.energy)
            tasks.on_change = self.energy.touch

    def read(self, hosts: Sequence[int], then: Action) -> None:
        """Let an actor of Batsim read the meters of ``hosts``, then those of all hosts, and go on with ``then``."""
        if self.energy is None:
            then()
        else:
            self._control.in_turn(self.energy.readings(hosts), then)

    def submitted(self, then: Action) -> None:
        """Note that static jobs come. The actor that brings them goes on with ``then``."""
        energy = self.energy
        if energy is None or energy.begun:
            then()
            return

        def submit() -> None:
            energy.submitted()
            then()

        self.read((), submit)

    @property
    def totals(self) -> MachineTotals:
        """The totals for ``schedule.csv``."""
        energy = self.energy
        return MachineTotals(
            times=self.states.times,
            consumed_joules=energy.of_jobs if energy is not None else 0.0,
            nb_grouped_switches=energy.changes.grouped if energy is not None else 0,
            nb_machine_switches=energy.changes.machines if energy is not None else 0,
        )

    @property
    def consumed_energy(self) -> list[EnergyRow]:
        """The rows for ``consumed_energy.csv``."""
        rows = self.energy.rows if self.energy is not None else []
        return [(date / SECOND, joules, what, least) for date, joules, what, least in rows]

    @property
    def pstate_changes(self) -> list[PstateRow]:
        """The rows for ``pstate_changes.csv``."""
        rows: Sequence[tuple[int, str, int]] = self.energy.changes.rows if self.energy is not None else ()
        return [(date / SECOND, hosts, pstate) for date, hosts, pstate in rows]


def _power(platform: Platform, host: Host, *, storage: bool) -> HostPower:
    try:
        power = host_power(host)
        for pstate, (kind, speed) in enumerate(zip(power.kinds, host.speeds, strict=True)):
            if not storage and kind is PstateKind.COMPUTATION and not speed > 0:
                raise PlatformError(f"host {host.name!r}: speed: pstate {pstate} is for computation and has none")
    except PlatformError as error:
        raise PlatformError(f"{platform.path or 'platform'}: {error}") from None
    return power


def _check(platform: Platform) -> None:
    try:
        check_power(platform.hosts)
    except PlatformError as error:
        raise PlatformError(f"{platform.path or 'platform'}: {error}") from None
