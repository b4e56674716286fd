"""The hosts as jobs see them: their states, and the jobs on them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum

from batkube.batsim.platform import Host, Resources


class HostState(Enum):
    """Batsim's states of a machine, by their names."""

    SLEEPING = "sleeping"
    IDLE = "idle"
    COMPUTING = "computing"
    SWITCHING_ON = "switching_on"
    SWITCHING_OFF = "switching_off"
    UNAVAILABLE = "unavailable"

    # Each member exists once, so that its name need not be hashed, which Enum does in Python.
    __hash__ = object.__hash__


@dataclass(slots=True, eq=False)
class SimulatedHost:
    """A host that takes jobs."""

    number: int
    """Batsim's number of the host."""
    host: Host
    storage: bool
    state: HostState = HostState.IDLE
    jobs: dict[str, None] = field(default_factory=dict)
    """The ids of the jobs on it, in the order in which they came."""


StateChanged = Callable[[SimulatedHost, HostState], None]
"""A function that is told of a host and its former state."""


class Hosts:
    """All numbered hosts. Raises ValueErrors that say why a host cannot be used."""

    def __init__(self, resources: Resources, *, compute_sharing: bool, storage_sharing: bool = True) -> None:
        self.all = [
            SimulatedHost(number, host, storage=number >= len(resources.compute))
            for number, host in enumerate(resources.numbered)
        ]
        self._shared = {False: compute_sharing, True: storage_sharing}
        self.watchers: list[StateChanged] = []

    def __len__(self) -> int:
        return len(self.all)

    def join(self, host: Host) -> SimulatedHost:
        """Take in a compute host that comes later; it gets the next number."""
        joined = SimulatedHost(len(self.all), host, storage=False)
        self.all.append(joined)
        return joined

    def check(self, numbers: Sequence[int]) -> None:
        """Refuse hosts that do not exist. ``numbers`` ascend."""
        for number in (numbers[-1], numbers[0]) if numbers else ():
            if not 0 <= number < len(self.all):
                raise ValueError(f"there is no host {number}: hosts are numbered 0 to {len(self.all) - 1}")

    def check_free(self, numbers: tuple[int, ...]) -> None:
        """Refuse hosts that cannot take a job now."""
        self.check(numbers)
        for number in numbers:
            host = self.all[number]
            if host.jobs and not self._shared[host.storage]:
                raise ValueError(f"host {number} ({host.host.name}) is busy with {next(iter(host.jobs))}")
        for number in numbers:
            host = self.all[number]
            if host.state not in (HostState.IDLE, HostState.COMPUTING):
                raise ValueError(f"host {number} ({host.host.name}) is {host.state.value}")

    def take(self, job_id: str, numbers: tuple[int, ...]) -> None:
        """Let a job begin on these hosts."""
        for number in numbers:
            host = self.all[number]
            self.set_state(host, HostState.COMPUTING)
            host.jobs[job_id] = None

    def release(self, job_id: str, numbers: tuple[int, ...]) -> None:
        """Take a job that has ended off these hosts."""
        for number in numbers:
            host = self.all[number]
            del host.jobs[job_id]
            if not host.jobs and host.state is not HostState.UNAVAILABLE:
                self.set_state(host, HostState.IDLE)

    def set_available(self, numbers: tuple[int, ...], available: bool) -> None:
        """Make hosts unavailable or available; jobs on them run on."""
        self.check(numbers)
        for number in numbers:
            host = self.all[number]
            if (host.state is HostState.UNAVAILABLE) is not available:
                wanted = "available" if available else "unavailable"
                raise ValueError(f"host {number} ({host.host.name}) was to become {wanted}, and is {host.state.value}")
            if available:
                self.set_state(host, HostState.COMPUTING if host.jobs else HostState.IDLE)
            else:
                self.set_state(host, HostState.UNAVAILABLE)

    def set_state(self, host: SimulatedHost, state: HostState) -> None:
        """Set a host's state, also to the one it has: Batsim counts time up to the last setting."""
        before, host.state = host.state, state
        for watcher in self.watchers:
            watcher(host, before)
