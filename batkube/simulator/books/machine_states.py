"""The time that machines are in each state, and the rows of ``machine_states.csv``."""

from array import array
from collections.abc import Iterator

from batkube.batsim.outputs import StatesRow
from batkube.simulator.books.hosts import HostState, SimulatedHost
from batkube.simulator.books.jobs import SimulatedJob
from batkube.simulator.time.clock import Clock
from batkube.simulator.time.dates import SECOND, seconds

_COLUMNS = (
    HostState.SLEEPING,
    HostState.SWITCHING_ON,
    HostState.SWITCHING_OFF,
    HostState.IDLE,
    HostState.COMPUTING,
)


class MachineStates:
    """Watches hosts and jobs.

    As in Batsim, the time of a machine counts up to its last change of state. In the rows, a storage host does not
    count as idle at the beginning, though it does each time it becomes idle.
    """

    def __init__(self, compute_hosts: int, clock: Clock, *, trace: bool) -> None:
        self._clock = clock
        self.trace = trace
        self._since: dict[int, int] = {}
        self._spent = dict.fromkeys(HostState, 0)
        self._count = dict.fromkeys(HostState, 0)
        self._count[HostState.IDLE] = compute_hosts
        self._dates = array("d")
        """The dates of the rows, in seconds."""
        self._columns = array("i")
        """The columns of all rows, one after the other: there may be millions."""

    def joined(self, host: SimulatedHost) -> None:
        """Note a host that came later, and is idle."""
        self._since[host.number] = self._clock.now
        self._count[HostState.IDLE] += 1

    def changed(self, host: SimulatedHost, before: HostState) -> None:
        """Note that a host has changed its state, or was set to the one it had."""
        now = self._clock.now
        self._spent[before] += now - self._since.get(host.number, 0)
        self._since[host.number] = now
        self._count[before] -= 1
        self._count[host.state] += 1

    def write(self) -> None:
        """Add a row."""
        if self.trace:
            self._dates.append(self._clock.now / SECOND)
            self._columns.extend(map(self._count.__getitem__, _COLUMNS))

    def job_started(self, _: SimulatedJob) -> None:
        """Add a row: a job has come to its hosts."""
        self.write()

    def job_ended(self, _: SimulatedJob) -> None:
        """Add a row: a job has left its hosts."""
        self.write()

    @property
    def rows(self) -> Iterator[StatesRow]:
        """The rows for ``machine_states.csv``."""
        width = len(_COLUMNS)
        for index, date in enumerate(self._dates):
            yield date, self._columns[index * width : (index + 1) * width].tolist()

    @property
    def times(self) -> dict[str, float]:
        """Machine-seconds by state."""
        return {state.value: seconds(spent) for state, spent in self._spent.items()}
